"""A `SourceTask` as the beginning of a frame, without a Spark session."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.connector.task import SourceTask
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.runtime.source import poll as poll_source
from airflow_kconnect.runtime.source.acknowledgements import AckWriter
from airflow_kconnect.runtime.source.poll import PollSettings
from tests.support.connectors.scripted_task import ID, SHAPES, MakeSettings, ScriptedTask


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """`scripted(polled, polled, ...)` sets what `ScriptedTask` polls; returns the list of its calls."""

    def prepare(*script: Sequence[SourceRecord] | Exception | Callable[..., Any] | None) -> list[str]:
        monkeypatch.setattr(ScriptedTask, "script", list(script))
        monkeypatch.setattr(ScriptedTask, "calls", [])
        return ScriptedTask.calls

    return prepare


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., PollSettings]:
    """`settings(TaskClass, max_records=(5,))`; acknowledgements lie in the test's own folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def make(task_class: type[SourceTask] = ScriptedTask, **changed: Any) -> PollSettings:
        defaults: dict[str, Any] = {
            "task_class": task_class,
            "configs": ({"task": "0"},),
            "offsets": {ID: {"n": 41}},
            "shapes": SHAPES,
            "max_records": (None,),
            "max_duration_s": None,
            "plan_id": "plan",
            "stop_timeout_s": 5.0,
        }
        return PollSettings(**{**defaults, **changed})

    return make


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits is handed on after each poll instead of each second."""
    monkeypatch.setattr(poll_source, "_HAND_ON_S", 0)


@pytest.fixture
def acks(settings: MakeSettings) -> AckWriter:
    """The writing end of the same Spark task."""
    return AckWriter("plan", 0)
