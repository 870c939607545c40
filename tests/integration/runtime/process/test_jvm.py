"""Spark's JVM starts when there is something to move, and not before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from airflow_kconnect.runs.events import EXIT_RETRIABLE
from tests.integration.runtime.conftest import NEEDS_SPARK
from tests.support.spark.jobs import start_job, wait_gone

pytestmark = pytest.mark.spark_submit

# No JVM starts with it.
BROKEN = {"spark.driver.extraJavaOptions": "-Xss1k"}


@pytest.fixture
def config(file_source: Callable[..., dict[str, str]]) -> dict[str, str]:
    """A source of a file that is still empty."""
    found = file_source(**NEEDS_SPARK)
    Path(found["file"]).write_text("")
    return found


def test_a_run_with_nothing_new_starts_no_jvm(
    config: dict[str, str], worker_props: dict[str, str], tmp_path: Path
) -> None:
    job = start_job(config, worker_props, tmp_path / "job", conf=BROKEN)
    assert job.wait() == 0, job.text()
    assert job.report()["records"]["read"] == 0


def test_a_jvm_that_does_not_start_is_an_error_with_its_reason_in_the_log(
    config: dict[str, str], worker_props: dict[str, str], tmp_path: Path
) -> None:
    Path(config["file"]).write_text("one\n")
    job = start_job(config, worker_props, tmp_path / "job", conf=BROKEN)
    assert job.wait() == EXIT_RETRIABLE
    assert "`spark.driver.memory`" in job.event("error")["message"]
    assert "stack size" in job.text()


def test_the_jvm_is_gone_when_the_job_is(config: dict[str, str], worker_props: dict[str, str], tmp_path: Path) -> None:
    Path(config["file"]).write_text("one\n")
    job = start_job(config, worker_props, tmp_path / "job", failpoint="before-report")
    job.wait_for_failpoint()
    everyone = job.tree()
    (jvm,) = job.jvms()
    job.reached.unlink()
    assert job.wait() == 0, job.text()
    assert "Exception" not in job.text()
    assert not jvm.is_running()
    assert wait_gone(everyone) == []
