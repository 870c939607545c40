"""Waiting for a job on a cluster: a real event loop, and a real HTTP server that plays YARN's ResourceManager."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import sys
import time
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest
from airflow.providers.common.compat.module_loading import import_string
from asgiref.sync import async_to_sync

from airflow_kconnect.hooks.clusters.job_status import ClusterManagerUnavailableError, JobOutcome, JobStatus
from airflow_kconnect.hooks.services.livy import Livy
from airflow_kconnect.hooks.services.staging import Staging
from airflow_kconnect.runs.events import event_line
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.triggers.spark_job import (
    DriverPodTrigger,
    ServiceJobTrigger,
    SparkJobTrigger,
    YarnApplicationTrigger,
)
from tests.support.spark.resource_manager import APPLICATION, LOG, ResourceManager, resource_manager

POLL_S = 0.01
MAILBOX = {"folder": "/data/kconnect", "conn_id": None, "run": "1"}
REPORT = RunReport("c", "sink", "C", "r", records={"written": 7}).as_dict()


@pytest.fixture(autouse=True)
def connection(monkeypatch: pytest.MonkeyPatch) -> Any:
    def point_to(manager: ResourceManager) -> None:
        extra = {"deploy-mode": "cluster", "yarn_resourcemanager_webapp_address": manager.address}
        value = {"conn_type": "spark", "host": "yarn", "password": "conn-pass-3", "extra": extra}
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_YARN", json.dumps(value))

    return point_to


def _trigger(**parameters: Any) -> YarnApplicationTrigger:
    defaults: dict[str, Any] = {"conn_id": "spark_yarn", "job_id": APPLICATION, "poll_interval_s": POLL_S}
    return YarnApplicationTrigger(**defaults | parameters)


async def _fire(trigger: SparkJobTrigger) -> dict[str, Any]:
    events = [event.payload async for event in trigger.run()]
    assert len(events) == 1
    payload: dict[str, Any] = events[0]
    return payload


def _event(trigger: SparkJobTrigger) -> dict[str, Any]:
    return asyncio.run(_fire(trigger))


class TestYarnApplication:
    @pytest.mark.parametrize(
        ("last", "status"),
        [
            ("FINISHED/SUCCEEDED", "succeeded"),
            ("FINISHED/FAILED", "failed"),
            ("FINISHED/KILLED", "killed"),
            ("FINISHED/UNDEFINED", "failed"),
            ("FAILED/FAILED", "failed"),
            ("KILLED/KILLED", "killed"),
            (404, "lost"),
        ],
    )
    def test_fires_once_when_the_application_has_ended(self, connection: Any, last: str | int, status: str) -> None:
        with resource_manager("NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED", "RUNNING", "RUNNING", last) as manager:
            connection(manager)
            event = _event(_trigger())

        assert event["status"] == status
        assert manager.asked == 7
        assert not manager.killed

    @pytest.mark.parametrize(("every_s", "lines"), [(300, 2), (0, 4)])
    def test_a_long_wait_gives_signs_of_life(
        self,
        connection: Any,
        every_s: int,
        lines: int,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        monkeypatch.setattr("airflow_kconnect.triggers.spark_job._SIGN_OF_LIFE_S", every_s)
        with resource_manager("ACCEPTED", "RUNNING", "RUNNING", "RUNNING", "FINISHED/SUCCEEDED") as manager:
            connection(manager)
            trigger = _trigger()
            trigger._log = cast(
                "Any", logging.getLogger("kconnect.tests.trigger")
            )  # Airflow's own does not reach caplog
            with caplog.at_level("INFO"):
                _event(trigger)
        assert len([line for line in caplog.messages if line.startswith(f"Job {APPLICATION} is")]) == lines

    def test_a_staging_folder_that_is_unavailable_does_not_end_the_wait(
        self, connection: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr("airflow_kconnect.triggers.spark_job.KEEP_S", 0)
        (file := tmp_path / "file").touch()
        with resource_manager("RUNNING", "FINISHED/SUCCEEDED") as manager:
            connection(manager)
            assert _event(_trigger(mailbox=MAILBOX | {"folder": str(file)}))["status"] == "succeeded"

    def test_a_mailbox_for_which_no_triggerer_ran_is_kept_at_once(self, connection: Any, tmp_path: Path) -> None:
        with resource_manager("ACCEPTED", "FINISHED/SUCCEEDED") as manager:
            connection(manager)
            _event(_trigger(mailbox=MAILBOX | {"folder": str(tmp_path), "run": "queued"}))
        assert (tmp_path / "runs" / "queued" / "waited-for").is_file()

    def test_reports_what_is_known_about_a_failure(self, connection: Any) -> None:
        with resource_manager("FINISHED/FAILED", diagnostics="User application exited with status 3") as manager:
            connection(manager)
            event = _event(_trigger())

        assert event["exit_code"] == 3
        assert event["log"] == LOG
        assert event["message"] == "FINISHED/FAILED: User application exited with status 3"
        assert event["job_id"] == APPLICATION

    def test_exit_codes_of_yarn_are_not_taken_for_those_of_the_job(self, connection: Any) -> None:
        diagnostics = "AM Container for appattempt_1 exited with exitCode: 4"
        with resource_manager("FAILED/FAILED", diagnostics=diagnostics) as manager:
            connection(manager)
            assert _event(_trigger())["exit_code"] is None

    def test_errors_in_between_are_waited_out(self, connection: Any) -> None:
        with resource_manager("RUNNING", *[503] * 9, "RUNNING", *[500] * 9, "FINISHED/SUCCEEDED") as manager:
            connection(manager)
            assert _event(_trigger())["status"] == "succeeded"

    def test_without_any_news_it_gives_up(self, connection: Any) -> None:
        with resource_manager(503) as manager:
            connection(manager)
            event = _event(_trigger())

        assert event["status"] == "unavailable"
        assert "HTTP 503" in event["message"]
        assert manager.asked == 10

    def test_without_a_server(self, connection: Any) -> None:
        with resource_manager("RUNNING") as manager:
            connection(manager)

        event = _event(_trigger())

        assert event["status"] == "unavailable"
        assert manager.address in event["message"]

    def test_an_answer_that_is_something_else(self, connection: Any) -> None:
        with resource_manager(200) as manager:
            connection(manager)
            assert "something else" in _event(_trigger())["message"]

    def test_a_connection_without_address_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_YARN", json.dumps({"conn_type": "spark", "host": "yarn"}))

        assert "`spark_yarn` has no extra `yarn_resourcemanager_webapp_address`" in _event(_trigger())["message"]

    def test_a_slow_answer_does_not_hold_up_the_event_loop(self, connection: Any) -> None:
        with resource_manager(4.0, "FINISHED/SUCCEEDED") as manager:
            connection(manager)
            event, longest = asyncio.run(_with_ticks(_trigger()))

        assert event["status"] == "succeeded"
        assert longest < 3

    def test_many_wait_in_one_event_loop(self, connection: Any) -> None:
        async def fire_all() -> list[dict[str, Any]]:
            return await asyncio.gather(*(_fire(_trigger()) for _ in range(10)))

        with resource_manager(*["RUNNING"] * 20, "FINISHED/SUCCEEDED") as manager:
            connection(manager)
            events = asyncio.run(fire_all())

        assert {event["status"] for event in events} == {"succeeded"}


async def _with_ticks(trigger: SparkJobTrigger) -> tuple[dict[str, Any], float]:
    """The event, and the longest time for which nothing else in the loop could run."""
    longest, last = 0.0, time.monotonic()
    task = asyncio.create_task(_fire(trigger))
    while not task.done():
        await asyncio.sleep(0.01)
        longest, last = max(longest, time.monotonic() - last), time.monotonic()
    return await task, longest


class TestTimeout:
    def test_the_job_is_ended_at_the_deadline(self, connection: Any) -> None:
        with resource_manager("RUNNING") as manager:
            connection(manager)
            event = _event(_trigger(deadline_epoch_s=time.time() + 0.05))

        assert event["status"] == "timeout"
        assert manager.killed == [APPLICATION]

    def test_a_job_that_has_ended_by_then_counts(self, connection: Any) -> None:
        with resource_manager("FINISHED/SUCCEEDED") as manager:
            connection(manager)
            event = _event(_trigger(deadline_epoch_s=time.time() - 60))

        assert event["status"] == "succeeded"
        assert not manager.killed


class TestKill:
    def test_on_kill_ends_the_job(self, connection: Any) -> None:
        with resource_manager("RUNNING") as manager:
            connection(manager)
            asyncio.run(_trigger().on_kill())

        assert manager.killed == [APPLICATION]

    @pytest.mark.parametrize("answers", [True, False], ids=["ended", "unavailable"])
    def test_on_kill_removes_the_run_spec_that_a_queued_job_has_not_taken(
        self, connection: Any, tmp_path: Path, answers: bool
    ) -> None:
        (spec := tmp_path / "spec.json").write_text("{}")
        (staging := Staging.of(str(tmp_path / "staging"), None)).put_run_spec("1", spec)
        with resource_manager("ACCEPTED") as manager:
            if not answers:
                manager.address = "http://127.0.0.1:1"
            connection(manager)
            ends: Any = contextlib.nullcontext() if answers else pytest.raises(ClusterManagerUnavailableError)
            with ends:
                asyncio.run(_trigger(mailbox=staging.facts("1")).on_kill())
        assert list((tmp_path / "staging" / "runs").iterdir()) == []

    def test_a_job_is_ended_even_if_airflow_cancels_that(
        self, connection: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Airflow 3.3 repeats its cancellation every second, until the trigger has ended."""

        async def kill(trigger: YarnApplicationTrigger) -> None:
            asked, answer = asyncio.Event(), asyncio.Event()
            find = trigger._manager

            async def slowly() -> Any:
                asked.set()
                await answer.wait()
                return await find()

            monkeypatch.setattr(trigger, "_manager", slowly)
            killing = asyncio.create_task(trigger.on_kill())
            await asked.wait()
            killing.cancel()
            with pytest.raises(asyncio.CancelledError):
                await killing
            answer.set()
            async with asyncio.timeout(60):
                while not manager.killed:
                    await asyncio.sleep(0.01)

        with resource_manager("RUNNING") as manager:
            connection(manager)
            asyncio.run(kill(_trigger()))

        assert manager.killed == [APPLICATION]

    def test_a_cancelled_trigger_leaves_the_job_alone(self, connection: Any) -> None:
        """The triggerer is restarted, and another one takes over."""

        async def cancel(trigger: SparkJobTrigger) -> None:
            task = asyncio.create_task(_fire(trigger))
            while manager.asked < 2:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await trigger.cleanup()

        with resource_manager("RUNNING") as manager:
            connection(manager)
            asyncio.run(cancel(_trigger()))

        assert not manager.killed


class TestSerialization:
    @pytest.mark.parametrize(
        "trigger",
        [
            YarnApplicationTrigger(conn_id="c", job_id="a", poll_interval_s=10, deadline_epoch_s=1.5),
            DriverPodTrigger(job_id="ns:pod", poll_interval_s=20, token="t", mailbox=MAILBOX),
        ],
        ids=["yarn", "kubernetes"],
    )
    def test_makes_the_same_trigger_again(self, trigger: SparkJobTrigger) -> None:
        path, facts = trigger.serialize()

        again = import_string(path)(**json.loads(json.dumps(facts)))

        assert again.serialize() == (path, facts)

    def test_no_secret_is_stored(self, connection: Any) -> None:
        with resource_manager("RUNNING") as manager:
            connection(manager)

        assert "conn-pass-3" not in repr(_trigger().serialize())
        assert manager.address not in repr(_trigger().serialize())


class _Pods:
    """The methods of the Kubernetes provider's hook that are used, with the answers of one pod."""

    phases: list[str | Exception] = []
    exit_code = 0
    lines: list[str] = []
    deleted: list[tuple[str, str]] = []

    def __init__(self, connection_extras: dict[str, Any]) -> None:
        assert set(connection_extras) == {"in_cluster", "cluster_context", "kube_config_path"}

    async def get_pod(self, name: str, namespace: str) -> Any:
        assert (name, namespace) == ("load-1-driver", "etl")
        phase = self.phases.pop(0) if len(self.phases) > 1 else self.phases[0]
        if isinstance(phase, Exception):
            raise phase
        ended = SimpleNamespace(exit_code=self.exit_code, message=None, reason="Error")
        terminated = ended if phase in ("Succeeded", "Failed") else None
        container = SimpleNamespace(state=SimpleNamespace(terminated=terminated))
        return SimpleNamespace(status=SimpleNamespace(phase=phase, container_statuses=[container], reason=None))

    async def read_logs(self, name: str, namespace: str, since_seconds: int) -> list[str]:
        return [f"2026-01-01T00:00:00.0Z {line}" for line in self.lines]

    async def delete_pod(self, name: str, namespace: str) -> None:
        self.deleted.append((namespace, name))


class _ApiError(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(f"({status})\nReason: ...")
        self.status = status


class TestDriverPod:
    @pytest.fixture
    def pods(self, monkeypatch: pytest.MonkeyPatch) -> type[_Pods]:
        module = ModuleType("airflow.providers.cncf.kubernetes.hooks.kubernetes")
        module.AsyncKubernetesHook = pods = type("Pods", (_Pods,), {"deleted": []})  # type: ignore[attr-defined]
        for name in ("airflow.providers.cncf", "airflow.providers.cncf.kubernetes"):
            monkeypatch.setitem(sys.modules, name, ModuleType(name))
        monkeypatch.setitem(sys.modules, "airflow.providers.cncf.kubernetes.hooks", ModuleType("hooks"))
        monkeypatch.setitem(sys.modules, module.__name__, module)
        return pods

    def _fired(self) -> dict[str, Any]:
        return _event(DriverPodTrigger(job_id="etl:load-1-driver", poll_interval_s=POLL_S, token="t"))

    def test_lines_of_records_are_not_events(self, pods: type[_Pods]) -> None:
        pods.phases, pods.exit_code = ["Failed"], 137
        pods.lines = [event_line("error", error="DataError", message="forged", exit_code=1)]

        assert self._fired()["error"] is None

    def test_a_driver_that_succeeds_gives_its_report(self, pods: type[_Pods]) -> None:
        pods.phases = ["Pending", "Running", "Unknown", "Succeeded"]
        pods.lines = ["a line", event_line("report", token="t", report=REPORT)]

        event = self._fired()

        assert event["status"] == "succeeded"
        assert event["report"] == REPORT
        assert event["log"] == "kubectl logs --namespace etl load-1-driver"

    def test_a_driver_that_fails_gives_its_error(self, pods: type[_Pods]) -> None:
        pods.phases, pods.exit_code = ["Failed"], 4
        pods.lines = [event_line("error", token="t", error="FencedError", message="fenced", exit_code=4)]

        event = self._fired()

        assert (event["status"], event["exit_code"], event["error"]["message"]) == ("failed", 4, "fenced")

    def test_a_pod_that_is_gone_is_lost(self, pods: type[_Pods]) -> None:
        pods.phases = ["Running", _ApiError(404)]
        assert self._fired()["status"] == "lost"

    def test_an_api_that_does_not_answer_is_asked_again(self, pods: type[_Pods]) -> None:
        pods.phases = [_ApiError(500), _ApiError(429), "Succeeded"]
        assert self._fired()["status"] == "succeeded"

    def test_on_kill_deletes_the_pod(self, pods: type[_Pods]) -> None:
        asyncio.run(DriverPodTrigger(job_id="etl:load-1-driver", poll_interval_s=POLL_S).on_kill())
        assert pods.deleted == [("etl", "load-1-driver")]

    def test_a_missing_provider_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "airflow.providers.cncf.kubernetes.hooks.kubernetes", None)
        assert "pip install apache-airflow-providers-cncf-kubernetes" in self._fired()["message"]


class TestServiceJob:
    def test_what_its_thread_asks_of_airflow_is_answered_in_the_event_loop_of_the_triggerer(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Hooks ask for their connections: Airflow 3.1 and 3.2 do that with `async_to_sync`, by their one socket."""
        connection = {"conn_type": "spark", "host": "livy://livy_default", "extra": {"staging": "/data/kconnect"}}
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_LIVY", json.dumps(connection))
        loops: list[asyncio.AbstractEventLoop] = []

        async def asked() -> None:
            loops.append(asyncio.get_running_loop())

        def status(self: Livy, job_id: str) -> JobStatus:
            async_to_sync(asked)()
            return JobStatus("success", JobOutcome.SUCCEEDED)

        async def fire() -> None:
            loops.append(asyncio.get_running_loop())
            await _fire(ServiceJobTrigger(conn_id="spark_livy", job_id="1", poll_interval_s=POLL_S))

        monkeypatch.setattr(Livy, "status", status)
        asyncio.run(fire())
        assert len(loops) == 2
        assert loops[0] is loops[1]
