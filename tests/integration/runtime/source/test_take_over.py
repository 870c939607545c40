"""Two runs of a Python source at once, the older one slow: the newer one's offsets are the last word."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from airflow_kconnect.runs.events import EXIT_FENCED
from airflow_kconnect.runtime.source import moving, run
from tests.integration.runtime.conftest import Run
from tests.support import unique
from tests.support.kafka import read_all
from tests.support.spark.jobs import Job, start_job

pytestmark = pytest.mark.spark_submit

_RECORDS = 300


@pytest.mark.exhaustive
def test_a_task_of_the_older_run_that_starts_while_the_newer_one_takes_over_moves_nothing(
    run_here: Run, worker_props: dict[str, str], bootstrap: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = unique("verifiable")
    config = {
        "name": name,
        "connector.class": "VerifiableSource",
        "tasks.max": "1",
        "throughput": "-1",
        "max.seqno": str(_RECORDS - 1),
        "topic": f"t-{name}",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
    }
    polled = tmp_path / "polled"
    # It polls for some seconds before it commits.
    slow = {**config, "throughput": "40", "log.file": str(polled)}
    older: Job = start_job(slow, worker_props, tmp_path, failpoint="before-tasks")
    older.wait_for_failpoint()

    def meanwhile(point: str) -> None:
        """The older run's task starts when offsets have been read, and is over when those of the newer run start."""
        if point == "after-reading-offsets":
            older.reached.unlink()
            while older.process.poll() is None and not polled.with_name("polled-0").exists():
                time.sleep(0.05)
            time.sleep(3)  # long enough to take its id
        elif point == "before-tasks":
            older.wait()

    for module in (run, moving):
        monkeypatch.setattr(module, "failpoint", meanwhile)
    run_here(config)
    assert older.wait() == EXIT_FENCED
    found = sorted(json.loads(record.value or b"") for record in read_all(bootstrap, config["topic"]))
    assert found == list(range(_RECORDS))
