"""Operators whose jobs a real Livy starts, with a folder that both it and the worker see."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sized
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
from airflow.providers.common.compat.sdk import BaseHook, TaskDeferred

from airflow_kconnect import KafkaSourceOperator
from airflow_kconnect.errors import ConnectorConfigError
from airflow_kconnect.hooks.services.base import ServiceJob
from airflow_kconnect.hooks.services.registry import open_service
from tests.support.airflow.operator_runs import context
from tests.support.kafka import eventually, read_values
from tests.support.objects import objects_of
from tests.support.spark.livy import LivyServer
from tests.support.spark.service_tasks import Lines, task_of
from tests.support.stores import hdfs_store


@pytest.fixture(scope="module")
def staging(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("staging")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, staging: Path) -> Iterator[LivyServer]:
    server = LivyServer(tmp_path_factory.mktemp("livy"), staging)
    yield server
    server.remove()


@pytest.fixture
def livy(server: LivyServer, staging: Path, monkeypatch: pytest.MonkeyPatch) -> LivyServer:
    """`spark_default` names it."""
    spark = {"conn_type": "spark", "host": "livy://livy_default", "extra": {"staging": str(staging)}}
    monkeypatch.setenv("AIRFLOW_CONN_LIVY_DEFAULT", json.dumps({"conn_type": "livy", "host": server.url}))
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(spark))
    monkeypatch.setattr("airflow_kconnect.operators.tracking._SERVICE_POLL_S", 1)
    return server


@pytest.fixture
def source(lines: Lines, worker_props: dict[str, str]) -> Callable[..., KafkaSourceOperator]:
    """A source of two lines; its topic has its name."""

    def make(file: str | None = None, **parameters: Any) -> KafkaSourceOperator:
        return task_of(lines(**({"file": file} if file else {})), worker_props, **parameters)

    return make


def _mailboxes(staging: Path) -> list[Path]:
    return list((staging / "runs").iterdir())


def _is_in_a_command(word: str) -> bool:
    return any(word in each for process in psutil.process_iter(["cmdline"]) for each in process.info["cmdline"] or ())


@pytest.fixture(params=["a folder of both", pytest.param("HDFS", marks=pytest.mark.exhaustive)])
def left_behind(
    request: pytest.FixtureRequest, livy: LivyServer, staging: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[], Sized]]:
    """What is in the mailboxes of a staging folder, which `spark_default` names."""
    if request.param == "a folder of both":
        yield lambda: _mailboxes(staging)
        return
    with hdfs_store(tmp_path) as store:
        url = urlsplit(store.settings["store.endpoint"])
        hdfs = {"conn_type": "webhdfs", "host": url.hostname, "port": url.port}
        extra = {"staging": f"{store.address}/kconnect", "staging_conn_id": "hdfs"}
        spark = {"conn_type": "spark", "host": "livy://livy_default", "extra": extra}
        monkeypatch.setenv("AIRFLOW_CONN_HDFS", json.dumps(hdfs))
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(spark))
        yield lambda: objects_of(store, "kconnect/runs/")


def test_a_job_moves_records_and_its_report_comes_back(
    left_behind: Callable[[], Sized], bootstrap: str, source: Callable[..., KafkaSourceOperator]
) -> None:
    report = source().execute(context())
    assert report is not None
    assert (report["records"]["written"], report["complete"]) == (2, True)
    assert read_values(bootstrap, report["connector"]) == [b"a", b"b"]
    assert len(left_behind()) == 0


def test_a_connector_can_run_again_while_livy_still_knows_its_last_batch(livy: LivyServer, staging: Path) -> None:
    (script := staging / "nothing.py").touch()
    service = open_service(BaseHook.get_connection("spark_default"), "spark_default")
    jobs = [ServiceJob("orders", request * 32, script.as_uri(), (), {}) for request in "ab"]
    first, second = map(service.start, jobs)
    assert first != second
    for job_id in (first, second):
        service.end(job_id)


@pytest.mark.exhaustive  # what a job leaves in its mailbox is read as for EMR Serverless
def test_the_error_of_a_job_is_its_own(
    livy: LivyServer, staging: Path, source: Callable[..., KafkaSourceOperator]
) -> None:
    with pytest.raises(ConnectorConfigError, match="/nowhere/at/all"):
        source(file="/nowhere/at/all").execute(context())
    assert _mailboxes(staging) == []


def test_a_killed_task_ends_its_job(
    livy: LivyServer, staging: Path, source: Callable[..., KafkaSourceOperator]
) -> None:
    operator = source(deferrable=True)
    with pytest.raises(TaskDeferred) as deferred:
        operator.execute(context())
    (mailbox,) = _mailboxes(staging)
    assert not eventually((mailbox / "run.json").exists, False)  # the driver has taken it
    operator.on_kill()
    assert deferred.value.trigger.job_id not in {str(batch["id"]) for batch in livy.batches()}
    assert not eventually(lambda: _is_in_a_command(str(mailbox)), False)
    assert _mailboxes(staging) == []


@pytest.mark.exhaustive  # as one that EMR Serverless has forgotten
def test_a_job_that_livy_has_forgotten_has_left_its_report(
    livy: LivyServer, staging: Path, source: Callable[..., KafkaSourceOperator]
) -> None:
    operator = source(deferrable=True)
    with pytest.raises(TaskDeferred) as deferred:
        operator.execute(context())
    job_id, kwargs = deferred.value.trigger.job_id, deferred.value.kwargs or {}
    livy.forget(job_id)
    event = asyncio.run(deferred.value.trigger.wait())
    assert event["status"] == "lost"
    report = operator.execute_complete(context(), event, **kwargs)
    assert report is not None
    assert report["records"]["written"] == 2
    assert _mailboxes(staging) == []


def test_what_livy_refuses_is_an_error_of_the_configuration_in_its_words(
    livy: LivyServer, source: Callable[..., KafkaSourceOperator]
) -> None:
    with pytest.raises(ConnectorConfigError, match=r"Livy refuses: .*/elsewhere\.jar cannot be added"):
        source(jars="file:/elsewhere.jar").execute(context())
