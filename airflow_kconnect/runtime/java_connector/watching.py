"""Watches a hosted connector from the moment it was handed to Connect until its run is over."""

from __future__ import annotations

import logging
import time
from dataclasses import replace

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.hosted.bounds import Limits, Watch
from airflow_kconnect.hosted.worker.herder import ConnectHerder, Statuses, TaskState
from airflow_kconnect.hosted.worker.metrics import Counts
from airflow_kconnect.hosting.keys import IDLE_MS, START_TIMEOUT_MS, consumer_key
from airflow_kconnect.runs.warnings import Kind, RunWarning
from airflow_kconnect.runtime.java_connector.brokers import BrokerWatch
from airflow_kconnect.runtime.java_connector.failures import failure
from airflow_kconnect.runtime.java_connector.sink_progress import Progress
from airflow_kconnect.runtime.java_connector.source_progress import SourceProgress
from airflow_kconnect.runtime.java_connector.workers.crew import Crew
from airflow_kconnect.runtime.process.failpoints import failpoint
from airflow_kconnect.runtime.process.progress import emit
from airflow_kconnect.validation.connector import ValidatedConfig
from airflow_kconnect.worker_config.keys import WorkerConfig

log = logging.getLogger("kconnect.hosted")

_POLL_S = 0.1
_SHORT_S = 10.0
_PROGRESS_S = 5.0
# A connector makes the configurations of its tasks after it has started; it may also have none.
_WITHOUT_TASKS_S = 15.0
_NO_TASKS = (
    "The connector has started, but has no tasks after {seconds:.0f} s: nothing is moved until it has some. If it has"
    " something to move, look in its configuration for what chooses it, such as a list of tables or topics."
)
# Sinks are asked for their offsets, which are committed once a second.
_LOOK_AFTER_S = 0.5
_SETTLE_S = 5.0
# After brokers were unavailable, workers join their groups again before tasks continue: silence until then means
# nothing.
_RECOVERY_S = 30.0
# How long consumers may take to join their group and to fetch.
_JOINING_S = 60.0
# The default of Java's consumers.
_POLL_INTERVAL_MS = "300000"


class Watching:
    """One connector.

    :param crew: the workers that have its tasks.
    :param herder: the one that leads them.
    :param sink: of a sink: how far it has come.
    :param source: of a source: what is known of its class.
    :param brokers: asked when nothing moves.
    :param worker: of the run, with keys of its consumers.
    :param bounded: whether the connector's bounds of records and time apply.
    """

    def __init__(
        self,
        crew: Crew,
        herder: ConnectHerder,
        config: ValidatedConfig,
        sink: Progress | None,
        source: SourceProgress,
        brokers: BrokerWatch,
        worker: WorkerConfig,
        *,
        bounded: bool = True,
    ) -> None:
        self._herder, self._config, self._sink, self._source = herder, config, sink, source
        self._worker, self._filtered = worker, 0
        self._crew, self._brokers, self._bounded = crew, brokers, bounded
        self.counts = Counts()
        """What the tasks have done."""
        self.tasks = 0
        """How many there were."""
        self.warnings: list[str] = []
        """For the report."""

    def until_over(self) -> str:
        """Wait until the run is over, then have the connector deliver nothing more; returns why, see `Watch.over`.

        :raises ConnectError: the connector or one of its tasks has failed, or did not start in time.
        """
        self._await_started()
        watch = Watch(self._limits(), time.monotonic())
        over, told = None, watch.began_s
        unavailable_s: float | None = None
        moving, moved_s = False, watch.began_s
        while over is None:
            often = not moving and time.monotonic() - watch.began_s < _SHORT_S
            time.sleep(_POLL_S if often else 5 * _POLL_S)
            statuses = self._check()
            seen = self._crew.seen()
            moving = seen.counts != self.counts
            self.counts = seen.counts
            if not seen.at_work:
                self._filtered = seen.counts.filtered
            if self.counts.written:
                failpoint("while-moving")
            now = time.monotonic()
            moved_s = now if moving else moved_s
            known, unavailable = self._known(watch.quiet_s(now))
            # After brokers were unavailable, or a change of tasks, they start again: silence then means nothing.
            starting = self.tasks > 0 and not statuses.started
            unfinished = known is False and self._is_expected(now - watch.began_s, now - moved_s)
            unavailable_s = now if unavailable else unavailable_s
            recovering = unavailable_s is not None and now - unavailable_s < _RECOVERY_S
            busy = recovering or starting or unfinished
            over = watch.over(now, self.counts, caught_up=known, busy=busy, at_work=seen.at_work)
            if now - told >= _PROGRESS_S:
                told = now
                self._tell(now - watch.began_s)
        self._crew.pause()
        self.counts = self._settled()
        return over

    def _limits(self) -> Limits:
        common = self._config.common
        of_put = consumer_key("max.poll.interval.ms", self._config.props, self._worker.props) or _POLL_INTERVAL_MS
        return Limits(
            idle_s=common[IDLE_MS] / 1000,
            first_s=common[START_TIMEOUT_MS] / 1000,
            put_s=None if self._sink is None else int(of_put) / 1000,
            max_records=common["kconnect.max.records"] if self._bounded else None,
            max_duration_s=_seconds(common["kconnect.max.duration.ms"]) if self._bounded else None,
        )

    def _is_expected(self, elapsed_s: float, still_s: float) -> bool:
        """Whether silence says nothing about a connector that has not caught up.

        :param elapsed_s: since its tasks run. :param still_s: since it has moved something.
        """
        patience_s = self._sink.patience_s if self._sink is not None else 0.0
        return self._source.is_known or self._is_joining(elapsed_s) or still_s < patience_s

    def _is_joining(self, elapsed_s: float) -> bool:
        """Whether a sink was given nothing yet. There is something: its consumers may still be joining their group, for
        which brokers wait (`group.initial.rebalance.delay.ms`), and which takes long on a busy machine.
        """
        return self._sink is not None and not self.counts.read and elapsed_s < _JOINING_S

    def _settled(self) -> Counts:
        """What the tasks have done in the end: those of a paused connector finish what they hold.

        What a sink holds longer is active, and not filtered.
        """
        seen, deadline = self._crew.seen(), time.monotonic() + _SETTLE_S
        while time.monotonic() < deadline:
            time.sleep(_POLL_S)
            before, seen = seen, self._crew.seen()
            # The thread of a paused source waits where it is not asked for records.
            if seen.counts == before.counts and not seen.counts.active and not (self._sink and seen.at_work):
                return seen.counts
        if self._sink is None:
            return seen.counts
        return replace(seen.counts, active=max(seen.counts.filtered - self._filtered, 0))

    def _known(self, quiet_s: float) -> tuple[bool | None, bool]:
        """Whether the connector has caught up, if that is known, and whether the brokers are unavailable."""
        if self._brokers.unavailable(self.counts):
            return None, True
        try:
            return self._caught_up(quiet_s), False
        except RetriableError:
            if self._brokers.unavailable(self.counts, ask=True):
                return None, True
            raise

    def _caught_up(self, quiet_s: float) -> bool | None:
        if self._sink is None:
            return self._source.look(self._crew.read)
        return self._sink.caught_up(look=quiet_s >= _LOOK_AFTER_S)

    def _await_started(self) -> None:
        """:raises ConnectError: it takes too long, or fails in making its tasks, which Connect would try again without
        end.
        """
        timeout_s = self._config.common[START_TIMEOUT_MS] / 1000
        began = time.monotonic()
        without_tasks: float | None = None
        while True:
            statuses, now = self._check(), time.monotonic()
            if statuses.started and statuses.tasks:
                return
            if statuses.started:
                without_tasks = without_tasks or now
                if problem := self._crew.tasks_problem():
                    raise failure(self._config.name, TaskState("making its tasks", "FAILED", "\n".join(problem)))
                if now - without_tasks > _WITHOUT_TASKS_S:
                    self.warnings.append(RunWarning(Kind.SOURCE, _NO_TASKS.format(seconds=_WITHOUT_TASKS_S)))
                    log.warning("%s", self.warnings[-1])
                    return
            if not self._brokers.unavailable(statuses) and now - began > timeout_s:
                raise RetriableError(
                    f"connector {self._config.name}: it or its tasks did not start within {timeout_s:.0f} s"
                    f" (`{START_TIMEOUT_MS}`): a method of the Java class that starts it does not return"
                )
            time.sleep(_POLL_S)

    def _check(self) -> Statuses:
        name = self._config.name
        statuses = self._herder.statuses(name)
        if (failed := statuses.failed) is not None:
            if failed.trace:
                log.error("%s", failed.trace)
            raise failure(name, failed)
        self._crew.check()
        self._crew.place(statuses)
        self.tasks = max(self.tasks, len(statuses.tasks))
        return statuses

    def _tell(self, elapsed_s: float) -> None:
        done = self.counts.written
        emit(
            "progress",
            records=done,
            rate=round(done / max(elapsed_s, 0.001), 1),
            tasks_done=0,
            tasks=self.tasks,
            elapsed_s=round(elapsed_s, 1),
            expected=self._config.common["kconnect.max.records"],
        )


def _seconds(ms: int | None) -> float | None:
    return None if ms is None else ms / 1000
