"""Jobs that run away from the worker: submitted, found again, deferred, and their end told.

spark-submit is a script; YARN's ResourceManager is a real HTTP server; Airflow's task state store is a dict.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
from airflow.providers.common.compat.module_loading import import_string
from airflow.providers.common.compat.sdk import AirflowTaskTimeout, TaskDeferred
from requests.auth import HTTPBasicAuth

from airflow_kconnect import KafkaSourceOperator
from airflow_kconnect.errors import (
    ConnectorConfigError,
    ConnectorFencedError,
    ConnectorRetriableError,
    ConnectorRunError,
)
from airflow_kconnect.hooks.services.staging import Staging
from airflow_kconnect.runs.events import event_line
from tests.support.airflow.operator_runs import REPORT, SOURCE, context, source
from tests.support.airflow.versions import needs_airflow_3_3
from tests.support.connectors.group_tasks import Store
from tests.support.kafka import eventually
from tests.support.spark.fake_spark import FakeSpark, printing
from tests.support.spark.resource_manager import APPLICATION, ResourceManager, resource_manager

SUBMITTED = printing(f"INFO YarnClientImpl: Submitted application {APPLICATION}")
FACTS = {"connector": "lines", "run_id": "d/manual__1/t#1", "token": ANY}


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSpark:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    (tmp_path / "run-files").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "run-files"))
    kafka = {"bootstrap.servers": "broker:9092", "sasl.password": "conn-pass-1"}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps({"conn_type": "kafka", "extra": kafka}))
    spark = FakeSpark(tmp_path)
    spark.behave(SUBMITTED)
    return spark


@pytest.fixture
def yarn(spark: FakeSpark, monkeypatch: pytest.MonkeyPatch) -> Iterator[ResourceManager]:
    """A ResourceManager on which the application runs; `spark_default` submits to it in cluster mode."""
    with resource_manager("RUNNING") as manager:
        extra = {"deploy-mode": "cluster", "yarn_resourcemanager_webapp_address": manager.address}
        monkeypatch.setenv(
            "AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "yarn", "extra": extra})
        )
        yield manager


def _context(store: Store | None = None, *, try_number: int = 1, clear_number: int = 0) -> Any:
    found = context(clear_number=clear_number)
    found["ti"].try_number = try_number
    return found | ({} if store is None else {"task_state_store": store})


def _source(**parameters: Any) -> KafkaSourceOperator:
    return source(**{"deferrable": True} | parameters)


def _defer(operator: KafkaSourceOperator, context: Any) -> TaskDeferred:
    with pytest.raises(TaskDeferred) as deferred:
        operator.execute(context)
    return deferred.value


def _stage_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connection = json.loads(os.environ["AIRFLOW_CONN_SPARK_DEFAULT"])
    connection["extra"]["staging"] = str(folder)
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))


def _queue_for_a_day(folder: Path) -> list[Path]:
    """What is left of run specs if they were put there a day ago, and another run begins now."""
    specs, before = list(folder.glob("runs/*/run.json")), time.time() - 25 * 3600
    for file in specs:
        os.utime(file, (before, before))
    (other := folder / "other.json").write_text("{}")
    Staging.of(str(folder), None).put_run_spec("other", other)
    return [file for file in specs if file.exists()]


def _submissions(spark: FakeSpark) -> int:
    """How often spark-submit was run since it was last asked; it leaves its command line behind."""
    command = spark.folder / "command.json"
    submitted = command.exists()
    command.unlink(missing_ok=True)
    return int(submitted)


class TestDeferral:
    def test_submits_without_waiting_and_leaves_the_job_to_a_trigger(
        self, spark: FakeSpark, yarn: ResourceManager
    ) -> None:
        deferred = _defer(_source(), _context(Store()))

        command = json.loads((spark.folder / "command.json").read_text())
        assert "spark.yarn.submit.waitAppCompletion=false" in command
        assert deferred.method_name == "execute_complete"
        path, facts = deferred.trigger.serialize()
        assert path == "airflow_kconnect.triggers.spark_job.YarnApplicationTrigger"
        assert facts == {
            "conn_id": "spark_default",
            "job_id": APPLICATION,
            "poll_interval_s": 10,
            "deadline_epoch_s": None,
            "mailbox": None,
        }

    def test_nothing_secret_is_stored(self, spark: FakeSpark, yarn: ResourceManager) -> None:
        store = Store()
        deferred = _defer(_source(), _context(store))

        stored = repr((deferred.trigger.serialize(), deferred.kwargs, store))
        assert "conn-pass-1" not in stored
        assert deferred.kwargs == {"facts": FACTS}

    def test_the_file_was_there_for_the_upload_only(self, spark: FakeSpark, yarn: ResourceManager) -> None:
        upload = f"import os, sys\nassert os.path.exists(sys.argv[sys.argv.index('--files') + 1])\n{SUBMITTED}"
        spark.behave(upload)

        _defer(_source(), _context(Store()))

        assert not list((spark.folder / "run-files").iterdir())

    def test_the_whole_way_through_the_trigger(self, spark: FakeSpark, yarn: ResourceManager) -> None:
        deferred = _defer(_source(), _context(Store()))
        deferred.trigger.poll_interval_s = 0.01

        async def fire() -> Any:
            task = asyncio.ensure_future(anext(aiter(deferred.trigger.run())))
            while yarn.asked < 2:
                await asyncio.sleep(0.01)
            yarn.answer("FINISHED/FAILED", diagnostics="User application exited with status 4")
            return (await task).payload

        event = asyncio.run(fire())
        with pytest.raises(ConnectorFencedError, match="connector lines: job application_"):
            _source().execute_complete(_context(), event, **(deferred.kwargs or {}))

    @pytest.mark.parametrize("status", ["succeeded", "failed", "lost"])
    def test_an_error_in_the_mailbox_counts_whatever_is_said_about_the_job(
        self, spark: FakeSpark, yarn: ResourceManager, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, status: str
    ) -> None:
        _stage_in(tmp_path / "staging", monkeypatch)
        kwargs = _defer(_source(), _context(Store())).kwargs or {}
        error = {"error": "DataError", "message": "2 records are wrong", "exit_code": 1, "errors": None}
        ends = [event_line("report", token=kwargs["facts"]["token"], report=REPORT)]
        ends += [event_line("error", token=kwargs["facts"]["token"], **error)]
        (mailbox,) = (tmp_path / "staging" / "runs").iterdir()
        (mailbox / "end.jsonl").write_text("".join(f"{line}\n" for line in ends))

        event = {"status": status, "job_id": APPLICATION, "message": "has ended"}
        with pytest.raises(ConnectorConfigError, match="2 records are wrong"):
            _source().execute_complete(_context(), event, **kwargs)

    def test_the_run_spec_of_a_job_that_is_queued_for_long_is_kept(
        self, spark: FakeSpark, yarn: ResourceManager, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        _stage_in(tmp_path / "staging", monkeypatch)
        monkeypatch.setattr("airflow_kconnect.triggers.spark_job.KEEP_S", 0)
        path, facts = _defer(_source(), _context(Store())).trigger.serialize()
        trigger = import_string(path)(**facts | {"poll_interval_s": 0.01})

        async def wait() -> None:
            task = asyncio.ensure_future(trigger.wait())
            while yarn.asked < 3:
                await asyncio.sleep(0.01)
            yarn.answer("FINISHED/SUCCEEDED")
            await task

        asyncio.run(wait())
        assert len(_queue_for_a_day(tmp_path / "staging")) == 1

    def test_it_is_kept_by_a_worker_that_waits_too(
        self, spark: FakeSpark, yarn: ResourceManager, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        _stage_in(tmp_path / "staging", monkeypatch)
        monkeypatch.setattr("airflow_kconnect.hooks.services.staging.KEEP_S", 0.01)

        def end_when_it_is_kept() -> int:
            try:
                eventually(lambda: len(list(tmp_path.glob("staging/runs/*/waited-for"))), 1)
                return len(_queue_for_a_day(tmp_path / "staging"))
            finally:
                yarn.answer("FINISHED/SUCCEEDED")

        with ThreadPoolExecutor(1) as pool:
            kept = pool.submit(end_when_it_is_kept)
            _source(deferrable=False).execute(_context(Store()))
            assert kept.result() == 1

    def test_execution_timeout_is_the_triggers_deadline(self, spark: FakeSpark, yarn: ResourceManager) -> None:
        context = _context(Store())
        context["ti"].start_date = datetime(2026, 1, 1, tzinfo=UTC)

        deferred = _defer(_source(execution_timeout=timedelta(hours=1)), context)

        assert deferred.trigger.serialize()[1]["deadline_epoch_s"] == datetime(2026, 1, 1, 1, tzinfo=UTC).timestamp()
        assert deferred.timeout in (300, timedelta(minutes=5))

    def test_the_default_is_airflows(self) -> None:
        assert _source().deferrable
        assert not KafkaSourceOperator(task_id="read", connector=SOURCE).deferrable


class TestNotDeferrable:
    def _logged(self, operator: KafkaSourceOperator, capsys: pytest.CaptureFixture[str]) -> str:
        try:
            operator.execute(_context(Store()))
        except ConnectorRunError as error:
            assert "no report" in str(error)
        return capsys.readouterr().out

    @pytest.mark.parametrize("master", ["local[2]", "spark://master:7077", "yarn"])
    def test_in_client_mode_it_runs_as_usual(
        self, spark: FakeSpark, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], master: str
    ) -> None:
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": master}))

        assert f"Not deferred: in client mode, on {master}, the driver is a child" in self._logged(_source(), capsys)

    @needs_airflow_3_3  # older ones never find a job again
    def test_yarn_without_an_address_runs_as_usual(
        self, spark: FakeSpark, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        connection = {"conn_type": "spark", "host": "yarn", "extra": {"deploy-mode": "cluster"}}
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))

        logged = self._logged(_source(), capsys)

        assert "Not deferred: the Spark connection has no extra `yarn_resourcemanager_webapp_address`" in logged
        assert "A retry cannot find this job again" in logged

    @pytest.mark.parametrize(
        ("parameters", "reason"),
        [
            ({"yarn_rm_auth": HTTPBasicAuth("u", "p")}, "the ResourceManager wants an authentication"),
            ({"post_submit_commands": ["true"]}, "`post_submit_commands` are run by a worker"),
        ],
    )
    def test_what_only_a_worker_can_do(
        self,
        spark: FakeSpark,
        yarn: ResourceManager,
        capsys: pytest.CaptureFixture[str],
        parameters: dict[str, Any],
        reason: str,
    ) -> None:
        yarn.answer("FINISHED/SUCCEEDED")

        assert f"Not deferred: {reason}" in self._logged(_source(**parameters), capsys)

    def test_settings_that_contradict_each_other_are_not_retried(self, spark: FakeSpark, yarn: ResourceManager) -> None:
        with pytest.raises(ConnectorConfigError, match="waitAppCompletion=true cannot be set"):
            _source(conf={"spark.yarn.submit.waitAppCompletion": "true"}).execute(_context())

    def test_kubernetes_without_its_provider(self, spark: FakeSpark, monkeypatch: pytest.MonkeyPatch) -> None:
        connection = {"conn_type": "spark", "host": "k8s://https://api:6443", "extra": {"deploy-mode": "cluster"}}
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))

        with pytest.raises(ConnectorConfigError, match="pip install apache-airflow-providers-cncf-kubernetes"):
            _source().execute(_context())


@needs_airflow_3_3
class TestWorkerRestart:
    """An attempt has submitted its job and is gone; the next one begins with nothing but the store."""

    @pytest.fixture
    def store(self, spark: FakeSpark, yarn: ResourceManager) -> Store:
        store = Store()
        _defer(_source(), _context(store))
        assert _submissions(spark) == 1
        return store

    def test_the_job_is_remembered_for_this_clear_only(self, store: Store) -> None:
        assert store == {"spark_job_id:0": APPLICATION, "kconnect_run:0": FACTS}

    def test_a_job_that_runs_is_found_again(self, spark: FakeSpark, yarn: ResourceManager, store: Store) -> None:
        deferred = _defer(_source(), _context(store, try_number=2))

        assert _submissions(spark) == 0
        assert deferred.trigger.serialize()[1]["job_id"] == APPLICATION
        assert deferred.kwargs == {"facts": FACTS}

    def test_also_by_a_task_that_waits_itself(self, spark: FakeSpark, yarn: ResourceManager, store: Store) -> None:
        yarn.answer("RUNNING", "FINISHED/SUCCEEDED")

        assert _source(deferrable=False).execute(_context(store, try_number=2)) is None
        assert _submissions(spark) == 0

    def test_a_job_that_has_succeeded_is_not_run_again(
        self, spark: FakeSpark, yarn: ResourceManager, store: Store
    ) -> None:
        yarn.answer("FINISHED/SUCCEEDED")

        assert _source().execute(_context(store, try_number=2)) is None
        assert _submissions(spark) == 0

    @pytest.mark.parametrize("answer", ["FINISHED/FAILED", "KILLED/KILLED", 404])
    def test_a_job_that_has_failed_or_is_forgotten_is_submitted_again(
        self, spark: FakeSpark, yarn: ResourceManager, store: Store, answer: str | int
    ) -> None:
        yarn.answer(answer)

        _defer(_source(), _context(store, try_number=2))

        assert _submissions(spark) == 1
        assert store["kconnect_run:0"]["run_id"] == "d/manual__1/t#2"

    def test_nothing_is_submitted_while_the_state_of_the_job_is_unknown(
        self, spark: FakeSpark, yarn: ResourceManager, store: Store
    ) -> None:
        yarn.answer(503)

        with pytest.raises(ConnectorRetriableError, match=APPLICATION):
            _source().execute(_context(store, try_number=2))

        assert _submissions(spark) == 0

    def test_a_cleared_run_submits_a_job_of_its_own(
        self, spark: FakeSpark, yarn: ResourceManager, store: Store
    ) -> None:
        _defer(_source(), _context(store, try_number=2, clear_number=1))

        assert _submissions(spark) == 1
        assert set(store) == {"spark_job_id:0", "kconnect_run:0", "spark_job_id:1", "kconnect_run:1"}

    def test_killing_the_task_ends_the_job_that_was_found_again(self, yarn: ResourceManager, store: Store) -> None:
        operator = _source()
        _defer(operator, _context(store, try_number=2))

        operator.on_kill()

        assert yarn.killed == [APPLICATION]


class TestEnd:
    def _ends(self, **event: Any) -> Any:
        event = {"job_id": APPLICATION, "message": "FINISHED/FAILED: gone", "log": "http://log"} | event
        return _source().execute_complete(_context(), event, FACTS)

    def test_success_returns_the_report_if_there_is_one(self) -> None:
        assert self._ends(status="succeeded") is None
        assert self._ends(status="succeeded", report=REPORT) == REPORT

    @pytest.mark.parametrize(
        ("event", "error"),
        [
            ({"status": "failed", "exit_code": 3}, ConnectorRetriableError),
            ({"status": "failed", "exit_code": 4}, ConnectorFencedError),
            ({"status": "failed", "exit_code": 1}, ConnectorRunError),
            ({"status": "failed", "exit_code": None}, ConnectorRunError),
            ({"status": "killed"}, ConnectorRunError),
            ({"status": "lost"}, ConnectorRunError),
            ({"status": "unavailable"}, ConnectorRetriableError),
            ({"status": "timeout"}, AirflowTaskTimeout),
        ],
    )
    def test_failures_are_reported_by_kind_and_name_the_log(
        self, event: dict[str, Any], error: type[BaseException]
    ) -> None:
        with pytest.raises(error, match=r"connector lines: .*The driver's log: http://log") as caught:
            self._ends(**event)

        assert type(caught.value) is error

    def test_the_jobs_own_words_win(self) -> None:
        error = {"error": "ConfigError", "message": "`topic` is missing", "exit_code": 1}
        with pytest.raises(ConnectorConfigError, match=r"^`topic` is missing$"):
            self._ends(status="failed", exit_code=1, error=error)


def test_a_job_that_was_waited_for_here_fails_by_kind_too(spark: FakeSpark, yarn: ResourceManager) -> None:
    yarn.answer("FINISHED/FAILED", diagnostics="User application exited with status 3")

    with pytest.raises(ConnectorRetriableError, match="status 3"):
        _source(deferrable=False).execute(_context(Store()))
