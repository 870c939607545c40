"""Sinks whose records need nothing of Catalyst are run in processes of the job's own: Spark does not start."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from airflow_kconnect.runs.events import EXIT_RETRIABLE
from tests.integration.runtime.conftest import Jobs, Run
from tests.support import unique
from tests.support.kafka import produce
from tests.support.spark.jobs import kill_all, wait_gone

_RECORDS = 30_000
# No JVM starts with it.
_BROKEN = {"spark.driver.extraJavaOptions": "-Xss1k"}


def _message(number: int, kind: str = "int64") -> str:
    schema = {"type": "struct", "fields": [{"field": "n", "type": kind}]}
    return json.dumps({"schema": schema, "payload": {"n": number}}, separators=(",", ":"))


@pytest.fixture
def sink(topic: Callable[..., str], bootstrap: str, tmp_path: Path) -> dict[str, str]:
    """A file sink over a topic with numbered records."""
    name = topic(partitions=2)
    produce(bootstrap, name, map(_message, range(_RECORDS)))
    return {
        "name": unique("sink"),
        "connector.class": "FileStreamSink",
        "topics": name,
        "file": str(tmp_path / "out.txt"),
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    }


def _lines(sink: dict[str, str]) -> list[str]:
    return sorted(Path(sink["file"]).read_text().splitlines())


def _expected(numbers: Iterable[object]) -> list[str]:
    return sorted(f"Struct{{n={n}}}" for n in numbers)


def test_spark_starts_when_a_record_needs_it_and_nothing_is_doubled(
    sink: dict[str, str], bootstrap: str, run_here: Run
) -> None:
    produce(bootstrap, sink["topics"], [_message(n, "float") for n in range(50)])
    produce(bootstrap, sink["topics"], [_message(n) for n in range(_RECORDS, _RECORDS + 50)])
    report = run_here(sink)
    assert _lines(sink) == sorted(_expected(range(_RECORDS + 50)) + _expected(float(n) for n in range(50)))
    assert "starting Spark" in report.durations_s


@pytest.mark.spark_submit
@pytest.mark.parametrize("killed", ["workers", pytest.param("driver", marks=pytest.mark.exhaustive)])
def test_no_jvm_starts_and_a_run_whose_processes_are_killed_is_completed_by_the_next(
    killed: str, sink: dict[str, str], jobs: Jobs, run_here: Run
) -> None:
    job = jobs.start(sink, failpoint="mid-write", conf=_BROKEN)
    job.wait_for_failpoint()
    everyone = job.tree()
    kill_all(job.workers() if killed == "workers" else [job.driver()])
    code = job.wait()
    if killed == "workers":
        assert code == EXIT_RETRIABLE
        assert "was ended by signal 9 (SIGKILL)" in job.event("error")["message"]
    assert wait_gone(everyone) == []
    assert not Path(sink["file"]).exists()

    report = run_here(sink)

    assert _lines(sink) == _expected(range(_RECORDS))
    assert "moving records" in report.durations_s
    assert "starting Spark" not in report.durations_s
