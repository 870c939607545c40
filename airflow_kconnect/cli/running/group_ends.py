"""How the connectors of a group have ended, for people and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.table import Table
from rich.text import Text

from airflow_kconnect.cli.connectors.arguments import plain_table
from airflow_kconnect.cli.console import Console
from airflow_kconnect.cli.errors import show
from airflow_kconnect.cli.run_display import show_report
from airflow_kconnect.runs.group import MemberEnd
from airflow_kconnect.submit.group import HEADER, end_rows, interrupted

MOST_ROWS = 30
"""More connectors than these are shown only if there is something to say about them."""
_MOST_NAMED = 5
_STYLES = {
    "done": "green",
    "nothing new": "dim",
    "not complete": "yellow",
    "interrupted": "yellow",
    "failed": "bold red",
}


def show_ends(console: Console, ends: Sequence[MemberEnd], tail: Iterable[str] = ()) -> None:
    """A table of all connectors, or of those about which there is something to say; then errors and warnings in full.

    :param tail: the last lines of a job that has not said how they ended.
    """
    shown = ends if len(ends) <= MOST_ROWS else [end for end in ends if _says_something(end)]
    if shown:
        console.print(_table(shown))
    console.print(Text(totals(ends)), soft_wrap=True)
    if len(shown) < len(ends):
        left = len(ends) - len(shown)
        console.print(Text(f"Not shown: {left:,} connectors without failures and warnings; `--json` shows all."))
    show_warnings(console, _warnings(ends))
    for line in tail:
        console.print(Text(line, style="dim"), soft_wrap=True)
    for names, failed in _by_error(ends):
        console.print()
        console.print(Text(f"Failed: {in_short(names, _MOST_NAMED)}", style="bold"), soft_wrap=True)
        if failed.report is not None:  # it has moved records, with warnings for which the user wants an error
            show_report(console, failed.report)
        assert failed.error is not None
        show(console, failed.error)


def show_warnings(console: Console, warnings: Iterable[tuple[str, str, str]]) -> None:
    """A line for each warning; connectors that have the same one share it.

    :param warnings: connector, what the line begins with, and text.
    """
    names: dict[tuple[str, str], list[str]] = {}
    for name, begin, text in warnings:
        names.setdefault((begin, text), []).append(name)
    for (begin, text), those in names.items():
        line = Text.assemble((begin, "yellow"), f"{in_short(those, _MOST_NAMED)}: {text}")
        console.print(line, soft_wrap=True)


def ends_json(ends: Iterable[MemberEnd], exit_code: int) -> dict[str, Any]:
    """How they have ended, as `--json` prints it."""
    return {"connectors": {end.connector: _json(end) for end in ends}, "exit_code": exit_code}


def totals(ends: Collection[MemberEnd]) -> str:
    """One line: how many connectors, how each of them has ended, how many records."""
    counts = Counter(row[1] for row in end_rows(ends))
    written = sum(end.report["records"].get("written", 0) for end in ends if end.report is not None)
    of_all = ", ".join(f"{count:,} {how}" for how, count in counts.items())
    records = "1 record" if written == 1 else f"{written:,} records"
    return f"{len(ends):,} connectors: {of_all}; {records} written."


def in_short(names: Sequence[str], most: int) -> str:
    """Names for a text, not more than these."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _says_something(end: MemberEnd) -> bool:
    if end.error is not None or end.state is not None or end.report is None:
        return True
    return bool(end.report["warnings"]) or not end.report["complete"]


def _table(ends: Iterable[MemberEnd]) -> Table:
    table = plain_table(*HEADER)
    for cell in (2, 3):
        table.columns[cell].justify = "right"
    for name, how, *others in end_rows(ends):
        table.add_row(Text(name), Text(how, style=_STYLES.get(how, "")), *map(Text, others))
    return table


def _warnings(ends: Iterable[MemberEnd]) -> Iterator[tuple[str, str, str]]:
    """Connector, kind and text of the warnings of those that have not failed."""
    for end in ends:
        if end.error is None and end.report is not None:
            for kind, text in zip(end.report["warning_kinds"], end.report["warnings"], strict=True):
                yield end.connector, f"Warning ({kind}): ", text


def _by_error(ends: Iterable[MemberEnd]) -> list[tuple[list[str], MemberEnd]]:
    """Those that have failed; the ones without a report that have the same error are one entry."""
    found: dict[object, tuple[list[str], MemberEnd]] = {}
    for end in ends:
        if end.error is not None and not interrupted(end):
            key = end.connector if end.report is not None else (end.error["error"], end.error["message"])
            found.setdefault(key, ([], end))[0].append(end.connector)
    return list(found.values())


def _json(end: MemberEnd) -> Mapping[str, Any]:
    members = {"error": end.error, "report": end.report, "state": end.state}
    return {name: value for name, value in members.items() if value is not None}
