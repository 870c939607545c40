"""Keeps one JVM for questions about plug-ins: its start takes seconds, an answer a fraction of one."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any, TypeVar

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.hosted.asking.definitions import PluginJvm
from airflow_kconnect.hosted.jvm.gateway import JavaEnded
from airflow_kconnect.plugins.java import JavaPlugins
from airflow_kconnect.worker_config.keys import WorkerConfig

T = TypeVar("T")

IDLE_S = 600.0
"""The JVM, some 150 MB, is ended after this time without a question."""
WAITING = 4
"""How many questions may wait for the one that is being answered."""
PATIENCE_S = 60.0
"""How long a question may wait and be answered."""

log = logging.getLogger("kconnect.hosted")

_Question = tuple[Callable[[PluginJvm], Any], "Future[Any]"]


class _NotAskedError(Exception):
    """The host has ended before the question's turn came: another host can answer it."""


class _Host:
    """A thread that owns a JVM: the system ends a JVM together with the thread that has started it."""

    def __init__(self, plugins: JavaPlugins, worker: WorkerConfig, idle_s: float) -> None:
        self._plugins, self._worker, self._idle_s = plugins, worker, idle_s
        self._questions: queue.Queue[_Question | None] = queue.Queue()
        self._lock = threading.Lock()
        self.ended = False
        threading.Thread(target=self._run, name="kconnect-plugins", daemon=True).start()

    def ask(self, question: Callable[[PluginJvm], T]) -> Future[T] | None:
        """The answer to come, or `_NotAskedError`; None: this host has ended."""
        answer: Future[T] = Future()
        with self._lock:
            if self.ended:
                return None
            self._questions.put((question, answer))
        return answer

    def end(self) -> None:
        """End after the questions that were asked already."""
        self._questions.put(None)

    def _run(self) -> None:
        problem: BaseException = _NotAskedError()
        try:
            with (
                tempfile.TemporaryDirectory(prefix="kconnect-plugins-", ignore_cleanup_errors=True) as folder,
                PluginJvm(self._plugins, self._worker, Path(folder)) as jvm,
            ):
                self._serve(jvm)
        except BaseException as error:
            problem = error
        finally:
            with self._lock:
                self.ended = True
            while not self._questions.empty():
                if (left := self._questions.get()) is not None and left[1].set_running_or_notify_cancel():
                    left[1].set_exception(problem)

    def _serve(self, jvm: PluginJvm) -> None:
        while jvm.is_alive:
            try:
                asked = self._questions.get(timeout=self._idle_s)
            except queue.Empty:
                return
            if asked is None:
                return
            question, answer = asked
            if not answer.set_running_or_notify_cancel():
                continue  # the one who asked has given up
            try:
                answer.set_result(question(jvm))
            except RetriableError as error:
                # It hangs, or has ended: the questions that wait get another JVM.
                answer.set_exception(error)
                return
            except BaseException as error:
                answer.set_exception(error)


class WarmPlugins:
    """Answers questions about plug-ins; starts a JVM at the first one, and again when the plug-ins have changed.

    May be used by several threads, of which few wait: a plug-in may take its time, and requests of all kinds share the
    threads that ask.

    :param idle_s: seconds without a question after which the JVM is ended.
    """

    def __init__(self, idle_s: float = IDLE_S) -> None:
        self._idle_s = idle_s
        self._places = threading.BoundedSemaphore(1 + WAITING)
        self._lock = threading.Lock()
        self._host: _Host | None = None
        self._of: object = None

    def ask(
        self,
        plugins: JavaPlugins,
        worker: WorkerConfig,
        question: Callable[[PluginJvm], T],
        *,
        patience_s: float = PATIENCE_S,
    ) -> T:
        """The answer to a question. A JVM that is found dead, or dies of the question, is replaced once.

        :param question: gets the JVM; runs in another thread, and again if its JVM has ended.
        :param patience_s: how long it may wait and be answered.
        :raises SetupError: there is no Java. :raises JavaEnded: the second JVM has ended, too.
        :raises RetriableError: no answer in time, or too many others wait for one.
        """
        if not self._places.acquire(blocking=False):
            raise RetriableError(f"Java plug-ins answer one question at a time, and {WAITING} others wait: ask later")
        try:
            return self._ask(plugins, worker, question, time.monotonic() + patience_s)
        finally:
            self._places.release()

    def _ask(
        self, plugins: JavaPlugins, worker: WorkerConfig, question: Callable[[PluginJvm], T], deadline: float
    ) -> T:
        of = (os.getpid(), plugins.fingerprint(), tuple(sorted(worker.props.items())))
        try:
            return self._answer(of, plugins, worker, question, deadline)
        except JavaEnded as error:
            log.warning("another JVM is asked: %s", error)
        return self._answer(of, plugins, worker, question, deadline)

    def _answer(
        self,
        of: object,
        plugins: JavaPlugins,
        worker: WorkerConfig,
        question: Callable[[PluginJvm], T],
        deadline: float,
    ) -> T:
        while True:
            with self._lock:
                host = self._host
                if host is None or host.ended or self._of != of:
                    if host is not None and self._of != of:
                        host.end()
                    host = self._host = _Host(plugins, worker, self._idle_s)
                    self._of = of
            if (answer := host.ask(question)) is not None:
                with contextlib.suppress(_NotAskedError):
                    return _in_time(answer, deadline)

    def close(self) -> None:
        """End the JVM, if there is one."""
        with self._lock:
            if self._host is not None:
                self._host.end()
            self._host = None


def _in_time(answer: Future[T], deadline: float) -> T:
    try:
        return answer.result(max(deadline - time.monotonic(), 0))
    except TimeoutError:
        answer.cancel()  # nothing is asked for someone who does not wait any more
        raise RetriableError("Java plug-ins did not answer in time: others were asked before, or one hangs") from None


WARM = WarmPlugins()
"""The one of this process."""
