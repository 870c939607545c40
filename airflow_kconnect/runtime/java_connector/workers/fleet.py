"""The workers of a run on Spark's executors: a Spark job with a task for each, controlled by the driver."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from airflow_kconnect.connect.errors import ConnectError, RetriableError
from airflow_kconnect.hosted.control import Address, Line, Switchboard
from airflow_kconnect.hosted.worker.herder import Listening
from airflow_kconnect.hosted.worker.workers import RemoteWorker
from airflow_kconnect.hosting.keys import START_TIMEOUT_MS, WORKERS
from airflow_kconnect.runs.warnings import Kind, RunWarning
from airflow_kconnect.runtime.java_connector.workers.remote import HostTask, host
from airflow_kconnect.runtime.process.session import LazySession
from airflow_kconnect.validation.connector import ValidatedConfig

log = logging.getLogger("kconnect.hosted")

_BEAT_S = 1.0
_POLL_S = 0.1
# Executors come one after the other; those of a cluster that is full do not come at all.
_NO_MORE_S = 20.0
_END_S = 75.0


def wanted(config: ValidatedConfig, session: LazySession) -> int:
    """On how many executors a run hosts further workers: none if there is one task at most, or the master is local."""
    tasks = int(config.common["tasks.max"])
    most = min(tasks, config.common[WORKERS] or tasks)
    if most < 2 or session.is_local:
        return 0
    return min(most - 1, session.parallelism())


class Fleet:
    """The further workers of a run. Use it as a context manager: `launch`, `await_ready`, `join`, `stop`.

    :param config: of the connector.
    :param size: how many workers are wanted.
    """

    def __init__(self, session: LazySession, config: ValidatedConfig, size: int) -> None:
        self._session, self._config, self._size = session, config, size
        self._timeout_s = config.common[START_TIMEOUT_MS] / 1000
        self._lock = threading.Lock()
        self._open, self._closed = True, False
        self._arrived_s = time.monotonic()
        self._job: threading.Thread | None = None
        self._job_error: str | None = None
        self._pool = ThreadPoolExecutor(size, thread_name_prefix="hosted-fleet")
        self._group = f"kconnect-{secrets.token_hex(4)}"
        self.workers: list[RemoteWorker] = []
        """Those that have come."""
        self.warnings: list[str] = []
        """For the report."""
        spark = session.spark
        self.listening = Listening(
            str(spark.conf.get("spark.driver.bindAddress", session.driver_host)), session.driver_host
        )
        """Where the driver's own worker is reached by the others."""
        self._worker_id = ""
        key = secrets.token_bytes(32)
        self._switchboard = Switchboard(self.listening.bind, self.listening.host, key, self._called)

    @property
    def address(self) -> Address:
        """Where executors call."""
        return self._switchboard.address

    def __enter__(self) -> Fleet:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def launch(self, task: HostTask) -> None:
        """Start the Spark job; its tasks start their workers as soon as they have an executor."""
        from pyspark import InheritableThread

        self._worker_id = task.worker_id
        self._arrived_s = time.monotonic()
        self._job = InheritableThread(target=self._run, args=(task,), daemon=True)
        self._job.start()

    def await_ready(self) -> None:
        """Wait until the workers are ready to join. A cluster may have room for fewer.

        :raises ConnectError: one cannot start. :raises RetriableError: none has come in time.
        """
        while True:
            self.check()
            now = time.monotonic()
            ready = sum(worker.ready for worker in self.workers)
            if ready == self._size:
                return
            silent_s = now - self._arrived_s
            if ready == len(self.workers) and silent_s > (_NO_MORE_S if ready else self._timeout_s):
                with self._lock:
                    self._open = False
                if not self.workers:
                    raise RetriableError(
                        f"no executor of Spark has started a worker within {self._timeout_s:.0f} s"
                        f" (`{START_TIMEOUT_MS}`): the cluster has no room, or its executors cannot start. With"
                        f" `{WORKERS}` = 1 none are needed"
                    )
                text = f"{1 + ready} Connect workers run instead of {1 + self._size}: Spark has no room for more tasks"
                text += f". Set `{WORKERS}` to what there is room for, and runs start sooner"
                self.warnings.append(RunWarning(Kind.CONFIGURATION, text))
                log.warning("%s", self.warnings[-1])
                return
            time.sleep(_POLL_S)

    def join(self) -> None:
        """Have all of them join the group: they get tasks as soon as there are some."""
        self.each(RemoteWorker.join)

    def check(self) -> None:
        """:raises ConnectError: a worker cannot start, has ended or cannot be reached, or Spark has ended its task."""
        for worker in list(self.workers):
            worker.check()
        if self._job_error is not None:
            raise RetriableError(
                f"connector {self._config.name}: Spark ended the job that hosts its workers: {self._job_error}"
            )

    def each(self, do: Callable[[RemoteWorker], Any]) -> list[Any]:
        """Do something with all workers at the same time; returns their results.

        :raises ConnectError: of the first that has failed.
        """
        return list(self._pool.map(do, self.workers))

    def stop(self, timeout_s: float) -> list[str]:
        """Stop all workers: what was delivered is committed. Returns what went wrong."""

        def stop(worker: RemoteWorker) -> str | None:
            try:
                worker.stop(timeout_s)
            except ConnectError as error:
                return str(error)
            return None

        return [text for text in self.each(stop) if text is not None]

    def close(self) -> None:
        """End those that have not been stopped, and the Spark job."""
        with self._lock:
            self._open, self._closed = False, True
        self._switchboard.close()
        stopped = self._job is not None and bool(self.workers) and all(worker.stopped for worker in self.workers)
        for worker in self.workers:
            if not worker.stopped:
                worker.hang_up()
        if self._job is not None:
            if len(self.workers) < self._size:  # the others still wait for room
                self._cancel()
            self._job.join(_END_S if stopped else _END_S / 10)
            if self._job.is_alive():
                self._cancel()
        for worker in self.workers:
            worker.hang_up()
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _run(self, task: HostTask) -> None:
        from pyspark import __version__

        from airflow_kconnect.runtime.process.spark_errors import cause_of

        try:
            context = self._session.spark.sparkContext
            context.setJobGroup(self._group, f"Connect workers of {self._config.name}", interruptOnCancel=True)
            context.parallelize(range(self._size), self._size).mapPartitionsWithIndex(partial(host, task)).collect()
        except Exception as error:
            if not self._closed:
                self._job_error = cause_of(str(error), __version__)

    def _cancel(self) -> None:
        try:
            self._session.spark.sparkContext.cancelJobGroup(self._group)
        except Exception as error:  # Spark has ended
            log.debug("cancelling the job of the workers: %s", error)

    def _called(self, line: Line, first: Mapping[str, Any]) -> None:
        """An executor is there: have it prepare a worker, and keep in touch with it."""
        index = int(first["index"])
        worker = RemoteWorker(line, worker_id=f"{self._worker_id}/{index + 1}", host=str(first["host"]))
        with self._lock:
            known = any(each.worker_id == worker.worker_id for each in self.workers)
            welcome = self._open and not known
            if welcome:
                self.workers.append(worker)
                self._arrived_s = time.monotonic()
        if not welcome:  # too late, or Spark tries again what has failed
            worker.dismiss()
            return
        log.info("A Connect worker starts on host %s", worker.host)
        worker.prepare(self._timeout_s)
        while worker.error is None and not worker.stopped:
            time.sleep(_BEAT_S)
            worker.beat()
