"""The last stage of a source split: Arrow batches of encoded records go to Kafka, with their progress, in transactions.

Runs in a Spark partition (`mapInArrow`) or in a process of the job's own (`without_jvm`). Returns one report row and
never raises an error of airflow_kconnect: Spark would retry such a task, to no avail.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import KafkaError, KafkaException

from airflow_kconnect.connect.error_cells import END, PADDING, pack_error
from airflow_kconnect.connect.errors import ConnectError, DataError, RetriableError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.errors import error_of, translated
from airflow_kconnect.kafka.producers import CommittingProducer, TransactionTimedOut, new_producer
from airflow_kconnect.runtime.bad_records import (
    ErrorHandling,
    ErrorReporter,
    FailedRecord,
    Triage,
    error_at,
    original_of,
    triage,
)
from airflow_kconnect.runtime.conversion.batch_encoding import BatchEncoding, encoded_batch
from airflow_kconnect.runtime.process.failpoints import failpoint
from airflow_kconnect.runtime.process.progress import ProgressAddress, ProgressSender
from airflow_kconnect.runtime.process.split_worker import this_split
from airflow_kconnect.runtime.process.whole_input import whole
from airflow_kconnect.runtime.report_rows import report_row
from airflow_kconnect.runtime.settings import TopicCreation
from airflow_kconnect.runtime.source.commit_clock import CommitClock
from airflow_kconnect.runtime.source.producing import produce_full, produce_plain
from airflow_kconnect.runtime.source.split_report import SplitReport
from airflow_kconnect.runtime.source.topics import TopicMaker
from airflow_kconnect.runtime.source.tracking import MarkerTracking, OffsetTracking, Tracking, TransactionTracking
from airflow_kconnect.runtime.written_ranges import merged
from airflow_kconnect.stores.offset_topic.follower import PlanFollower, PlanPointer
from airflow_kconnect.stores.offset_topic.records import Marker


@dataclass(frozen=True)
class WriterSettings:
    """What the writers of a run share; pickled into the tasks.

    :param producer_configs: the producer's configuration by split; transactional for exactly-once.
    :param constant_topic: the topic of all rows, or None if they have a ``topic`` column.
    :param internal_topics: topics to which no record may be written.
    :param deadline_epoch_s: stop at the first commit after this time, or None.
    :param known_keys: keys under which the topic already has offsets of source partitions, reused byte for byte.
    :param errors: what to do with bad records.
    :param encodings: the parts of records that are not encoded yet.
    :param tells_ranges: whether reports and markers say where the records are.
    :param poll: whether rows carry source partitions and offsets instead of progress.
    :param commits_at_offsets: whether a transaction of such rows may end only after one with an offset.
    :param own_transactions: whether that is because the tasks say where transactions end.
    """

    pointer: PlanPointer
    splits: tuple[int, ...]
    producer_configs: Mapping[int, Mapping[str, Any]]
    consumer_config: Mapping[str, Any]
    admin_config: Mapping[str, Any]
    constant_topic: str | None
    topic_creation: TopicCreation
    internal_topics: Container[str]
    chunk_ms: int
    deadline_epoch_s: float | None
    poll: bool
    progress: ProgressAddress
    known_keys: Mapping[str, bytes]
    errors: ErrorHandling
    encodings: tuple[BatchEncoding, ...] = ()
    tells_ranges: bool = False
    commits_at_offsets: bool = False
    own_transactions: bool = False


@dataclass
class _Pending:
    """Counts of the open transaction."""

    written: int = 0
    filtered: int = 0
    dead_lettered: int = 0

    @property
    def rows(self) -> int:
        """All of them."""
        return self.written + self.filtered + self.dead_lettered

    def add(self, triaged: Triage) -> None:
        self.written += triaged.good.num_rows
        self.filtered += triaged.filtered
        self.dead_lettered += triaged.passed_over

    def move_to(self, report: SplitReport) -> None:
        report.written += self.written
        report.filtered += self.filtered
        report.dead_lettered += self.dead_lettered
        self.written = self.filtered = self.dead_lettered = 0


def split_writer(settings: WriterSettings) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function for `mapInArrow`: Spark partition n holds the rows of split ``settings.splits[n]``."""

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield written_split(settings, this_split(), whole(batches))

    return write


def written_split(settings: WriterSettings, index: int, batches: Iterator[pa.RecordBatch]) -> pa.RecordBatch:
    """Write split ``settings.splits[index]``; returns its report row."""
    split = settings.splits[index]
    report = SplitReport(split)
    try:
        _write_split(settings, report, batches)
    except ConnectError as error:
        report.error = pack_error(error)
    return report_row(split, vars(report))


def _write_split(settings: WriterSettings, report: SplitReport, batches: Iterator[pa.RecordBatch]) -> None:
    """Steps 5 to 7 of the protocol in docs/architecture.md.

    5 take the split's transactional id: this aborts or completes what an older holder left
    6 only then look how far the split is, and whether the run is still the current one
    7 rows and their progress in one transaction, chunk by chunk
    """
    split = report.split
    admin = KafkaAdmin(settings.admin_config)
    follower = PlanFollower(settings.pointer, split, admin, settings.consumer_config)
    follower.check_current()  # a late attempt of a run that was taken over must not fence its successor
    producer = new_producer(settings.producer_configs[split], f"connector {settings.pointer.connector} split {split}")
    try:
        follower.check_current()
        marker = follower.marker()
        if marker and marker.done:
            report.done, report.resume_point, report.topics = True, marker.progress, list(marker.topics)
            report.ranges, report.bad = merged([marker.ranges]), marker.bad
            report.read = report.already_done = sum(batch.num_rows for batch in batches)
            return
        topics = TopicMaker(admin, settings.topic_creation, settings.internal_topics)
        ChunkedWriter(settings, report, producer, topics, tracking_of(settings, report, marker)).write(batches)
    except TransactionTimedOut as error:
        # A process that was suspended this long may have been fenced as well.
        follower.check_current()
        raise RetriableError(str(error)) from error
    finally:
        producer.close()


def tracking_of(settings: WriterSettings, report: SplitReport, marker: Marker | None) -> Tracking:
    """How the split of the report keeps its progress.

    :param marker: that of an earlier attempt, or None.
    """
    if settings.poll:
        kind = TransactionTracking if settings.own_transactions else OffsetTracking
        return kind(settings.pointer, report, settings.known_keys, settings.commits_at_offsets)
    return MarkerTracking(settings.pointer, report, marker)


class ChunkedWriter:
    """Writes the rows of a split and commits on a timer, whether rows arrive or not."""

    def __init__(
        self,
        settings: WriterSettings,
        report: SplitReport,
        producer: CommittingProducer,
        topics: TopicMaker,
        tracking: Tracking,
    ) -> None:
        self._settings, self._report, self._producer, self._topics = settings, report, producer, topics
        self._tracking = tracking
        self._sender = ProgressSender(settings.progress, report.split)
        self._open_since: float | None = None
        self._pending = _Pending()
        self._reporter = ErrorReporter(settings.errors, report.split, producer.produce_patiently)

    def write(self, batches: Iterator[pa.RecordBatch]) -> None:
        try:
            with CommitClock(self._commit_if_due) as clock:
                self._write_all(batches, clock)
        except BaseException:
            if self._open_since is not None:
                self._producer.abort()
            raise
        self._finish()

    def _write_all(self, batches: Iterator[pa.RecordBatch], clock: CommitClock) -> None:
        for batch in map(self._records_of, batches):
            with clock.turn():
                self._refuse_errors_of_reading(batch)
                rows = self._tracking.uncommitted(batch)
                committed = self._write_parts(rows) if rows.num_rows else self._commit_if_due()
                if committed and self._deadline_is_over():
                    return
        with clock.turn():
            self._tracking.check_end()
            self._drop_unfinished()
            self._commit(done=True)

    def _write_parts(self, rows: pa.RecordBatch) -> bool:
        """Write rows, and commit if that is due; returns whether everything is committed."""
        committed = False
        for part, complete in self._tracking.parts(rows):
            is_open = self._open_since is not None
            # What had to wait for its last rows need not wait for the clock too.
            waited = is_open and not self._tracking.can_commit()
            if is_open and not waited and not complete:
                self._commit(done=False)  # if that is never completed, what is complete is kept all the same
            self._write_rows(part)
            committed = self._commit_if_due()
            if waited and not committed and self._tracking.can_commit():
                self._commit(done=False)
                committed = True
        return committed

    def _drop_unfinished(self) -> None:
        """The last rows of a task are not committed if others that belong to them have not come: the next run reads all
        of them.

        :raises DataError: the task has ended on its own: they will not come.
        """
        partition, report = self._tracking.unfinished(), self._report
        if partition is None:
            return
        records = self._pending.rows
        if report.bound is None:
            text = f"of source partition {partition} have no offset, and none came after them: an error of the task"
            raise DataError(f"connector {self._settings.pointer.connector}: the last {records:,} records {text}")
        self._producer.abort()
        self._open_since, self._pending = None, _Pending()
        report.dropped += records

    def _records_of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The batch without its padding, encoded."""
        if "error" in batch.schema.names and batch.column("error").null_count < batch.num_rows:
            padding = pc.fill_null(pc.starts_with(batch.column("error"), PADDING), False)
            for text in pc.unique(batch.column("error").filter(padding)).to_pylist():
                self._report.bound = text.removeprefix(END) if text.startswith(END) else self._report.bound
            batch = batch.filter(pc.invert(padding))
        self._report.read += batch.num_rows
        return encoded_batch(batch, self._settings.encodings, self._settings.constant_topic)

    def _refuse_errors_of_reading(self, batch: pa.RecordBatch) -> None:
        """A row that is not a record cannot be skipped, and need not come after the resume point."""
        stopped = triage(batch, tolerant=True).stopped
        if stopped is not None:
            if self._tracking.keeps_complete:
                self._keep_complete(batch.slice(0, stopped))
            raise error_at(batch, stopped, self._tracking.where(batch, stopped))

    def _keep_complete(self, rows: pa.RecordBatch) -> None:
        """Commit what can be resumed after, of what is open and the last rows: Spark may pass them on with an error."""
        if rows.num_rows:
            self._write_parts(rows)
        if self._open_since is not None and self._tracking.can_commit():
            self._commit(done=False)

    def _write_rows(self, rows: pa.RecordBatch) -> None:
        triaged = triage(rows, self._settings.errors.tolerant)
        self._begin()
        for row, error in triaged.failed:
            self._reporter.report(self._failed_record(rows, row), error)
        if triaged.stopped is not None:
            # ``errors.tolerance=none``: the first bad record ends the run, nothing after it is committed.
            raise error_at(rows, triaged.stopped, self._tracking.where(rows, triaged.stopped))
        if triaged.good.num_rows:
            self._produce(triaged.good)
        self._tracking.remember(rows)
        self._pending.add(triaged)
        self._producer.poll(0)
        self._sender.send(self._report.written + self._pending.written)
        failpoint("mid-produce")

    def _begin(self) -> None:
        if self._open_since is None:
            self._producer.begin()
            self._open_since = time.monotonic()

    def _failed_record(self, rows: pa.RecordBatch, row: int) -> FailedRecord:
        partition, offset = self._tracking.position(rows, row)
        topic = rows.column("topic")[row].as_py() if "topic" in rows.schema.names else self._settings.constant_topic
        return FailedRecord(topic, partition, offset, **original_of(rows, row))

    def _produce(self, rows: pa.RecordBatch) -> None:
        names = rows.schema.names
        values = rows.column("value").to_pylist()
        keys = rows.column("key").to_pylist() if "key" in names else None
        topics = self._topics_of(rows)
        try:
            if isinstance(topics, str) and set(names) <= {"value", "key", "progress", "error", "original"}:
                produce_plain(self._producer, topics, values, keys)
            else:
                self._refuse_impossible_timestamps(rows)
                produce_full(self._producer, topics, values, keys, rows)
        except KafkaException as error:
            if error_of(error).code() != KafkaError.MSG_SIZE_TOO_LARGE:
                written_to = topics if isinstance(topics, str) else ", ".join(sorted(set(topics)))
                raise self._producer.failure(error, f"writing to {written_to}") from error
            sizes = [
                len(value or b"") + len(key or b"")
                for value, key in zip(values, keys or [None] * len(values), strict=True)
            ]
            row = sizes.index(max(sizes))
            topic = topics if isinstance(topics, str) else topics[row]
            raise translated(error, f"writing the record at {self._tracking.where(rows, row)} to {topic}") from error

    def _refuse_impossible_timestamps(self, rows: pa.RecordBatch) -> None:
        """As ``ConnectUtils.checkAndConvertTimestamp``: -1 is "no timestamp", other negative ones are errors."""
        if "timestamp" not in rows.schema.names:
            return
        wrong = pc.index(pc.fill_null(pc.less(rows.column("timestamp"), -1), False), True).as_py()
        if wrong >= 0:
            timestamp = rows.column("timestamp")[wrong].as_py()
            raise DataError(f"bad record at {self._tracking.where(rows, wrong)}: Invalid record timestamp {timestamp}")

    def _topics_of(self, rows: pa.RecordBatch) -> str | list[str]:
        constant = self._settings.constant_topic
        if constant is not None:
            self._use_topic(constant)
            return constant
        names = rows.column("topic")
        for name in pc.unique(names).to_pylist():
            self._use_topic(name)
        topics: list[str] = names.to_pylist()
        return topics

    def _use_topic(self, topic: str) -> None:
        if self._topics.use(topic) and topic not in self._report.topics:
            self._report.topics.append(topic)

    def _chunk_is_due(self) -> bool:
        if self._open_since is None or not self._tracking.can_commit():
            return False
        open_ms = (time.monotonic() - self._open_since) * 1000
        return open_ms >= self._settings.chunk_ms or self._deadline_is_over()

    def _commit_if_due(self) -> bool:
        due = self._chunk_is_due()
        if due:
            self._commit(done=False)
        return due

    def _deadline_is_over(self) -> bool:
        deadline = self._settings.deadline_epoch_s
        return deadline is not None and time.time() >= deadline

    def _commit(self, *, done: bool) -> None:
        if self._open_since is None:
            if not self._tracking.commits_empty:
                self._report.done = done
                return
            self._begin()
        self._producer.settle()
        if self._settings.tells_ranges:
            self._note_ranges()
        written = self._report.written + self._pending.written
        bad = self._report.dead_lettered + self._pending.dead_lettered
        for key, value in self._tracking.records(written, bad, done=done):
            self._producer.produce_patiently(self._settings.pointer.topic, value, key)
        if done:
            failpoint("after-last-produce")
        failpoint("during-commit")
        self._producer.commit()
        self._open_since = None
        self._pending.move_to(self._report)
        self._report.done = done
        self._tracking.committed()

    def _note_ranges(self) -> None:
        """Where the records of the transaction are; the markers and dead letters among them are left out."""
        self._producer.flush()
        own = {
            name: at for name, at in self._producer.written.items() if name.rpartition("-")[0] in self._report.topics
        }
        self._report.ranges = merged([self._report.ranges, own])

    def _finish(self) -> None:
        self._sender.send(self._report.written, done=True)
        self._tracking.finished()
