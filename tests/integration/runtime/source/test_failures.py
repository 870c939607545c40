"""A source run is killed, fenced or cut off: afterwards nothing is missing and nothing is doubled."""

from __future__ import annotations

import signal
import time
from typing import Any

import pytest

from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.runs.events import EXIT_FENCED, EXIT_RETRIABLE
from tests.integration.runtime.conftest import NEEDS_SPARK, Jobs, NumberedFile, Run, Source, missing_and_doubled
from tests.support import kill_points
from tests.support.kafka import eventually, read_all, read_values
from tests.support.spark.jobs import Job, kill_all, wait_gone

pytestmark = pytest.mark.spark_submit

# Small enough to be quick, large enough for several Arrow batches in each of two splits.
_LINES = 60_000
_SPLIT = {"split.bytes": "300000"}

# Where the run is killed; whether records had been sent (aborted or committed) by then. At the beginning of a commit
# they may or may not have left the client's queue.
_KILL_POINTS = [
    ("before-fencing", "block", False),
    ("after-reading-offsets", "block", False),
    ("mid-produce", "block", True),
    ("after-last-produce", "block", True),
    ("during-commit", "touch", None),
    ("during-final-commit", "touch", True),
    ("after-final-commit", "block", True),
]


@pytest.mark.parametrize(
    ("point", "action", "produced"),
    kill_points(_KILL_POINTS, always=("during-final-commit",)),
)
def test_killed_run_loses_and_doubles_nothing(
    point: str,
    action: str,
    produced: bool | None,
    numbered: NumberedFile,
    file_source: Source,
    bootstrap: str,
    run_here: Run,
    jobs: Jobs,
) -> None:
    numbered.append(_LINES)
    config = file_source(**_SPLIT)
    job = jobs.start(config, failpoint=point, action=action)
    job.wait_for_failpoint()

    def is_sent() -> bool:
        exists = KafkaAdmin({"bootstrap.servers": bootstrap}).partitions(config["topic"]) > 0
        return exists and bool(read_all(bootstrap, config["topic"], committed=False))

    if produced and action == "block":
        assert eventually(is_sent, True), "the producer lingers"
    job.kill()
    job.close()
    assert job.process.returncode == -signal.SIGKILL
    sent = is_sent()
    run_here(config)
    numbered.append(100)
    run_here(config)
    assert missing_and_doubled(numbered.expected(), read_values(bootstrap, config["topic"])) == (set(), [])
    assert produced is None or sent is produced


def test_a_killed_jvm_of_spark_submit_ends_the_python_driver_before_it_commits(
    numbered: NumberedFile, file_source: Source, bootstrap: str, run_here: Run, jobs: Jobs
) -> None:
    numbered.append(_LINES)
    config = file_source()
    job = _with_a_killed_jvm(jobs, config, failpoint="before-final-commit", spark_submit=True)
    job.close()
    report = run_here(config)
    assert report.resumed_plan
    assert report.topics == [config["topic"]]
    assert missing_and_doubled(numbered.expected(), read_values(bootstrap, config["topic"])) == (set(), [])


def test_a_killed_jvm_of_the_job_itself_is_an_error_worth_a_retry(
    numbered: NumberedFile, file_source: Source, bootstrap: str, run_here: Run, jobs: Jobs
) -> None:
    numbered.append(_LINES)
    config = file_source(**NEEDS_SPARK)
    job = _with_a_killed_jvm(jobs, config, failpoint="mid-produce")
    assert job.wait() == EXIT_RETRIABLE
    assert "signal 9 (SIGKILL)" in job.event("error")["message"]
    run_here(config)
    assert missing_and_doubled(numbered.expected(), read_values(bootstrap, config["topic"])) == (set(), [])


def test_of_two_runs_at_once_the_older_is_fenced_and_says_so(
    numbered: NumberedFile, file_source: Source, bootstrap: str, run_here: Run, jobs: Jobs
) -> None:
    numbered.append(_LINES)
    config = file_source()
    job = jobs.start(config, failpoint="before-final-commit", action="block")
    job.wait_for_failpoint()
    run_here(config)
    job.reached.unlink()  # let the older run continue to its commit
    assert job.wait() == EXIT_FENCED
    assert "fenced" in job.event("error")["message"]
    assert missing_and_doubled(numbered.expected(), read_values(bootstrap, config["topic"])) == (set(), [])


def test_killed_python_worker_is_retried_by_spark_without_doubling(
    numbered: NumberedFile, file_source: Source, bootstrap: str, jobs: Jobs
) -> None:
    numbered.append(_LINES)
    config = file_source(**{"transaction.boundary.interval.ms": "1"})
    job = jobs.start(config, failpoint="mid-produce", master="local[2,4]")
    job.wait_for_failpoint()
    time.sleep(1)
    kill_all(job.workers())
    assert job.wait() == 0, job.text()
    assert missing_and_doubled(numbered.expected(), read_values(bootstrap, config["topic"])) == (set(), [])


def _with_a_killed_jvm(jobs: Jobs, config: dict[str, str], **start: Any) -> Job:
    """A job whose JVM was killed where it stopped; nothing of it is left."""
    job = jobs.start(config, **start)
    job.wait_for_failpoint()
    left = job.kill_jvm_only()
    assert wait_gone(left) == []
    return job
