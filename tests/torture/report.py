"""``python -m tests.torture.report``: new results join those that are kept; docs/reliability*.md get their tables."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks.report import filled
from tests.torture.__main__ import RESULTS

KEPT = Path(__file__).with_name("outcomes.jsonl")
PAGES = sorted((Path(__file__).parents[2] / "docs").glob("reliability*.md"))
_HEAD = (
    "| connector | promise | brokers | schedules | seeds | runs | faults that struck | records | missing | doubled |",
    "|---|---|---|---|---|---|---|---|---|---|",
)


def summary(outcomes: Iterable[dict[str, Any]]) -> str:
    """A row for each promise."""
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for outcome in outcomes:
        found[_promise(outcome)].append(outcome)
    rows = [
        f"| {promise} | {_connectors(each)} | {len(each)} | {_runs(each):,} | {_struck(each):,} "
        f"| {_total(each, 'expected')} | {_total(each, 'missing')} | {_total(each, 'doubled')} |"
        for promise, each in sorted(found.items())
    ]
    head = "| promise | connectors | schedules | runs | faults that struck | records | missing | doubled |"
    return "\n".join((head, "|---|---:|---:|---:|---:|---:|---:|---:|", *rows)) + "\n"


def _connectors(outcomes: list[dict[str, Any]]) -> int:
    """How many, whatever databases, stores or table formats they were tried with."""
    return len({re.split(r",| on ", outcome["kind"])[0] for outcome in outcomes})


def table(outcomes: Iterable[dict[str, Any]]) -> str:
    """A row for each kind of connector, promise and number of brokers."""

    def group(outcome: dict[str, Any]) -> tuple[str, str, int]:
        return outcome["kind"], _promise(outcome), outcome["nodes"]

    rows = [_row(*key, list(found)) for key, found in groupby(sorted(outcomes, key=group), group)]
    return "\n".join((*_HEAD, *rows)) + "\n"


def _row(kind: str, promise: str, nodes: int, outcomes: list[dict[str, Any]]) -> str:
    seeds = _ranges(sorted({outcome["seed"] for outcome in outcomes}))
    counts = [_total(outcomes, name) for name in ("expected", "missing", "doubled")]
    cells = (kind, promise, nodes, len(outcomes), seeds, _runs(outcomes), _struck(outcomes), *counts)
    return "| " + " | ".join(map(str, cells)) + " |"


def _promise(outcome: dict[str, Any]) -> str:
    return "exactly once" if outcome["exactly_once"] else "at least once"


def _total(outcomes: list[dict[str, Any]], name: str) -> str:
    return f"{sum(outcome[name] for outcome in outcomes):,}"


def _runs(outcomes: list[dict[str, Any]]) -> int:
    return sum(len(outcome["exit_codes"]) for outcome in outcomes)


def _struck(outcomes: list[dict[str, Any]]) -> int:
    return sum(sum(outcome["struck"].values()) for outcome in outcomes)


def faults(outcomes: Iterable[dict[str, Any]]) -> str:
    """A row for each kind of fault: in how many schedules it struck a living run, and how often."""
    found: dict[str, list[int]] = defaultdict(list)
    for outcome in outcomes:
        for kind, count in outcome["struck"].items():
            found[kind].append(count)
    rows = [f"| {kind} | {len(counts)} | {sum(counts)} |" for kind, counts in sorted(found.items())]
    return "\n".join(("| fault | schedules in which it struck | times |", "|---|---|---|", *rows)) + "\n"


def _ranges(numbers: list[int]) -> str:
    """`1-3, 7` for 1, 2, 3, 7."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][-1] + 1:
            found[-1].append(number)
        else:
            found.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in found)


def kept(new: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The outcomes in `KEPT`, with new ones in the place of older ones of the same schedules."""

    def schedule(outcome: dict[str, Any]) -> tuple[str, bool, int, int]:
        return outcome["kind"], not outcome["exactly_once"], outcome["nodes"], outcome["seed"]

    old = map(json.loads, KEPT.read_text().splitlines() if KEPT.exists() else ())
    by_schedule = {schedule(outcome): outcome for outcome in (*old, *new)}
    return [by_schedule[key] for key in sorted(by_schedule)]


if __name__ == "__main__":
    found = kept(map(json.loads, RESULTS.read_text().splitlines() if RESULTS.exists() else ()))
    KEPT.write_text("".join(f"{json.dumps(outcome)}\n" for outcome in found))
    blocks = {"torture-summary": summary(found), "torture": table(found), "torture-faults": faults(found)}
    for page in PAGES:
        page.write_text(filled(page.read_text(), blocks))
