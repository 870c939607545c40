"""What `kconnect run` shows while many connectors run."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import Any

import pytest

from airflow_kconnect.cli.console import Console
from airflow_kconnect.cli.running.group_display import GroupBars, GroupDisplay, GroupLines, group_display_of
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.submit.group import GroupProgress

REPORT = RunReport("a", "source", "C", "r", records={"read": 1000, "written": 1000}, durations_s={"total": 0.4})
A_ENDS = {"event": "report", "connector": "a", "report": REPORT.as_dict()}
B_BEGINS = {"event": "phase", "connector": "b", "name": "planning", "text": "planning"}
B_MOVES = {"event": "progress", "connector": "b", "records": 1234, "rate": 10.0, "tasks_done": 0, "tasks": 1,
           "elapsed_s": 1.0, "expected": None}  # fmt: skip
B_FAILS = {"event": "error", "connector": "b", "error": "DataError", "message": "no\nno", "exit_code": 1}


def terminal() -> tuple[Console, io.StringIO]:
    screen = io.StringIO()
    return Console(file=screen, force_terminal=True, width=150), screen


def show(display: GroupDisplay, progress: GroupProgress, *events: Mapping[str, Any]) -> None:
    for event in events:
        display.event(event, progress.take(event))


def bars(*events: Mapping[str, Any]) -> str:
    (console, screen), progress = terminal(), GroupProgress(["a", "b", "c"])
    with GroupBars(console, progress, verbose=False) as display:
        show(display, progress, *events)
        display._bars.refresh()
        return screen.getvalue()


def lines(*events: Mapping[str, Any]) -> list[str]:
    screen, progress = io.StringIO(), GroupProgress(["a", "b", "c"])
    with GroupLines(Console(file=screen, width=150), progress, verbose=False) as display:
        show(display, progress, *events)
    return screen.getvalue().splitlines()


def test_a_terminal_gets_bars_and_a_file_gets_lines() -> None:
    progress = GroupProgress(["a"])
    assert isinstance(group_display_of(terminal()[0], progress, verbose=False), GroupBars)
    assert isinstance(group_display_of(Console(file=io.StringIO()), progress, verbose=False), GroupLines)


@pytest.mark.parametrize("text", ["1 of 3 connectors", "1 running, 1 waiting", "b: planning", "1,234 records, 10/s"])
def test_bars_show_counts_and_what_runs(text: str) -> None:
    assert text in bars(A_ENDS, B_BEGINS, B_MOVES)


def test_a_row_of_one_that_failed_stays() -> None:
    last = bars(B_BEGINS, B_FAILS, A_ENDS).rsplit("2 of 3 connectors", 1)[1]
    assert re.sub("\x1b.*?m", "", last).splitlines()[1].startswith("✗ b failed: no")


def test_lines_tell_of_ends_and_not_of_phases() -> None:
    assert lines(B_BEGINS, A_ENDS, B_MOVES, B_FAILS) == [
        "starting the job",
        "[1/3] a: 1,000 records written in 0.4 s (exactly_once)",
        "[2/3] b failed: no",
    ]


def test_a_long_silence_is_ended_by_the_names_of_those_that_run() -> None:
    screen, progress = io.StringIO(), GroupProgress(["a", "b"])
    with GroupLines(Console(file=screen, width=150), progress, verbose=False, silence_s=0.05) as display:
        show(display, progress, B_BEGINS)
        while "running" not in screen.getvalue():
            pass
    assert "0 of 2 connectors done, 1 running: b, for 0 s" in screen.getvalue()
