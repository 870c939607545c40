"""How a `SinkTask` gets the records of a split, and what it asks for by its context: the loop of ``WorkerSinkTask``."""

from __future__ import annotations

import logging
import math
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.connector.task import SinkTask, SinkTaskContext
from airflow_kconnect.connect.errors import ConnectError, DataError, RetriableError, named
from airflow_kconnect.connect.record import SinkRecord
from airflow_kconnect.runtime.retries import NO_RETRIES, Retries
from airflow_kconnect.runtime.sink.task_reporter import TaskErrorReporter

log = logging.getLogger("kconnect.sink")

# Batches that a task may want again: more would be felt where several splits are written at a time.
_KEPT_BYTES = 32 << 20
_LOOK_S = 0.05


@dataclass(frozen=True)
class Terms:
    """For how long a run waits for a task, and how often it has the task commit; pickled into Spark's tasks.

    :param flush_ms: the task has to commit this often.
    :param retries: of a `put` that raises `RetriableError`.
    :param deadline_epoch_s: when the run's time is over; None: it has no limit.
    :param patience_s: how long a task that asks for time may put nothing.
    """

    flush_ms: int = 60_000
    retries: Retries = NO_RETRIES
    deadline_epoch_s: float | None = None
    patience_s: float = 300.0


class Ended(Exception):
    """The task takes no more records of the split: see `Delivery.again`."""


class Delivery:
    """Puts the records of a split, in order.

    Connect moves its consumer where a task wants to have records from. Here they arrive once: those since the last
    offset that was safe are kept for that, as many as there is room for.

    :param records_of: makes a batch's records.
    """

    def __init__(
        self,
        task: SinkTask,
        context: SinkTaskContext,
        split: SinkSplit,
        terms: Terms,
        records_of: Callable[[pa.RecordBatch], Sequence[SinkRecord]],
    ) -> None:
        self._task, self._requests, self._split, self._terms = task, context.requests, split, terms
        self._records_of = records_of
        reporter = context.errant_record_reporter
        self._reporter = reporter if isinstance(reporter, TaskErrorReporter) else None
        self._waiting: deque[pa.RecordBatch] = deque()
        self._kept: deque[pa.RecordBatch] = deque()
        self._kept_bytes = 0
        self._kept_from = self._position = self._arrived = split.start
        self._since_s = self._flushed_s = time.monotonic()
        self.skipped = 0
        """Records that the task has left out, by `SinkTaskContext.offset`."""
        self.ended = False
        """Whether it has taken no more records."""
        self.again = False
        """Whether that is because it wants records which are no longer here: a later round of this run has them."""

    def deliver(self, batch: pa.RecordBatch) -> None:
        """Put the records that follow. :raises Ended: the task was never put the last of them."""
        if self.ended:
            raise Ended
        self._since_s = time.monotonic()
        self._waiting.append(batch)
        try:
            self._put_waiting()
        except Ended:
            if self._arrived < _end_of(batch):
                raise

    def finish(self, end: int) -> int:
        """Called after the last batch, or after `Ended`: the task commits. Returns the offset that is safe."""
        self._since_s = time.monotonic()
        try:
            if not self.ended:
                return self._settled(end)
        except Ended:
            pass
        return self._pre_commit(self._position)

    def _settled(self, end: int) -> int:
        """Have the task commit everything; it may ask for records again, or for time."""
        while True:
            self._put_waiting()
            safe = self._pre_commit(end)
            if self._requests.offsets.get(self._split.topic_partition, self._position) < self._position:
                continue
            asked_s = self._asked_s()
            if safe >= end or not asked_s or time.monotonic() + asked_s > self._patient_until_s():
                return safe
            time.sleep(asked_s)
            self._put_patiently(None)

    def _put_waiting(self) -> None:
        while self._waiting or self._requests.offsets:
            self._until_ready()
            if self._waiting:
                self._put_batch(self._waiting.popleft())
                self._commit_if_due()

    def _until_ready(self) -> None:
        """Do what the task has asked for, as long as it takes no records."""
        while True:
            self._move()
            if not (self._requests.paused and self._waiting):
                return
            self._rest()
            if self._requests.paused:
                self._put_patiently(None)
            self._commit_if_due()

    def _rest(self) -> None:
        """Wait until the task continues, or is to be called. :raises Ended: the run waits no longer."""
        flush_s = self._flushed_s + self._terms.flush_ms / 1000 - time.monotonic()
        patient_until_s = self._patient_until_s()
        until_s = min(time.monotonic() + min(self._asked_s() or math.inf, flush_s), patient_until_s)
        while self._requests.paused and time.monotonic() < until_s:
            time.sleep(min(_LOOK_S, max(until_s - time.monotonic(), 0)))
        if self._requests.paused and time.monotonic() >= patient_until_s:
            self._end()

    def _put_batch(self, batch: pa.RecordBatch) -> None:
        """Put what the task wants of a batch."""
        offsets = batch.column("kafka_offset")
        first, end = offsets[0].as_py(), offsets[-1].as_py() + 1
        left_out = pc.sum(pc.less(offsets, self._position)).as_py() if first < self._position else 0
        if end > self._arrived:
            self._arrived, self.skipped = end, self.skipped + left_out
        if left_out < batch.num_rows:
            self._put_patiently(batch.slice(left_out))
            self._position = end
        self._keep(batch)

    def _put_patiently(self, batch: pa.RecordBatch | None) -> None:
        """:param batch: None: no records. :raises RetriableError: the task's own, if it is not to be tried again."""
        records = () if batch is None else self._records_of(batch)
        attempt, first_s = 1, time.monotonic()
        while True:
            if self._reporter and batch is not None:
                self._reporter.begin(batch, records)
            try:
                return self._put(records)
            except RetriableError as error:
                self._wait_to_retry(error, attempt, first_s)
            self._commit_if_due()
            attempt += 1

    def _wait_to_retry(self, error: RetriableError, attempt: int, first_s: float) -> None:
        """Wait for as long as the task asks for, or as ``errors.retry.*`` say. :raises RetriableError: time is over."""
        asked_s, retries = self._asked_s(), self._terms.retries
        if asked_s and not retries.limit_s:
            retries = replace(retries, timeout_ms=round(self._terms.patience_s * 1000))
        pause_s = retries.pause_s(attempt, first_s, self._deadline_s())
        is_too_long = asked_s and time.monotonic() + asked_s > min(first_s + retries.limit_s, self._deadline_s())
        if pause_s is None or is_too_long:
            raise error
        pause_s = asked_s or pause_s
        log.warning("attempt %s to put records failed, the next one is in %.1f s: %s", attempt, pause_s, error)
        time.sleep(pause_s)

    def _put(self, records: Sequence[SinkRecord]) -> None:
        self._requests.timeout_ms = 0  # an earlier one is over
        with as_data_error(type(self._task)):
            self._task.put(list(records))
        if self._requests.failure is not None:
            raise self._requests.failure
        if self._reporter:
            self._reporter.raise_if_failed()

    def _keep(self, batch: pa.RecordBatch) -> None:
        self._kept.append(batch)
        self._kept_bytes += batch.nbytes
        while self._kept_bytes > _KEPT_BYTES and len(self._kept) > 1:
            self._forget_first()

    def _forget_first(self) -> None:
        first = self._kept.popleft()
        self._kept_bytes -= first.nbytes
        self._kept_from = _end_of(first)

    def _move(self) -> None:
        """Go where the task wants to be put records from. :raises Ended: they are no longer here."""
        offset = self._requests.offsets.pop(self._split.topic_partition, None)
        if offset is None:
            return
        if offset < self._split.start:
            raise DataError(
                f"{type(self._task).__name__} asks for offset {offset} of {self._split.topic_partition}, but its split"
                f" begins at {self._split.start}, which is committed. To write earlier records again, alter the"
                " connector's offsets"
            )
        is_back, self._position = offset < self._position, offset
        if not is_back:
            return
        if offset < self._kept_from or time.monotonic() >= self._patient_until_s():
            self.again = self._split.start < offset < self._kept_from
            self._end()
        while self._kept and _end_of(self._kept[-1]) > offset:
            last = self._kept.pop()
            self._kept_bytes -= last.nbytes
            self._waiting.appendleft(last)

    def _commit_if_due(self) -> None:
        if self._requests.commit or (time.monotonic() - self._flushed_s) * 1000 >= self._terms.flush_ms:
            safe = self._pre_commit(self._position)
            while self._kept and _end_of(self._kept[0]) <= safe:
                self._forget_first()

    def _pre_commit(self, end: int) -> int:
        """Have the task flush; returns the offset that is safe: of what it was put, none before the split.

        :raises DataError: the task does not say which one.
        """
        self._requests.commit = False
        partition = self._split.topic_partition
        with as_data_error(type(self._task)):
            offsets: Any = self._task.pre_commit({partition: end})  # the user's: it may return anything
        self._flushed_s = time.monotonic()
        safe = offsets.get(partition, self._split.start) if isinstance(offsets, Mapping) else None
        if not isinstance(safe, int):
            name, wanted = type(self._task).__name__, "a mapping of partitions to offsets that are safe"
            raise DataError(f"{name}.pre_commit must return {wanted}, and has returned {str(offsets)[:100]}")
        return max(self._split.start, min(safe, end))

    def _asked_s(self) -> float:
        """The timeout that the task has asked for, which counts once."""
        asked_ms, self._requests.timeout_ms = self._requests.timeout_ms, 0
        return max(asked_ms, 0) / 1000

    def _patient_until_s(self) -> float:
        return min(self._since_s + self._terms.patience_s, self._deadline_s())

    def _deadline_s(self) -> float:
        deadline = self._terms.deadline_epoch_s
        return math.inf if deadline is None else time.monotonic() + deadline - time.time()

    def _end(self) -> NoReturn:
        self.ended = True
        raise Ended


def _end_of(batch: pa.RecordBatch) -> int:
    """The offset after the last record."""
    return int(batch.column("kafka_offset")[-1].as_py()) + 1


@contextmanager
def as_data_error(task_class: type[SinkTask]) -> Iterator[None]:
    """The task is the user's code: any error it raises is the run's result, by name, not as a traceback."""
    try:
        yield
    except ConnectError:
        raise
    except Exception as error:
        raise DataError(f"{task_class.__name__} failed: {named(error)}") from error
