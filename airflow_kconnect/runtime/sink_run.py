"""A sink run: rounds of bounded ranges from the group's offsets to the read_committed end (DESIGN 5)."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from confluent_kafka import Consumer, KafkaException
from confluent_kafka import TopicPartition as KafkaPartition

from airflow_kconnect.connect.connector import (
    NativeSinkConnector,
    PollSinkConnector,
    SinkConnector,
    SinkSplit,
    SplitWriter,
)
from airflow_kconnect.connect.errors import ConfigError, ConnectError, RetriableError
from airflow_kconnect.connect.frame import RecordFrame, Union
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.connect.run import RunReport
from airflow_kconnect.connect.sink_topics import chosen_topics, sink_group
from airflow_kconnect.connect.task_errors import unpack_error
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.errors import translated
from airflow_kconnect.kafka.producers import TransactionalProducer
from airflow_kconnect.runtime.dead_letters import as_before, ensure_topic, only_of_failed, original_in_kafka
from airflow_kconnect.runtime.decoding import PartDecoder, decoded_frame, unknown_even_then
from airflow_kconnect.runtime.encoding import converter_of
from airflow_kconnect.runtime.failpoints import failpoint
from airflow_kconnect.runtime.header_stage import HeaderStage
from airflow_kconnect.runtime.kafka_reader import ReaderSettings, read_samples, read_splits, with_places
from airflow_kconnect.runtime.lag import lag_of
from airflow_kconnect.runtime.phases import Phases
from airflow_kconnect.runtime.plain_sink import plain_sink
from airflow_kconnect.runtime.poll_sink import TaskWriter
from airflow_kconnect.runtime.progress import ProgressAddress, ProgressMonitor
from airflow_kconnect.runtime.session import LazySession
from airflow_kconnect.runtime.settings import RunSettings
from airflow_kconnect.runtime.sink_plan import (
    ROUND_RECORDS,
    Range,
    bounded,
    cut,
    interval_ranges,
    start_offset,
)
from airflow_kconnect.runtime.sink_writer import SinkReport, SinkWriterSettings, samples_of, sink_writer
from airflow_kconnect.runtime.spark_jobs import run_job, use_batches_of
from airflow_kconnect.runtime.split_writer import REPORT_SCHEMA
from airflow_kconnect.transforms.base import Scope
from airflow_kconnect.transforms.chain import Chain
from airflow_kconnect.transforms.extract_new_record_state import has_change_events

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

log = logging.getLogger(__name__)

_POLL_COLUMNS = frozenset({"key", "timestamp", "headers"})
# Tombstones pass untouched: in topics without Debezium's events they are deletions too.
_UNWRAP = {
    "transforms": "unwrap",
    "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
    "transforms.unwrap.delete.tombstone.handling.mode": "delete-to-tombstone",
    "transforms.unwrap.predicate": "tombstone",
    "transforms.unwrap.negate": "true",
    "predicates.tombstone.type": "RecordIsTombstone",
}


class SinkRun:
    """One run of a sink connector. Whatever it raises, offsets are committed only for what is safely written."""

    def __init__(
        self, settings: RunSettings, connector: SinkConnector, session: LazySession, *, replay: bool = False
    ) -> None:
        self._replay = replay
        self._settings, self._connector, self._session = settings, connector, session
        self._admin = KafkaAdmin(settings.clients.admin())
        own = sink_group(settings.config.props)
        own = settings.replay.name(own) if settings.replay else own
        self._group = f"{own}-dead-letters" if replay else own
        self._consumer_config = settings.clients.consumer(self._group, bulk=True)
        self._phases = Phases()
        self._header = converter_of(settings, "header")
        self._chain = Chain.from_props(settings.config.props)
        self._unwraps = isinstance(connector, NativeSinkConnector) and connector.unwraps_change_events
        self._key = PartDecoder("key", converter_of(settings, "key")) if "key" in self._columns else None
        self._value = PartDecoder("value", converter_of(settings, "value"))
        self._decoders = [(part, d) for part, d in (("key", self._key), ("value", self._value)) if d is not None]
        self._record_bytes = 0
        self._rounds = self._splits = 0
        self._counts = {"read": 0, "written": 0, "filtered": 0, "dead_lettered": 0}
        self._learned = self._needs_spark = False
        self._seen: set[tuple[str, bytes]] = set()
        self._warnings: list[str] = []
        self._notes: dict[str, Any] = {}

    @property
    def _columns(self) -> frozenset[str]:
        connector = self._connector
        own = connector.needs if isinstance(connector, NativeSinkConnector) else _POLL_COLUMNS
        everything = self._settings.errors.reports or self._replay
        return own | self._chain.needs | (_POLL_COLUMNS if everything else frozenset())

    @property
    def _ordered(self) -> bool:
        return self._connector.ordered if isinstance(self._connector, NativeSinkConnector) else True

    def run(self) -> RunReport:
        """The steps of a run.

        1 take the driver's transactional id: an older run of this connector can commit nothing any more
        2 only then read the group's offsets, and the ends as read_committed readers see them
        3 rounds: read, decode, write; make it visible; commit the offsets in the driver's transaction
        """
        self._phases.enter("connecting")
        self._admin.check_reachable()
        self._check_group()
        producer = TransactionalProducer(
            self._settings.clients.producer(self._settings.driver_id), f"driver of connector {self._settings.name}"
        )  # 1
        try:
            self._phases.enter("planning")
            ensure_topic(self._admin, self._settings.errors)
            ranges = self._ranges()  # 2
            failpoint("after-reading-offsets")
            if self._settings.dry_run:
                return self._dry_run(ranges)
            if isinstance(self._connector, NativeSinkConnector):
                self._connector.prepare({found.place: found.start for found in ranges})
            left = self._in_rounds(producer, ranges)  # 3
            return self._report(ranges, left)
        finally:
            producer.close()

    def _check_group(self) -> None:
        state, members = self._admin.group_state(self._group)
        if members:
            raise RetriableError(
                f"consumer group {self._group} is {state} with {members} members: a Connect cluster still runs this"
                " sink. Stop the connector there first"
            )

    def _ranges(self) -> list[Range]:
        topics = self._admin.topics()
        worker = self._settings.worker
        internal = frozenset(str(worker.get(f"{store}.storage.topic")) for store in ("offset", "config", "status"))
        reset = self._settings.config.props.get("consumer.override.auto.offset.reset")
        ranges = []
        chosen = self._topics(topics, internal)
        stored = self._stored([TopicPartition(topic, p) for topic in chosen for p in range(topics[topic])])
        for topic in chosen:
            partitions = range(topics[topic])
            committed = self._committed(topic, topics[topic])
            for p in partitions:
                in_target = stored.get(TopicPartition(topic, p), -1)
                if in_target > committed.get(p, -1):
                    committed[p] = in_target
            begins = self._admin.begin_offsets(topic, partitions)
            ends = self._admin.end_offsets(topic, partitions, committed=True)
            if self._settings.replay is not None:
                ranges += self._replayed(self._settings.replay, topic, committed, begins, ends)
                continue
            for p in partitions:
                place = TopicPartition(topic, p)
                start, warning = start_offset(place, committed.get(p), begins[p], ends[p], reset)
                self._warnings += [warning] if warning else []
                ranges.append(Range(place, start, max(start, ends[p])))
        return ranges

    def _replayed(
        self,
        replay: Replay,
        topic: str,
        committed: Mapping[int, int],
        begins: Mapping[int, int],
        ends: Mapping[int, int],
    ) -> list[Range]:
        """What belongs to the interval, less what an earlier attempt has written; see `interval_ranges`."""
        first, after = (self._admin.offsets_at(topic, ends, ms) for ms in (replay.start_ms, replay.end_ms))
        ranges, warnings = interval_ranges(topic, (first, after), begins, ends)
        self._warnings += warnings
        return [
            Range(found.place, min(max(found.start, committed.get(found.place.partition, -1)), found.end), found.end)
            for found in ranges
        ]

    def _stored(self, partitions: list[TopicPartition]) -> Mapping[TopicPartition, int]:
        """Offsets that the target keeps beside its data."""
        return self._connector.stored_offsets(partitions) if isinstance(self._connector, NativeSinkConnector) else {}

    def _topics(self, existing: Mapping[str, int], internal: frozenset[str]) -> list[str]:
        if not self._replay:
            return chosen_topics(self._settings.config.props, existing, internal)
        dead_letters = self._settings.errors.topic
        if dead_letters is None:
            key = "errors.deadletterqueue.topic.name"
            raise ConfigError({key: ["is not set: there are no dead letters to replay"]}, self._settings.name)
        return [dead_letters]

    def _committed(self, topic: str, partitions: int) -> dict[int, int]:
        consumer = Consumer(self._consumer_config)
        try:
            found = consumer.committed([KafkaPartition(topic, p) for p in range(partitions)], timeout=30.0)
        except KafkaException as error:
            raise translated(error, f"reading the offsets of group {self._group}") from error
        finally:
            consumer.close()
        return {tp.partition: tp.offset for tp in found if tp.offset >= 0}

    def _in_rounds(self, producer: TransactionalProducer, ranges: list[Range]) -> list[Range]:
        """Move everything, a round at a time; returns what a bound left over."""
        settings = self._settings
        budget = settings.max_records
        deadline = None if settings.max_duration_ms is None else time.monotonic() + settings.max_duration_ms / 1000
        left = [found for found in ranges if found.end > found.start]
        held_back: list[Range] = []  # by a task's `pre_commit`: they are put again by the next run
        while left and budget != 0 and (deadline is None or time.monotonic() < deadline):
            size = ROUND_RECORDS if budget is None else min(ROUND_RECORDS, budget)
            taken = bounded(left, size)
            cores = self._session.parallelism()
            splits = cut(taken, ordered=self._ordered, splits_max=settings.splits_max, parallelism=cores)
            done = self._round(producer, splits)
            moved = sum(done.get(found.place, found.start) - found.start for found in taken)
            budget = None if budget is None else budget - moved
            held_back += [r for r in _advanced(taken, done) if r.end > r.start and not self._learned]
            places = {found.place for found in held_back}
            left = [r for r in _advanced(left, done) if r.end > r.start and r.place not in places]
        return left + held_back

    def _round(self, producer: TransactionalProducer, splits: list[SinkSplit]) -> dict[TopicPartition, int]:
        """Write the splits and commit; returns the new offset of each partition."""
        self._learn_from_samples(splits)
        self._phases.enter("preparing the Spark job")
        reports = self._write(splits)
        accepted, reached = contiguous(splits, reports)
        self._rounds, self._splits = self._rounds + 1, self._splits + len(splits)
        self._phases.enter("committing offsets")
        failpoint("after-last-write")
        self._make_visible(accepted)
        failpoint("after-visible")
        self._commit(producer, reached)
        failpoint("after-final-commit")
        for _, report in accepted:
            self._counts["written"] += report.written
            self._counts["filtered"] += report.filtered
            self._counts["dead_lettered"] += report.dead_lettered
        self._raise_or_learn(reports)
        return reached

    def _learn_from_samples(self, splits: list[SinkSplit]) -> None:
        """Look at the first messages of each partition, so that common shapes and sizes are known to the first job."""
        if self._rounds:
            return
        self._phases.enter("looking at samples")
        firsts = {split.topic_partition: split for split in sorted(splits, key=lambda split: -split.start)}
        messages = read_samples(self._settings.clients.consumer(self._group), firsts.values())
        for part, decoder in self._decoders:
            decoder.learn([getattr(message, part)() for message in messages])
        self._record_bytes = max((len(message.value() or b"") for message in messages), default=0)

    def _write(self, splits: list[SinkSplit]) -> list[SinkReport]:
        spark = self._session.spark
        use_batches_of(spark, self._record_bytes)
        expected = sum(split.end - split.start for split in splits)
        with ProgressMonitor(self._session.driver_host, len(splits), expected) as monitor:
            reported = self._plain_job(splits, monitor.address) or self._spark_job(splits, monitor.address)
            self._phases.enter("moving records")
            found = [SinkReport(**json.loads(row.report)) for row in run_job(spark, reported)]
        return sorted(found, key=lambda report: report.index)

    def _plain_job(self, splits: list[SinkSplit], progress: ProgressAddress) -> DataFrame | None:
        """A job that needs no Catalyst, if the connector and all that has been read so far allow that."""
        connector, value = self._connector, self._value
        if self._needs_spark or self._replay or self._chain.links or not isinstance(connector, NativeSinkConnector):
            return None
        if not all(decoder.parsers for _, decoder in self._decoders):
            return None
        renderer = connector.batch_renderer(self._key.shapes if self._key else (), value.shapes)
        if renderer is None:
            return None
        reader = self._reader(splits, frozenset(part for part, _ in self._decoders), keeps_parsed=False)
        writers = tuple(connector.writer() for _ in splits)
        return plain_sink(self._session.spark, reader, renderer, self._writing(splits, writers, progress))

    def _spark_job(self, splits: list[SinkSplit], progress: ProgressAddress) -> DataFrame:
        columns = self._columns.union(*(decoder.columns for _, decoder in self._decoders))
        reader = self._reader(splits, columns, keeps_parsed=self._settings.errors.reports or self._replay)
        frame = self._frame(read_splits(self._session.spark, reader), splits)
        writers: tuple[SplitWriter, ...]
        if isinstance(self._connector, NativeSinkConnector):
            rows: Any = self._connector.render(frame)
            writers = tuple(self._connector.writer() for _ in splits)
        else:
            assert isinstance(self._connector, PollSinkConnector)
            rows, writers = _for_tasks(
                frame, self._connector, self._settings.tasks_max, len(splits), HeaderStage.of(self._header)
            )
        reported: DataFrame = rows.mapInArrow(sink_writer(self._writing(splits, writers, progress)), REPORT_SCHEMA)
        return reported

    def _reader(self, splits: list[SinkSplit], columns: frozenset[str], *, keeps_parsed: bool) -> ReaderSettings:
        parsers = {name: parser for _, decoder in self._decoders for name, parser in decoder.parsers.items()}
        return ReaderSettings(self._consumer_config, tuple(splits), columns, parsers, keeps_parsed=keeps_parsed)

    def _writing(
        self, splits: list[SinkSplit], writers: tuple[SplitWriter, ...], progress: ProgressAddress
    ) -> SinkWriterSettings:
        producer = self._settings.clients.producer(None)
        return SinkWriterSettings(tuple(splits), writers, progress, self._settings.errors, producer)

    def _frame(self, rows: DataFrame, splits: list[SinkSplit]) -> RecordFrame:
        """The records of the splits, decoded and transformed."""
        errors, poll = self._settings.errors, isinstance(self._connector, PollSinkConnector)
        carried = ("original",) if errors.reports else ()
        if self._chain.links or self._unwraps or self._replay:
            rows = with_places(rows, splits)
        if self._replay:
            rows = as_before(rows)
        if errors.reports:
            rows = rows.withColumn("original", original_in_kafka(with_place=self._replay))
        frame = decoded_frame(rows, self._key, self._value, carried)
        scope = Scope(is_sink=True, header_converter=self._header)
        frame = self._chain.apply(frame, scope)
        if self._unwraps and has_change_events(frame):
            frame = Chain.from_props(_UNWRAP).apply(frame, scope)
        return frame if poll or not carried else only_of_failed(frame)

    def _make_visible(self, accepted: list[tuple[SinkSplit, SinkReport]]) -> None:
        if isinstance(self._connector, NativeSinkConnector):
            results = [(split, report.result) for split, report in accepted if report.result is not None]
            for name, fact in self._connector.commit(results).items():
                self._notes[name] = self._notes.get(name, 0) + fact if isinstance(fact, int) else fact

    def _commit(self, producer: TransactionalProducer, reached: Mapping[TopicPartition, int]) -> None:
        """All partitions' offsets in one transaction: a fenced run cannot commit, and none is committed alone."""
        offsets = [KafkaPartition(place.topic, place.partition, offset) for place, offset in reached.items()]
        if not offsets:
            return
        consumer = Consumer(self._consumer_config)
        try:
            producer.begin()
            producer.send_sink_offsets(offsets, consumer.consumer_group_metadata())
            producer.commit()
        finally:
            consumer.close()

    def _raise_or_learn(self, reports: list[SinkReport]) -> None:
        """Raise what failed; records of shapes that were not known make the next round wiser."""
        errors = [unpack_error(report.error) for report in reports if report.error]
        if errors:
            raise min(errors, key=lambda error: error.exit_code)
        samples = {sample for report in reports for sample in samples_of(report)}
        needs_spark = any(report.needs_spark for report in reports)
        self._learned, self._needs_spark = bool(samples) or needs_spark, self._needs_spark or needs_spark
        if samples and samples <= self._seen:
            raise unknown_even_then(self._settings.name, samples)
        self._seen |= samples
        for part, decoder in self._decoders:
            decoder.learn([data for found, data in samples if found == part])

    def _dry_run(self, ranges: list[Range]) -> RunReport:
        self._notes = {"dry_run": True, "would_read_offsets": sum(found.end - found.start for found in ranges)}
        return replace(self._report(ranges, ranges), notes=self._notes)

    def _report(self, ranges: list[Range], left: list[Range]) -> RunReport:
        remaining = {found.place: found.start for found in left}
        reached = {found.place: remaining.get(found.place, found.end) for found in ranges}
        lag, lag_max = self._lag(ranges, reached)
        connector, settings = self._connector, self._settings
        exact = isinstance(connector, NativeSinkConnector) and connector.exactly_once
        return RunReport(
            connector=settings.name,
            kind="sink",
            connector_class=type(connector).__name__,
            run_id=settings.run_id,
            guarantee="exactly_once" if exact else "at_least_once",
            records=self._counts | {"read": sum(self._counts.values())},
            topics=sorted({found.place.topic for found in ranges}),
            offsets=[
                {"topic": place.topic, "partition": place.partition, "offset": offset}
                for place, offset in reached.items()
            ],
            splits=self._splits,
            complete=not left,
            notes={**self._notes, "rounds": self._rounds} if self._rounds else {},
            warnings=[*settings.config.warnings, *self._warnings],
            durations_s=self._phases.durations(),
            replay=str(settings.replay) if settings.replay else None,
            lag=lag,
            lag_max=lag_max,
        )

    def _lag(self, ranges: list[Range], reached: Mapping[TopicPartition, int]) -> tuple[dict[str, int], int | None]:
        """What is left to read. A run that moved nothing has only just seen the ends; a replay is never behind."""
        if self._settings.replay:
            return {}, None
        try:
            known = {found.place: found.end for found in ranges}
            return lag_of(reached, self._admin.committed_ends(reached) if self._rounds else known)
        except ConnectError as error:  # everything is committed: the run must not fail of it
            self._warnings.append(f"the lag is not known: {error}")
            return {}, None


def _advanced(ranges: list[Range], reached: Mapping[TopicPartition, int]) -> list[Range]:
    return [Range(found.place, reached.get(found.place, found.start), found.end) for found in ranges]


def contiguous(
    splits: list[SinkSplit], reports: list[SinkReport]
) -> tuple[list[tuple[SinkSplit, SinkReport]], dict[TopicPartition, int]]:
    """The splits that count, and the offset that each partition has reached without a gap.

    A split that ended early (a bad record, a shape that nobody knew, an error) ends its partition: what later splits
    of it wrote is not made visible, and is written again.
    """
    accepted: list[tuple[SinkSplit, SinkReport]] = []
    reached: dict[TopicPartition, int] = {}
    for split, report in sorted(zip(splits, reports, strict=True), key=lambda pair: pair[0].start):
        place = split.topic_partition
        if reached.setdefault(place, split.start) == split.start and report.result is not None:
            accepted.append((split, report))
            reached[place] = report.end
    return accepted, reached


def _for_tasks(
    frame: RecordFrame, connector: PollSinkConnector, tasks_max: int, splits: int, headers: HeaderStage
) -> tuple[Any, tuple[TaskWriter, ...]]:
    """Rows and writers for a Python sink; schemaless data travel as JSON text."""
    from pyspark.sql import functions as F

    rows = frame.df
    for union in (frame.key, frame.value):
        for shape, column in zip(union.shapes, union.columns, strict=True):
            if shape.schemaless:
                rows = rows.withColumn(column, F.to_json(F.col(column)))
    configs = connector.task_configs(tasks_max)
    task_class = connector.task_class()
    parts = (frame.key, frame.value, headers)
    writers = tuple(TaskWriter(task_class, configs[n % len(configs)], *parts) for n in range(splits))
    topic = [frame.topic] if frame.topic else []
    columns = [*_task_columns(frame.key), *_task_columns(frame.value), "timestamp", "headers", *topic, *frame.carried]
    return rows.select(*columns), writers


def _task_columns(union: Union) -> tuple[str, ...]:
    return (*union.columns, *((union.tag,) if union.tag else ()))
