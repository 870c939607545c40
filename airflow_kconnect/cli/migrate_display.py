"""What `kconnect migrate` shows: a table of all connectors, then the details of each of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from airflow_kconnect.cli.console import Console
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.migration.offsets import counted

if TYPE_CHECKING:
    from airflow_kconnect.migration.moves import Outcome
    from airflow_kconnect.migration.survey import Candidate, Survey

_STYLES = {"can move": "green", "needs changes": "yellow", "cannot move": "red"}
_PROBLEM, _NOTE = ("Problem: ", "bold red"), ("Note: ", "cyan")
_WARNING = ("Warning: ", "yellow")


def show_survey(console: Console, survey: Survey, *, back: bool, apply: bool) -> None:
    """What was found.

    :param back: it was asked for what would be given back. :param apply: it was asked for the move itself.
    """
    facts = survey.cluster
    console.print(Text(f"Kafka Connect {facts.version} at {facts.url}, Kafka cluster {facts.kafka_cluster}"))
    console.print(_table(survey.candidates))
    for style, texts in ((_PROBLEM, survey.problems), (_WARNING, survey.warnings)):
        for text in texts:
            console.print(Text.assemble(style, text), soft_wrap=True)
    for candidate in survey.candidates:
        if lines := list(_details(candidate)):
            console.print(Text(f"\n{candidate.name}", style="bold"))
            for style, text in lines:
                console.print(Text.assemble("  ", style, text), soft_wrap=True)
    console.print(Text(f"\n{_conclusion(survey, back=back, apply=apply)}"))


def _conclusion(survey: Survey, *, back: bool, apply: bool) -> str:
    """What comes next."""
    if problems := len(survey.problems):
        begin = "Nothing was changed" if not apply else "Not given back" if back else "Not moved"
        return f"{begin}: solve the {'problem' if problems == 1 else f'{problems} problems'} above."
    count = len(survey.candidates)
    if back:
        moved = sum(candidate.has_moved for candidate in survey.candidates)
        return f"Nothing was changed. {moved} of {count} connectors would be given back by --back --apply."
    able = sum(candidate.can_move for candidate in survey.candidates)
    cure = "--to FOLDER --apply moves them." if able else "solve the problems above."
    return f"Nothing was changed. {able} of {count} connectors can move; {cure}"


def show_errors(console: Console, outcomes: Sequence[Outcome]) -> None:
    """Why connectors are not where they should be, after all others have moved."""
    for outcome in outcomes:
        if outcome.error is None:
            continue
        for text in _texts(outcome.error):
            console.print(Text.assemble((f"{outcome.name}: ", "bold"), ("Error: ", "bold red"), text), soft_wrap=True)


def as_dict(survey: Survey) -> dict[str, Any]:
    """The survey for `--json`: without configurations, which may have secrets."""
    return {
        "cluster": asdict(survey.cluster),
        "problems": survey.problems,
        "warnings": survey.warnings,
        "connectors": [_candidate_dict(candidate) for candidate in survey.candidates],
    }


def outcome_dict(outcome: Outcome) -> dict[str, Any]:
    """What was done to one connector, for `--json`."""
    error = outcome.error
    texts = None if error is None else {"error": type(error).__name__, "messages": list(_texts(error))}
    return {"name": outcome.name, "steps": outcome.steps, "error": texts}


def _candidate_dict(candidate: Candidate) -> dict[str, Any]:
    offsets = candidate.offsets
    return {
        **asdict(candidate.assessment),
        "verdict": candidate.assessment.verdict.value,
        "state": candidate.there.state,
        "tasks": list(candidate.there.tasks),
        "edited": list(candidate.edited),
        "handover": candidate.handover.value if candidate.handover else None,
        "offsets": None if offsets is None else _offsets_dict(len(offsets.there), len(offsets.here), offsets.equal),
    }


def _offsets_dict(there: int, here: int, equal: bool) -> dict[str, Any]:
    return {"partitions_there": there, "partitions_here": here, "equal": equal}


def _table(candidates: Sequence[Candidate]) -> Table:
    table = Table(box=None, pad_edge=False)
    for column in ("Connector", "Kind", "In Connect", "Here", "Verdict", "Offsets"):
        table.add_column(column, overflow="fold")
    for each in candidates:
        verdict = each.assessment.verdict.value
        tasks = f", {counted(len(each.there.tasks), 'task')}" if each.there.tasks else ""
        table.add_row(
            Text(each.name),
            each.assessment.kind,
            Text(f"{each.there.state}{tasks}"),
            each.assessment.how.value,
            Text(_verdict(each), style=_STYLES[verdict]),
            "" if each.offsets is None else str(each.offsets),
        )
    return table


def _verdict(candidate: Candidate) -> str:
    handover = candidate.handover
    verdict = candidate.assessment.verdict.value
    return f"moved: {handover.value}" if handover and candidate.has_moved else verdict


def _details(candidate: Candidate) -> Iterator[tuple[tuple[str, str], str]]:
    assessment = candidate.assessment
    for key, texts in assessment.problems.items():
        for text in texts:
            yield _PROBLEM, f"`{key}`: {text}"
    for key in assessment.secrets:
        yield (
            _WARNING,
            f"`{key}` is a secret in plain text, and is written to the file as it is. Use a variable instead, such as "
            "${file:/run/secrets/connect.properties:password}",
        )
    yield from ((_WARNING, text) for text in assessment.without_effect)
    yield from ((_WARNING, text) for text in assessment.notes)
    if candidate.edited:
        yield _NOTE, f"its file differs from Connect's configuration in {', '.join(candidate.edited)}"
    yield from ((_NOTE, text) for text in assessment.advice)
    if assessment.identity:
        yield _NOTE, "offsets here: " + ", ".join(f"{what} {value}" for what, value in assessment.identity.items())


def _texts(error: Exception) -> Iterator[str]:
    if isinstance(error, ConfigError):
        yield from (f"`{key}`: {text}" for key, texts in error.errors.items() for text in texts)
    else:
        yield str(error)
