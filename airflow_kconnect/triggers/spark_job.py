"""Triggers that wait for a connector's job on YARN, Kubernetes or a service, so that no worker has to."""

from __future__ import annotations

import asyncio
import time
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, Protocol, TypeVar

from airflow.sdk import BaseHook, TaskInstanceState
from airflow.triggers.base import BaseTrigger, TriggerEvent
from asgiref.sync import sync_to_async

from airflow_kconnect.connect.errors import ConfigError, ConnectError, named
from airflow_kconnect.hooks.clusters.driver_pod import DriverPods
from airflow_kconnect.hooks.clusters.job_status import ClusterManagerUnavailableError, JobStatus
from airflow_kconnect.hooks.clusters.yarn import YarnResourceManager
from airflow_kconnect.hooks.services.base import SparkService
from airflow_kconnect.hooks.services.registry import open_service
from airflow_kconnect.hooks.services.staging import KEEP_S, Staging

TIMEOUT, UNAVAILABLE = "timeout", "unavailable"
_MOST_FAILURES = 10
_SIGN_OF_LIFE_S = 300
_T = TypeVar("_T")
# An event loop itself does not keep a task.
_endings: set[asyncio.Task[None]] = set()


class ClusterManager(Protocol):
    """What a trigger needs from YARN, Kubernetes or a service."""

    async def status(self, job_id: str) -> JobStatus:
        """The job's status. :raises ClusterManagerUnavailableError: ask again later."""

    async def kill(self, job_id: str) -> None:
        """End the job; it is not an error if it has already ended.

        :raises ClusterManagerUnavailableError: the job was not ended.
        """


class SparkJobTrigger(BaseTrigger):
    """Polls a cluster manager until the job has ended, then fires once; runs in the triggerer's event loop.

    The event is `{"status", "job_id", "message", "exit_code", "log", "report", "error"}`. Its status is a value of
    `JobOutcome`; or `timeout`: the job was ended because the task timed out; or `unavailable`: the manager has not
    answered ten times in a row, and the job may still be running.

    Two instances may run for one job when triggerers change: neither changes anything before the deadline.

    :param job_id: the manager's id of the job.
    :param poll_interval_s: seconds between two requests.
    :param deadline_epoch_s: when the task's `execution_timeout` ends; None: never.
    :param mailbox: `Staging.facts` of the job's; None: it has none.
    """

    def __init__(
        self,
        *,
        job_id: str,
        poll_interval_s: float,
        deadline_epoch_s: float | None = None,
        mailbox: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.job_id = job_id
        self.poll_interval_s = poll_interval_s
        self.deadline_epoch_s = deadline_epoch_s
        self.mailbox = mailbox
        self._kept_s = -KEEP_S  # no triggerer may have run for long: the first thing is to keep it

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Class and parameters; Airflow stores them, so none of them is a secret."""
        cls = type(self)
        facts = {
            "job_id": self.job_id,
            "poll_interval_s": self.poll_interval_s,
            "deadline_epoch_s": self.deadline_epoch_s,
            "mailbox": self.mailbox,
        }
        return f"{cls.__module__}.{cls.__qualname__}", facts

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Fire exactly once, whatever happens."""
        yield TriggerEvent(await self.wait())  # type: ignore[no-untyped-call]

    async def on_kill(self) -> None:
        """End the job: a user has marked or cleared the task.

        Airflow calls it, too, when another triggerer has taken over; then the job is left alone. And Airflow cancels
        this call if it takes longer than a second or two, which a service may need: the job is ended nevertheless.
        """
        ending = asyncio.create_task(self._kill())
        _endings.add(ending)
        ending.add_done_callback(_endings.discard)
        await asyncio.shield(ending)

    async def _kill(self) -> None:
        if await self._is_deferred():
            self.log.info("Job %s continues: the task still waits for it, by another triggerer", self.job_id)
            return
        try:
            async with await self._manager() as manager:
                self.log.info("Ending job %s", self.job_id)
                await manager.kill(self.job_id)
        except Exception as error:  # Airflow says it only if it has not cancelled what waits for this
            self.log.warning("Job %s may still be running: %s", self.job_id, named(error))
            raise
        finally:
            await self._in_staging(Staging.clear, "the run's configuration may still be in the staging folder")

    async def _is_deferred(self) -> bool:
        """Whether the task waits: no user has done anything with it."""
        task = self.task_instance
        if task is None:
            return False
        from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance

        try:
            ask = partial(RuntimeTaskInstance.get_task_states, task.dag_id, task.map_index, [task.task_id])
            states = await _in_thread(partial(ask, run_ids=[task.run_id]))
        except Exception as error:  # a job that no one waits for costs more than one that runs again
            self.log.warning("Job %s is ended, though Airflow does not say the task's state: %s", self.job_id, error)
            return False
        return [*states.get(task.run_id, {}).values()] == [TaskInstanceState.DEFERRED]

    @abstractmethod
    async def _manager(self) -> AbstractAsyncContextManager[ClusterManager]:
        """The cluster manager."""

    async def wait(self) -> dict[str, Any]:
        """Wait until the job has ended; returns the event without firing it, for a worker that waits itself."""
        try:
            async with await self._manager() as manager:
                return await self._wait(manager)
        except (ClusterManagerUnavailableError, ConfigError) as error:
            return self._payload(UNAVAILABLE, str(error))
        except Exception as error:
            self.log.exception("Waiting for job %s failed", self.job_id)
            return self._payload(UNAVAILABLE, named(error))

    async def _wait(self, manager: ClusterManager) -> dict[str, Any]:
        failures, state, said_s = 0, "", 0.0
        while True:
            try:
                status = await manager.status(self.job_id)
            except ClusterManagerUnavailableError as error:
                failures += 1
                self.log.warning("No news of job %s (%d of %d): %s", self.job_id, failures, _MOST_FAILURES, error)
                if failures >= _MOST_FAILURES:
                    raise
            else:
                failures = 0
                if status.outcome is not None:
                    return self._ended(status)
                if status.state != state or time.monotonic() - said_s >= _SIGN_OF_LIFE_S:
                    self.log.info("Job %s is %s", self.job_id, status.state)
                    said_s = time.monotonic()
                state = status.state
            if self.deadline_epoch_s is not None and time.time() >= self.deadline_epoch_s:
                await manager.kill(self.job_id)
                return self._payload(TIMEOUT, f"was {state or 'without news'} when the task's time was over")
            await self._keep_mailbox()
            await asyncio.sleep(self.poll_interval_s)

    async def _keep_mailbox(self) -> None:
        """The job may be queued for days, and needs its run spec when it begins."""
        if self.mailbox is None or time.monotonic() - self._kept_s < KEEP_S:
            return
        self._kept_s = time.monotonic()
        await self._in_staging(Staging.keep, "its mailbox may be removed before it has begun")

    async def _in_staging(self, do: Callable[[Staging, str], None], trouble: str) -> None:
        """Do something with the mailbox, if there is one. :param trouble: what may be if that fails."""
        if self.mailbox is None:
            return
        try:
            staging = await _in_thread(Staging.of, self.mailbox["folder"], self.mailbox["conn_id"])
            await _in_thread(do, staging, self.mailbox["run"])
        except ConnectError as error:
            self.log.warning("Job %s: %s: %s", self.job_id, trouble, error)

    def _ended(self, status: JobStatus) -> dict[str, Any]:
        assert status.outcome is not None
        message = f"{status.state}: {status.reason}" if status.reason else status.state
        facts = {"exit_code": status.exit_code, "log": status.log, "report": status.report, "error": status.error}
        return self._payload(status.outcome.value, message) | facts

    def _payload(self, status: str, message: str) -> dict[str, Any]:
        return {"status": status, "job_id": self.job_id, "message": message}


class _ConnectionTrigger(SparkJobTrigger):
    """Whose cluster manager is reached by an Airflow connection.

    :param conn_id: that Spark connection.
    """

    def __init__(self, *, conn_id: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.conn_id = conn_id

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Class and parameters, with the connection as its id."""
        path, facts = super().serialize()
        return path, {**facts, "conn_id": self.conn_id}


class YarnApplicationTrigger(_ConnectionTrigger):
    """Waits for a YARN application, through the ResourceManager's REST API: the connection's extra names it."""

    async def _manager(self) -> AbstractAsyncContextManager[ClusterManager]:
        return await YarnResourceManager.of_connection(self.conn_id)


class ServiceJobTrigger(_ConnectionTrigger):
    """Waits for a job on a service, such as EMR Serverless, which the connection names."""

    async def _manager(self) -> AbstractAsyncContextManager[ClusterManager]:
        connection = await BaseHook.aget_connection(self.conn_id)
        return _InThreads(await _in_thread(open_service, connection, self.conn_id))


class _InThreads:
    """A service, whose provider's hook may block, for an event loop."""

    def __init__(self, service: SparkService) -> None:
        self._service = service

    async def __aenter__(self) -> _InThreads:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def status(self, job_id: str) -> JobStatus:
        return await _in_thread(self._service.status, job_id)

    async def kill(self, job_id: str) -> None:
        await _in_thread(self._service.end, job_id)


async def _in_thread(function: Callable[..., _T], *arguments: Any) -> _T:
    """Call a function that blocks and asks for Airflow's connections: a triggerer before Airflow 3.3 answers that in
    its own event loop only, which a thread of `asyncio.to_thread` does not know.
    """
    return await sync_to_async(function, thread_sensitive=False)(*arguments)


class DriverPodTrigger(SparkJobTrigger):
    """Waits for a driver's pod on Kubernetes; `job_id` is `namespace:pod`.

    :param token: the prefix of the job's events; not a secret to users who may read its log.
    """

    def __init__(self, *, token: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.token = token

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Class and parameters, with the token."""
        path, facts = super().serialize()
        return path, {**facts, "token": self.token}

    async def _manager(self) -> AbstractAsyncContextManager[ClusterManager]:
        # It reads files and modules, once.
        return await asyncio.to_thread(DriverPods, self.token)
