"""All workers of a run as one: the leader in a JVM of the driver, and those on executors if there are any."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple
from typing import Any

from airflow_kconnect.connect.errors import ConnectError, RetriableError
from airflow_kconnect.hosted.jvm.gateway import JavaEnded
from airflow_kconnect.hosted.shared_jvms import Lease
from airflow_kconnect.hosted.worker.herder import ConnectHerder, Statuses
from airflow_kconnect.hosted.worker.metrics import Counts
from airflow_kconnect.hosted.worker.workers import HostedWorker, LocalWorker, RemoteWorker, Seen
from airflow_kconnect.runtime.java_connector.workers.fleet import Fleet

log = logging.getLogger("kconnect.hosted")

_JOIN_S = 60.0
_STOP_EXTRA_S = 30.0
_POLL_S = 0.2


class Crew:
    """The workers that have the tasks of one connector.

    :param name: of the connector.
    :param lease: the place of its leader in a JVM.
    :param herder: that of `local`, which leads the group: it joins first.
    :param fleet: the workers on executors; None: there are none.
    """

    def __init__(self, name: str, lease: Lease, herder: ConnectHerder, local: LocalWorker, fleet: Fleet | None) -> None:
        self._name, self._herder, self._local, self._fleet = name, herder, local, fleet
        self._lease, self._was_stopped = lease, False
        self.jvm = lease.gateway
        """That of the leader."""
        self._placed: dict[str, set[int]] = {}

    def join(self, members: Callable[[], int]) -> None:
        """Join the group, the leader first.

        :param members: how many live members the group has.
        :raises ConnectError: a worker cannot start, or the group does not come together.
        """
        if self._fleet is None:
            self._herder.start()
            return
        self._fleet.await_ready()
        self._herder.start()
        self._await_members(members, 1)
        self._fleet.join()
        self._await_members(members, 1 + len(self._fleet.workers))
        log.info("Connector %s runs on %d Connect workers", self._name, 1 + len(self._fleet.workers))

    def check(self) -> None:
        """:raises ConnectError: a worker has ended, or cannot be reached."""
        for worker in self._all():
            worker.check()
        if self._fleet is not None:
            self._fleet.check()

    def seen(self) -> Seen:
        """What all tasks have done, and whether one is at work."""
        seen = [self._local.seen(), *self._each(RemoteWorker.seen)]
        return Seen(_sum([each.counts for each in seen]), any(each.at_work for each in seen))

    def counts(self) -> Counts:
        """What all tasks have done."""
        return _sum([self._local.counts(), *self._each(RemoteWorker.counts)])

    def read(self, pattern: str, *attributes: str) -> Mapping[str, Mapping[str, Any]]:
        """The MBeans of all workers, see `metrics.Read`."""
        result = dict(self._local.read(pattern, *attributes))
        for number, beans in enumerate(self._each(lambda worker: worker.read(pattern, *attributes)), start=1):
            # A task that has moved may have left one with the same name.
            result |= {f"{name},worker={number}": found for name, found in beans.items()}
        return result

    def pause(self) -> None:
        """Have the connector deliver nothing new; returns when that was asked for."""
        if self._fleet is not None:
            # Workers do not end at the same moment: those that still run must not continue the tasks of others.
            self._herder.pause_everywhere(self._name)
        self._local.pause()
        self._each(RemoteWorker.pause)

    def tasks_problem(self) -> Sequence[str]:
        """Why Connect could not make the configurations of the tasks."""
        return next((problem for worker in self._all() if (problem := worker.tasks_problem())), ())

    def place(self, statuses: Statuses) -> None:
        """Remember which worker has which task."""
        for task in statuses.tasks:
            if task.worker:
                self._placed.setdefault(task.worker, set()).add(int(task.name.removeprefix("task ")))

    def places(self) -> list[dict[str, Any]]:
        """For the report: hosts and tasks, if there is more than one worker."""
        if self._fleet is None:
            return []
        return [
            {"host": worker.host, "tasks": sorted(self._placed.get(worker.worker_id, ()))} for worker in self._all()
        ]

    @property
    def warnings(self) -> list[str]:
        """For the report."""
        return [] if self._fleet is None else self._fleet.warnings

    def stop(self, graceful_s: float) -> list[str]:
        """Stop all workers: what was delivered is committed, the group is left. Returns what did not stop.

        :param graceful_s: how long Connect waits for tasks.
        :raises JavaEnded: the leader's JVM has ended before.
        """
        # All at once: the tasks of one that has stopped would be started again by one that still runs.
        self._was_stopped = True
        with ThreadPoolExecutor(1) as pool:
            others = None if self._fleet is None else pool.submit(self._fleet.stop, graceful_s + _STOP_EXTRA_S)
            problems = self._stop_local(graceful_s)
            if problems:
                self._lease.give_up()
            return problems if others is None else [*problems, *others.result()]

    def _stop_local(self, graceful_s: float) -> list[str]:
        try:
            self._herder.stop(graceful_s + _STOP_EXTRA_S)
            left = self._local.left()
        except JavaEnded:
            raise
        except ConnectError as error:
            return [str(error)]
        return [f"{', '.join(left)} did not end within {graceful_s:.0f} s"] if left else []

    def finish(self) -> None:
        """The run has got to its end, and everything has stopped."""
        self._lease.has_got_to_its_end()

    def leave(self, graceful_s: float) -> None:
        """Leave nothing at work in a JVM that stays, whatever has happened. One of the run's own ends with it."""
        if self._lease.is_shared and not self._was_stopped:
            try:
                self.stop(graceful_s)
            except JavaEnded:
                return
            except Exception:
                log.debug("stopping the worker of %s", self._name, exc_info=True)
                self._lease.give_up()

    def _all(self) -> list[HostedWorker]:
        return [self._local, *([] if self._fleet is None else self._fleet.workers)]

    def _each(self, do: Callable[[RemoteWorker], Any]) -> list[Any]:
        return [] if self._fleet is None else self._fleet.each(do)

    def _await_members(self, members: Callable[[], int], number: int) -> None:
        deadline = time.monotonic() + _JOIN_S
        while (found := members()) < number:
            self.check()
            if time.monotonic() > deadline:
                raise RetriableError(
                    f"connector {self._name}: {found} of {number} Connect workers have joined their group within"
                    f" {_JOIN_S:.0f} s; the logs of the executors may say why"
                )
            time.sleep(_POLL_S)


def _sum(counts: Sequence[Counts]) -> Counts:
    return Counts(*(sum(numbers) for numbers in zip(*map(astuple, counts), strict=True)))
