"""A group before and after its job: which of its connectors can be run, with which Spark, and how each has ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from airflow_kconnect.connect.connector.base import SparkNeeds
from airflow_kconnect.connect.errors import ConfigError, ConnectError, first_line
from airflow_kconnect.runs.end import is_idle, why_incomplete
from airflow_kconnect.runs.events import describe_event
from airflow_kconnect.runs.group import MemberEnd, check_group, lost, name_of
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.submit.preflight import check_configuration
from airflow_kconnect.submit.spark_needs import contradiction, needs_of
from airflow_kconnect.submit.statuses import show_target_states
from airflow_kconnect.worker_config.keys import WorkerConfig
from airflow_kconnect.worker_config.spark_keys import PREFIX, spark_settings

# A line of a log names the connectors that run as far as it stays readable.
_MOST_NAMED = 5


@dataclass(frozen=True)
class CheckedGroup:
    """What the check of a group has found.

    :param runs: of the connectors that can be run, in their order.
    :param errors: of the others, by name.
    :param warnings: by name.
    :param conf: Spark's settings for the job.
    """

    runs: tuple[RunSpec, ...]
    errors: Mapping[str, ConfigError] = field(default_factory=dict)
    warnings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    conf: Mapping[str, str] = field(default_factory=dict)


def checked_group(runs: Sequence[RunSpec], conf: Mapping[str, Any], spark_version: str) -> CheckedGroup:
    """Check the configuration of each connector; makes no connections. A wrong one does not affect the others.

    :param conf: Spark's settings of the group itself. They win over those that connectors bring.
    :param spark_version: that will run the job; empty if it is not known.
    :raises ConfigError: a connector is there twice or has no name, or their order is impossible.
    """
    check_group([run.config for run in runs])
    errors: dict[str, ConfigError] = {}
    warnings: dict[str, Sequence[str]] = {}
    brought: dict[str, dict[str, str]] = {}
    all_needs: dict[str, SparkNeeds] = {}
    for run in runs:
        name = name_of(run.config)
        try:
            warnings[name] = check_configuration(run.config, run.worker, run.kind, run.variables)
            needs = needs_of(run.config, spark_version)
            if (problem := contradiction(needs, all_needs)) is not None:
                raise ConfigError({"connector.class": [problem]})
            all_needs[name] = needs
            brought[name] = {**needs.conf, **spark_settings(run.config)}
        except ConfigError as error:
            errors[name] = ConfigError(error.errors, name)
    errors |= _contradictions(brought, conf)
    good = tuple(run for run in runs if name_of(run.config) not in errors)
    settings = {key: value for run in good for key, value in brought[name_of(run.config)].items()}
    own = {key: str(value) for key, value in conf.items()}
    return CheckedGroup(good, errors, {name: texts for name, texts in warnings.items() if texts}, {**settings, **own})


def _contradictions(brought: Mapping[str, Mapping[str, str]], conf: Mapping[str, Any]) -> dict[str, ConfigError]:
    """The errors of connectors that want different values of one setting, which the group does not set itself.

    :param brought: by connector.
    """
    values: dict[str, dict[str, str]] = {}
    for name, settings in brought.items():
        for key in settings.keys() - conf.keys():
            values.setdefault(key, {})[name] = settings[key]
    texts: dict[str, dict[str, list[str]]] = {}
    for key, wanted in sorted(values.items()):
        if len(set(wanted.values())) == 1:
            continue
        for name, value in wanted.items():
            other = next(each for each, its in wanted.items() if its != value)
            texts.setdefault(name, {})[f"{PREFIX}{key}"] = [
                f"is {value}, and {wanted[other]} in connector {other}: a group is one Spark application. Give them"
                f" the same value, or set {key} in the `conf` of the group"
            ]
    return {name: ConfigError(found, name) for name, found in texts.items()}


def not_started(names: Iterable[str], worker: Mapping[str, Any]) -> dict[str, str]:
    """Those of some connectors that are paused or stopped: PAUSED or STOPPED by name. Their statuses follow.

    The config topic is read once.

    :param worker: variables resolved.
    :raises ConfigError: the topic may not be read. :raises RetriableError: the broker is unavailable.
    """
    from airflow_kconnect.stores.target_states import TargetState, TargetStates

    known = TargetStates(WorkerConfig.from_props(worker)).read_all()
    started = TargetState.STARTED
    states = {name: known[name].value for name in names if known.get(name, started) is not started}
    if states:
        show_target_states(states, worker)
    return states


def failed(connector: str, error: ConnectError) -> MemberEnd:
    """The end of a connector that has failed before the job."""
    errors = error.errors if isinstance(error, ConfigError) else None
    facts = {"error": type(error).__name__, "message": str(error), "exit_code": error.exit_code, "errors": errors}
    return MemberEnd(connector, error=facts)


class GroupProgress:
    """How far a group is, by the events of its job.

    :param names: of the connectors that the job runs, in their order.
    :ivar error: the job's own error event, which is none of its connectors'; None if there was none.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._ends: dict[str, MemberEnd | None] = dict.fromkeys(names)
        self._running: dict[str, str] = {}
        self.error: Mapping[str, Any] | None = None

    def take(self, event: Mapping[str, Any]) -> MemberEnd | None:
        """Take in an event, in the form that `parse_event` returns.

        :returns: if it says how a connector has ended: that. One that fails because of its warnings reports before.
        """
        kind, name = event.get("event"), event.get("connector")
        if name not in self._ends:
            if kind == "error" and name is None:
                self.error = _without_event(event)
            return None
        before = self._ends[name] or MemberEnd(name)
        if kind == "report":
            return self._end(replace(before, report=RunReport.of(event["report"]).as_dict()))
        if kind == "error":
            return self._end(replace(before, error=_without_event(event)))
        self._running[name] = describe_event(event)
        return None

    @property
    def ended(self) -> list[MemberEnd]:
        """How those have ended that have."""
        return [end for end in self._ends.values() if end is not None]

    @property
    def told(self) -> bool:
        """Whether the job has said how it, or one of its connectors, has ended."""
        return self.error is not None or bool(self.ended)

    @property
    def well(self) -> bool:
        """Whether each connector has ended, and none has failed."""
        return self.error is None and all(end is not None and end.error is None for end in self._ends.values())

    def forget(self) -> None:
        """Forget all ends: another job runs the connectors."""
        self._ends, self.error = dict.fromkeys(self._ends), None

    @property
    def running(self) -> Mapping[str, str]:
        """The connectors that have begun and not ended, and what each of them does, in the words of its last event."""
        return self._running

    @property
    def silent(self) -> list[str]:
        """The connectors of which the job has not said how they ended."""
        return [name for name, end in self._ends.items() if end is None]

    def count(self) -> str:
        """How many connectors have ended, of how many."""
        return f"{len(self._ends) - len(self.silent):,}/{len(self._ends):,}"

    def ends(self, why: str) -> list[MemberEnd]:
        """How each connector has ended, in their order. Called when the job has ended.

        :param why: how the job has ended, for those of which it has not said anything.
        """
        return [end or self._lost(name, why) for name, end in self._ends.items()]

    def text(self) -> str:
        """One line: how many connectors have ended, failed, run."""
        ended = self.ended
        failures = sum(1 for end in ended if end.error is not None)
        names = list(self._running)
        parts = [f"{len(ended):,} of {len(self._ends):,} connectors done"]
        parts += [f"{failures:,} of them failed"] if failures else []
        if names:
            more = ", ..." if len(names) > _MOST_NAMED else ""
            parts.append(f"{len(names):,} running: {', '.join(names[:_MOST_NAMED])}{more}")
        return ", ".join(parts)

    def _end(self, end: MemberEnd) -> MemberEnd:
        self._ends[end.connector] = end
        self._running.pop(end.connector, None)
        return end

    def _lost(self, name: str, why: str) -> MemberEnd:
        return MemberEnd(name, error=self.error) if self.error is not None else lost(name, why)


def _without_event(event: Mapping[str, Any]) -> dict[str, Any]:
    facts = {"errors": None, **event}
    return {key: facts[key] for key in ("error", "message", "exit_code", "errors")}


HEADER = ("Connector", "End", "Records", "Seconds", "")


def end_rows(ends: Iterable[MemberEnd]) -> list[tuple[str, ...]]:
    """The rows of the table that is shown at the end of a group, see `HEADER`: those that failed are the last."""
    return [_row(end) for end in sorted(ends, key=lambda end: end.error is not None)]


def interrupted(end: MemberEnd) -> bool:
    """Whether the user has ended the run, or kept it from beginning: it has not failed."""
    return end.error is not None and end.error["error"] == KeyboardInterrupt.__name__


def problem_of(error: Mapping[str, Any]) -> str:
    """What an error event says, in one line."""
    found = [f"`{key}`: {first_line(text)}" for key, texts in (error["errors"] or {}).items() for text in texts]
    if not found:
        return first_line(error["message"])
    return found[0] + (f" (and {len(found) - 1} more)" if len(found) > 1 else "")


def table_lines(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table as lines of a log."""
    widths = [max(len(row[n]) for row in (header, *rows)) for n in range(len(header))]
    lines = ("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)) for row in (header, *rows))
    return [line.rstrip() for line in lines]


def _row(end: MemberEnd) -> tuple[str, ...]:
    if end.state is not None:
        return (end.connector, end.state.lower(), "", "", "")
    records = seconds = ""
    if end.report is not None:
        records = f"{end.report['records'].get('written', 0):,}"
        seconds = f"{end.report['durations_s'].get('total', 0.0):.1f}"
    if interrupted(end):
        return (end.connector, "interrupted", records, seconds, "")
    if end.error is not None:
        return (end.connector, "failed", records, seconds, f"{end.error['error']}: {problem_of(end.error)}")
    return (end.connector, _how(end.report or {}), records, seconds, _remark(end.report or {}))


def _how(report: Mapping[str, Any]) -> str:
    if not report.get("complete", True):
        return "not complete"
    return "nothing new" if report and is_idle(report) and not report.get("resumed_plan") else "done"


def _remark(report: Mapping[str, Any]) -> str:
    """What there is to say about a run that has not failed."""
    texts = [*why_incomplete(report.get("incomplete", ())), *map(first_line, report.get("warnings", ()))]
    return "" if not texts else texts[0] + (f" (and {len(texts) - 1} more)" if len(texts) > 1 else "")
