"""Spark's JVM starts when there is something to move, and not before; what a job with Spark loads, and leaves."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from airflow_kconnect.local.broker_files import worker_config
from airflow_kconnect.runs.events import EXIT_RETRIABLE
from tests.integration.runtime.conftest import NEEDS_SPARK, STRING, Jobs, Source
from tests.support import unique
from tests.support.imports import has_loaded_pandas
from tests.support.spark.jobs import start_job, wait_gone

pytestmark = pytest.mark.spark_submit

# No JVM starts with it.
BROKEN = {"spark.driver.extraJavaOptions": "-Xss1k"}


@pytest.fixture
def config(file_source: Source) -> dict[str, str]:
    """A source of a file that is still empty."""
    found = file_source(**NEEDS_SPARK)
    Path(found["file"]).write_text("")
    return found


def test_a_run_with_nothing_new_starts_no_jvm(config: dict[str, str], jobs: Jobs) -> None:
    job = jobs.start(config, conf=BROKEN)
    assert job.wait() == 0, job.text()
    assert job.report()["records"]["read"] == 0


def test_a_jvm_that_does_not_start_is_an_error_with_its_reason_in_the_log(config: dict[str, str], jobs: Jobs) -> None:
    Path(config["file"]).write_text("one\n")
    job = jobs.start(config, conf=BROKEN)
    assert job.wait() == EXIT_RETRIABLE
    assert "`spark.driver.memory`" in job.event("error")["message"]
    assert "stack size" in job.text()


@dataclass(frozen=True)
class Watched:
    """A job with one line to move, which needs Spark.

    :param classes: that its JVM has loaded. :param left: processes that have outlived it.
    """

    driver_has_pandas: bool
    workers_have_pandas: set[bool]
    classes: str
    left: list[psutil.Process]
    output: str


@pytest.fixture(scope="module")
def watched(bootstrap: str, worker_topics: str, tmp_path_factory: pytest.TempPathFactory) -> Watched:
    folder, name = tmp_path_factory.mktemp("watched"), unique("watched")
    (folder / "in.txt").write_text("one\n")
    source = {"connector.class": "FileStreamSource", "file": str(folder / "in.txt"), "topic": name}
    config = {"name": name, "value.converter": STRING, **source, **NEEDS_SPARK}
    options = f"-XX:TieredStopAtLevel=1 -Xlog:class+load:file={folder / 'classes.log'}"
    conf = {"spark.driver.extraJavaOptions": options}
    job = start_job(config, worker_config(bootstrap), folder, failpoint="after-last-produce", conf=conf)
    job.wait_for_failpoint()
    everyone, workers = job.tree(), {has_loaded_pandas(process) for process in job.workers()}
    driver = has_loaded_pandas(job.driver())
    assert len(job.jvms()) == 1
    job.reached.unlink()
    assert job.wait() == 0, job.text()
    return Watched(driver, workers, (folder / "classes.log").read_text(), wait_gone(everyone), job.text())


class TestAJobWithSpark:
    def test_ends_with_its_jvm_and_all_other_processes(self, watched: Watched) -> None:
        assert watched.left == []
        assert "Exception" not in watched.output

    def test_loads_no_pandas_without_classes_of_others(self, watched: Watched) -> None:
        assert (watched.driver_has_pandas, watched.workers_have_pandas) == (False, {False})

    def test_does_not_load_what_registers_the_functions_of_mllib(self, watched: Watched) -> None:
        sessions = "org.apache.spark.sql.SparkSessionExtensions"
        mllib = "org.apache.spark.sql.ml.InternalFunctionRegistration"
        assert [name in watched.classes for name in (sessions, mllib)] == [True, False]
