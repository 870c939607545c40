"""What is killed, hangs or fails in a hosted run, and what the next run makes of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from airflow_kconnect.connect.errors import RetriableError
from tests.integration.runtime.conftest import missing_and_doubled
from tests.support.kafka import produce, read_values
from tests.support.spark.jobs import Job, command_of, kill_all, start_job, wait_gone

Config = Callable[..., dict[str, str]]
Run = Callable[..., Any]


def hosted_jvm(job: Job) -> psutil.Process:
    """The JVM of the Connect worker."""
    return next(process for process in job.tree() if "py4j.GatewayServer" in command_of(process))


@pytest.mark.parametrize(
    "failpoint",
    [
        "before-stop",
        *(pytest.param(each, marks=pytest.mark.exhaustive) for each in ("before-java", "after-joining", "after-stop")),
    ],
)
def test_a_killed_job_leaves_nothing_missing_and_nothing_doubled(
    bootstrap: str,
    numbered: Any,
    java_source: Config,
    hosting_worker: dict[str, str],
    run_hosted: Run,
    tmp_path: Path,
    failpoint: str,
) -> None:
    numbered.append(500)
    config = java_source()
    job = start_job(config, hosting_worker, tmp_path / "job", failpoint=failpoint)
    job.wait_for_failpoint()
    everyone = job.tree()
    # The Python driver alone: the rest has to notice.
    kill_all([job.driver()])
    assert wait_gone(everyone) == []
    job.close()
    numbered.append(100)
    report = run_hosted(config)
    assert report.complete
    assert missing_and_doubled(numbered.expected(), read_values(bootstrap, config["topic"])) == (set(), [])


@pytest.mark.exhaustive
def test_a_killed_jvm_fails_the_job_as_retriable(
    bootstrap: str,
    numbered: Any,
    java_source: Config,
    hosting_worker: dict[str, str],
    run_hosted: Run,
    tmp_path: Path,
) -> None:
    numbered.append(500)
    config = java_source(**{"kconnect.hosted.idle.ms": "60000"})
    job = start_job(config, hosting_worker, tmp_path / "job")
    deadline = time.monotonic() + 120
    while not [line for line in job.text().splitlines() if "moving records" in line]:
        assert time.monotonic() < deadline and job.process.poll() is None, job.text()
        time.sleep(0.05)
    hosted_jvm(job).kill()
    assert job.wait() == 3, job.text()
    assert "was ended by SIGKILL" in job.event("error")["message"]
    run_hosted({**config, "kconnect.hosted.idle.ms": "1000"})
    assert missing_and_doubled(numbered.expected(), read_values(bootstrap, config["topic"])) == (set(), [])


def test_a_second_run_at_the_same_time_is_refused_as_retriable(
    numbered: Any, java_source: Config, hosting_worker: dict[str, str], run_hosted: Run, tmp_path: Path
) -> None:
    numbered.append(10)
    config = java_source()
    job = start_job(config, hosting_worker, tmp_path / "job", failpoint="before-stop")
    job.wait_for_failpoint()
    with pytest.raises(RetriableError, match="another run of this connector is at work"):
        run_hosted(config)
    job.reached.unlink()
    assert job.wait() == 0, job.text()


def test_a_failed_task_is_an_error_with_the_first_line_of_its_trace(
    java_sink: Config, topic: Callable[..., str], run_hosted: Run, bootstrap: str
) -> None:
    source = topic()
    produce(bootstrap, source, ["a"])
    config = java_sink(source, file="/nowhere/at/all.txt")
    with pytest.raises(RetriableError, match="Couldn't find or create file '/nowhere/at/all\\.txt'"):
        run_hosted(config)
