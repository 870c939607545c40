"""The hook that starts jobs on services: what becomes of a job and its files if the start does not go as it should."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.hooks.spark_service import SparkServiceHook
from tests.support.spark.fake_service import FakeService


@pytest.fixture
def service(tmp_path: Path) -> FakeService:
    return FakeService(tmp_path / "staging")


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: FakeService) -> Callable[..., SparkServiceHook]:
    extra = {"staging": str(tmp_path / "staging")}
    spark = {"conn_type": "spark", "host": "livy://livy_default", "extra": extra}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(spark))
    (spec := tmp_path / "run.json").write_text("{}")

    def make(**parameters: object) -> SparkServiceHook:
        hook = SparkServiceHook(conn_id="spark_default", name="orders", files=str(spec), **parameters)
        hook.__dict__["service"] = service
        return hook

    return make


@pytest.fixture
def job_file(tmp_path: Path) -> str:
    (file := tmp_path / "job.py").write_text("")
    return str(file)


def _mailboxes(service: FakeService) -> list[str]:
    return [path.name for path in service.mailboxes.glob("*/*")]


def test_a_job_whose_task_is_killed_while_it_is_started_is_ended(
    make: Callable[..., SparkServiceHook], service: FakeService, job_file: str
) -> None:
    """Airflow's signal handler calls `on_kill`, and returns to where the task was."""
    hook = make()
    service.meanwhile = hook.on_kill
    with pytest.raises(RetriableError, match="was killed"):
        hook.submit(job_file)
    assert service.ended == ["1"]
    assert _mailboxes(service) == []


def test_a_task_that_is_killed_before_the_start_starts_nothing(
    make: Callable[..., SparkServiceHook], service: FakeService, job_file: str
) -> None:
    hook = make()
    hook.on_kill()
    with pytest.raises(RetriableError, match="was killed"):
        hook.submit(job_file)
    assert service.started == []
    assert _mailboxes(service) == []


def test_the_run_spec_is_removed_even_if_the_job_of_a_killed_task_cannot_be_ended(
    make: Callable[..., SparkServiceHook], service: FakeService, job_file: str
) -> None:
    hook = make()
    hook.submit(job_file)
    service.answers = False
    hook.on_kill()
    assert _mailboxes(service) == []


def test_a_file_that_is_not_there_is_an_error_that_names_it(
    make: Callable[..., SparkServiceHook], service: FakeService, job_file: str
) -> None:
    with pytest.raises(ConfigError, match=r"file /nowhere/a\.jar of this machine cannot be read: No such file"):
        make(jars="/nowhere/a.jar").submit(job_file)
    assert _mailboxes(service) == []


def test_files_of_this_machine_may_have_blanks_and_relative_paths(
    make: Callable[..., SparkServiceHook],
    service: FakeService,
    job_file: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "two words.jar").write_text("")
    monkeypatch.chdir(tmp_path)
    make(jars="two words.jar,s3://bucket/b.jar").submit(job_file)
    there, elsewhere = service.started[0].jars
    assert Path(there.removeprefix("file://")).is_file()
    assert elsewhere == "s3://bucket/b.jar"


def test_a_parameter_wins_over_the_setting_as_with_spark_submit(
    make: Callable[..., SparkServiceHook], service: FakeService, job_file: str
) -> None:
    make(executor_memory="4g", conf={"spark.executor.memory": "2g"}).submit(job_file)
    assert service.started[0].conf["spark.executor.memory"] == "4g"


def test_all_parameters_are_refused_that_only_spark_submit_knows(make: Callable[..., SparkServiceHook]) -> None:
    with pytest.raises(ConfigError) as error:
        make(principal="airflow@EXAMPLE.ORG", yarn_queue="etl", executor_cores=2)
    assert error.value.errors == {
        name: ["is an option of spark-submit, by which Livy starts no jobs: leave it out"]
        for name in ("principal", "yarn_queue")
    }
