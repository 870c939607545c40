"""Signs of life of a running job."""

from __future__ import annotations

import time
from collections.abc import Callable

from airflow_kconnect.submit.heartbeat import Heartbeat

FENCING = {"event": "phase", "name": "fencing", "text": "fencing older runs of weather", "step": 2, "steps": 6}
PROGRESS = {"event": "progress", "records": 5, "rate": 2.5, "tasks_done": 1, "tasks": 2, "elapsed_s": 2.0}


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_the_first_line_is_there_at_once() -> None:
    lines: list[str] = []

    with Heartbeat(lines.append, "starting Spark on yarn"):
        assert lines == ["starting Spark on yarn"]


def test_a_phase_is_numbered_and_names_the_connector() -> None:
    lines: list[str] = []

    with Heartbeat(lines.append) as heartbeat:
        heartbeat.event(FENCING)

    assert lines == ["starting the job", "[2/6] fencing older runs of weather"]


def test_progress_is_said_as_a_sentence() -> None:
    lines: list[str] = []

    with Heartbeat(lines.append) as heartbeat:
        heartbeat.event(PROGRESS)

    assert lines[1:] == ["5 records, 2/s, 1/2 splits done, 2 s"]


def test_events_without_progress_are_left_to_others() -> None:
    lines: list[str] = []

    with Heartbeat(lines.append) as heartbeat:
        heartbeat.event({"event": "report", "report": {}})

    assert lines == ["starting the job"]


def test_silence_in_a_phase_is_broken_with_its_name_and_its_age() -> None:
    lines: list[str] = []

    with Heartbeat(lines.append, silence_s=0.05) as heartbeat:
        heartbeat.event(FENCING)
        until(lambda: len(lines) > 2)

    assert lines[-1].startswith("[2/6] fencing older runs of weather, for ")


def test_lines_of_others_count() -> None:
    lines: list[str] = []

    with Heartbeat(lines.append, silence_s=1.5) as heartbeat:
        for _ in range(40):
            heartbeat.heard()
            time.sleep(0.05)

    assert lines == ["starting the job"]


def test_after_the_end_nothing_is_said() -> None:
    lines: list[str] = []
    with Heartbeat(lines.append, silence_s=0.05):
        until(lambda: len(lines) > 1)
    said = len(lines)

    time.sleep(0.2)

    assert len(lines) == said
