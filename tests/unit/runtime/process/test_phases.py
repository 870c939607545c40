"""How phases are announced."""

from __future__ import annotations

import json

import pytest

from airflow_kconnect.runs.events import EVENT_PREFIX, describe_event
from airflow_kconnect.runtime.process.phases import SINK_PHASES, PhaseTimer


def _said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    lines = capsys.readouterr().out.splitlines()
    return [describe_event(json.loads(line.removeprefix(EVENT_PREFIX))) for line in lines]


def test_phases_are_numbered_and_those_that_are_repeated_say_why_instead(capsys: pytest.CaptureFixture[str]) -> None:
    phases = PhaseTimer(SINK_PHASES, "x")
    phases.enter("preparing the Spark job")
    phases.enter("moving records")
    phases.again("there are more records")
    phases.enter("preparing the Spark job")
    phases.enter("moving records")
    assert _said(capsys) == [
        "[5/7] preparing the Spark job of x",
        "[6/7] moving records of x",
        "preparing the Spark job of x again: there are more records",
        "moving records of x",
    ]


def test_a_repeated_phase_has_the_seconds_of_all_its_times(capsys: pytest.CaptureFixture[str]) -> None:
    phases = PhaseTimer(SINK_PHASES, "x")
    for _ in range(2):
        phases.enter("moving records")
    assert set(phases.durations()) == {"moving records", "total"}


def test_a_phase_that_comes_later_for_the_first_time_is_not_there_again(capsys: pytest.CaptureFixture[str]) -> None:
    phases = PhaseTimer(SINK_PHASES, "x")
    phases.enter("moving records")
    phases.again("there are records that need Spark to be read")
    phases.enter("starting Spark")
    assert _said(capsys)[1:] == ["starting Spark for x: there are records that need Spark to be read"]
