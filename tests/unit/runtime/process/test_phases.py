"""How phases are announced."""

from __future__ import annotations

import json

import pytest

from airflow_kconnect.connect.run import EVENT_PREFIX, describe_event
from airflow_kconnect.runtime.process.phases import SINK_PHASES, PhaseTimer


def _said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    lines = capsys.readouterr().out.splitlines()
    return [describe_event(json.loads(line.removeprefix(EVENT_PREFIX))) for line in lines]


def test_phases_are_numbered_and_those_that_are_repeated_say_why_instead(capsys: pytest.CaptureFixture[str]) -> None:
    phases = PhaseTimer(SINK_PHASES, "x")
    phases.enter("moving records")
    phases.again("there are more records")
    phases.enter("preparing the Spark job")
    phases.enter("moving records")
    assert _said(capsys) == [
        "[6/7] moving records of x",
        "preparing the Spark job of x again: there are more records",
        "moving records of x",
    ]


def test_a_repeated_phase_has_the_seconds_of_all_its_times(capsys: pytest.CaptureFixture[str]) -> None:
    phases = PhaseTimer(SINK_PHASES, "x")
    for _ in range(2):
        phases.enter("moving records")
    assert set(phases.durations()) == {"moving records", "total"}
