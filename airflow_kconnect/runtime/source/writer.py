"""The last stage of a source split: Arrow batches of encoded records go to Kafka, with their progress, in transactions.

Runs in a Spark partition (`mapInArrow`). Returns one report row and never raises an error of airflow_kconnect: Spark
would retry such a task, to no avail.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import KafkaError, KafkaException

from airflow_kconnect.connect.error_cells import PADDING, pack_error
from airflow_kconnect.connect.errors import ConnectError, DataError, RetriableError
from airflow_kconnect.connect.java.json import canonical_json, partition_identity
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.errors import error_of, translated
from airflow_kconnect.kafka.producers import CommittingProducer, TransactionTimedOut, new_producer
from airflow_kconnect.runtime.bad_records import (
    ErrorHandling,
    ErrorReporter,
    FailedRecord,
    Sorted,
    error_at,
    original_of,
    sort_out,
)
from airflow_kconnect.runtime.process.failpoints import failpoint
from airflow_kconnect.runtime.process.progress import ProgressAddress, ProgressSender
from airflow_kconnect.runtime.process.whole_input import whole
from airflow_kconnect.runtime.settings import TopicCreation
from airflow_kconnect.runtime.source.acknowledgements import AckWriter
from airflow_kconnect.runtime.source.commit_clock import CommitClock
from airflow_kconnect.runtime.source.producing import produce_full, produce_plain
from airflow_kconnect.runtime.source.split_report import SplitReport
from airflow_kconnect.runtime.source.topics import TopicMaker
from airflow_kconnect.stores.offset_topic.follower import PlanFollower, PlanPointer
from airflow_kconnect.stores.offset_topic.records import Marker, marker_key, offset_key, offset_value


@dataclass(frozen=True)
class WriterSettings:
    """What the writers of a run share; pickled into the tasks.

    :param producer_configs: the producer's configuration by split; transactional for exactly-once.
    :param constant_topic: the topic of all rows, or None if they have a ``topic`` column.
    :param internal_topics: topics to which no record may be written.
    :param deadline_epoch_s: stop at the first commit after this time, or None.
    :param known_keys: keys under which the topic already has offsets of source partitions, reused byte for byte.
    :param errors: what to do with bad records.
    :param poll: whether rows carry source partitions and offsets instead of progress.
    """

    pointer: PlanPointer
    splits: tuple[int, ...]
    producer_configs: Mapping[int, Mapping[str, Any]]
    consumer_config: Mapping[str, Any]
    admin_config: Mapping[str, Any]
    constant_topic: str | None
    topic_creation: TopicCreation
    internal_topics: frozenset[str]
    chunk_ms: int
    deadline_epoch_s: float | None
    poll: bool
    progress: ProgressAddress
    known_keys: Mapping[str, bytes]
    errors: ErrorHandling


@dataclass
class _Pending:
    """Counts of the open transaction."""

    written: int = 0
    filtered: int = 0
    dead_lettered: int = 0

    def add(self, found: Sorted) -> None:
        self.written += found.good.num_rows
        self.filtered += found.filtered
        self.dead_lettered += found.passed_over

    def move_to(self, report: SplitReport) -> None:
        report.written += self.written
        report.filtered += self.filtered
        report.dead_lettered += self.dead_lettered
        self.written = self.filtered = self.dead_lettered = 0


def split_writer(settings: WriterSettings) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """The function for `mapInArrow`: Spark partition n holds the rows of split ``settings.splits[n]``."""

    def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        split = settings.splits[context.partitionId()]
        report = SplitReport(split)
        try:
            _write_split(settings, report, whole(batches))
        except ConnectError as error:
            report.error = pack_error(error)
        text = json.dumps(vars(report))
        yield pa.RecordBatch.from_arrays([pa.array([split], pa.int32()), pa.array([text])], ["split", "report"])

    return write


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
            report.done, report.progress, report.topics = True, marker.progress, list(marker.topics)
            report.already_done = sum(batch.num_rows for batch in batches)
            return
        topics = TopicMaker(admin, settings.topic_creation, settings.internal_topics)
        _ChunkedWriter(settings, report, producer, topics, marker).write(batches)
    except TransactionTimedOut as error:
        # A process that was suspended this long may have been fenced as well.
        follower.check_current()
        raise RetriableError(str(error)) from error
    finally:
        producer.close()


def _records_of(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch without its padding."""
    if "error" not in batch.schema.names or batch.column("error").null_count == batch.num_rows:
        return batch
    return batch.filter(pc.fill_null(pc.not_equal(batch.column("error"), PADDING), True))


class _ChunkedWriter:
    """Writes the rows of a split and commits on a timer, whether rows arrive or not."""

    def __init__(
        self,
        settings: WriterSettings,
        report: SplitReport,
        producer: CommittingProducer,
        topics: TopicMaker,
        marker: Marker | None,
    ) -> None:
        self._settings, self._report, self._producer, self._topics = settings, report, producer, topics
        self._sender = ProgressSender(settings.progress, report.split)
        self._acks = AckWriter(settings.pointer.plan.plan_id, report.split) if settings.poll else None
        self._before = marker.records if marker else 0
        report.topics = list(marker.topics) if marker else []
        self._last_progress = report.progress = marker.progress if marker else None
        known = settings.pointer.markers.get(report.split)
        # The reader starts after the progress known to the driver; only rows after that are skipped.
        self._resume = None if marker == known else self._last_progress
        self._open_since: float | None = None
        self._at_resume_point = True
        self._pending = _Pending()
        self._reporter = ErrorReporter(settings.errors, report.split, producer.produce_patiently)
        self._last_offsets: dict[str, str] = {}

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
        for batch in map(_records_of, batches):
            with clock.turn():
                self._refuse_errors_of_reading(batch)
                rows = self._after_resume_point(batch)
                if rows.num_rows:
                    self._write_rows(rows)
                if self._commit_if_due() and self._deadline_is_over():
                    return
        with clock.turn():
            self._refuse_lost_resume_point()
            self._commit(done=True)

    def _refuse_errors_of_reading(self, batch: pa.RecordBatch) -> None:
        """A row that is not a record cannot be skipped, and need not come after the resume point."""
        stopped = sort_out(batch, tolerant=True).stopped
        if stopped is not None:
            raise error_at(batch, stopped, self._place(batch, stopped))

    def _after_resume_point(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Drop rows that an earlier attempt of the split has committed."""
        if self._resume is None or self._settings.poll or not batch.num_rows:
            return batch
        progress = batch.column("progress")
        if isinstance(self._resume, int):
            first = int(pc.sum(pc.less_equal(progress, self._resume)).as_py() or 0)
        else:
            found = int(pc.index(progress, self._resume).as_py())
            first = batch.num_rows if found < 0 else found + 1
            self._resume = self._resume if found < 0 else None
        if first < batch.num_rows:
            self._resume = None
        self._report.already_done += first
        return batch.slice(first)

    def _refuse_lost_resume_point(self) -> None:
        """Numbers have an order; a text that never came means that the source now reads differently."""
        if isinstance(self._resume, str):
            raise RetriableError(
                f"split {self._report.split} of connector {self._settings.pointer.connector} was committed up to"
                f" {self._resume!r} by another attempt, and the source no longer delivers that row: the next run"
                " resumes after it"
            )

    def _write_rows(self, rows: pa.RecordBatch) -> None:
        found = sort_out(rows, self._settings.errors.tolerant)
        self._begin()
        for row, error in found.failed:
            self._reporter.report(self._failed_record(rows, row), error)
        if found.stopped is not None:
            # ``errors.tolerance=none``: the first bad record ends the run, nothing after it is committed.
            raise error_at(rows, found.stopped, self._place(rows, found.stopped))
        if found.good.num_rows:
            self._produce(found.good)
        self._remember_position(rows)
        self._pending.add(found)
        self._producer.poll(0)
        self._sender.send(self._report.written + self._pending.written)
        failpoint("mid-produce")

    def _begin(self) -> None:
        if self._open_since is None:
            self._producer.begin()
            self._open_since = time.monotonic()

    def _failed_record(self, rows: pa.RecordBatch, row: int) -> FailedRecord:
        partition, offset = self._position(rows, row)
        topic = rows.column("topic")[row].as_py() if "topic" in rows.schema.names else self._settings.constant_topic
        return FailedRecord(topic, partition, offset, **original_of(rows, row))

    def _position(self, rows: pa.RecordBatch, row: int) -> tuple[str, Any]:
        """Source partition (JSON) and offset of a row."""
        if self._settings.poll:
            partition, offset = (rows.column(f"source_{what}")[row].as_py() for what in ("partition", "offset"))
            return str(partition), offset
        split = self._settings.pointer.plan.splits[self._report.split]
        return canonical_json(split.source_partition), rows.column("progress")[row].as_py()

    def _place(self, rows: pa.RecordBatch, row: int) -> str:
        partition, offset = self._position(rows, row)
        return f"source partition {partition} {'offset' if self._settings.poll else 'position'} {offset}"

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
            raise translated(error, f"writing the record at {self._place(rows, row)} to {topic}") from error

    def _refuse_impossible_timestamps(self, rows: pa.RecordBatch) -> None:
        """As ``ConnectUtils.checkAndConvertTimestamp``: -1 is "no timestamp", other negative ones are errors."""
        if "timestamp" not in rows.schema.names:
            return
        wrong = pc.index(pc.fill_null(pc.less(rows.column("timestamp"), -1), False), True).as_py()
        if wrong >= 0:
            found = rows.column("timestamp")[wrong].as_py()
            raise DataError(f"bad record at {self._place(rows, wrong)}: Invalid record timestamp {found}")

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

    def _remember_position(self, rows: pa.RecordBatch) -> None:
        if not self._settings.poll:
            self._last_progress = rows.column("progress")[-1].as_py()
            self._at_resume_point = self._last_progress is not None
            return
        partitions = rows.column("source_partition").to_pylist()
        offsets = rows.column("source_offset").to_pylist()
        self._last_offsets.update((p, o) for p, o in zip(partitions, offsets, strict=True) if p and o)

    def _chunk_is_due(self) -> bool:
        if self._open_since is None or not self._at_resume_point:
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
            if self._settings.poll:
                self._report.done = done
                return
            self._begin()
        self._producer.settle()
        self._produce_position(done)
        if done:
            failpoint("after-last-produce")
        failpoint("during-commit")
        self._producer.commit()
        self._open_since = None
        self._pending.move_to(self._report)
        self._report.progress, self._report.done = self._last_progress, done
        self._report.offsets = [(json.loads(p), json.loads(o)) for p, o in self._last_offsets.items()]
        if self._acks:
            self._acks.committed(self._report.handled)

    def _produce_position(self, done: bool) -> None:
        pointer = self._settings.pointer
        if self._settings.poll:
            for partition, offset in self._last_offsets.items():
                source_partition = json.loads(partition)
                known = self._settings.known_keys.get(partition_identity(source_partition))
                key = known or offset_key(pointer.connector, source_partition)
                self._produce_one(pointer.topic, offset_value(json.loads(offset)), key)
            return
        records = self._before + self._report.written + self._pending.written
        marker = Marker(pointer.plan.plan_id, self._last_progress, done, records, tuple(self._report.topics))
        self._produce_one(pointer.topic, marker.encode(), marker_key(pointer.connector, self._report.split))

    def _produce_one(self, topic: str, value: bytes, key: bytes) -> None:
        self._producer.produce_patiently(topic, value, key)

    def _finish(self) -> None:
        self._sender.send(self._report.written, done=True)
        if self._acks:
            self._acks.finished()
