"""The jobs of a sink run: read, decode, transform, render, write. They know the shapes seen so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.connector.sink import BatchRenderer, SinkSplit, SplitWriter
from airflow_kconnect.connect.data import Shape
from airflow_kconnect.connect.frame import ExpectedObjects, RecordFrame
from airflow_kconnect.converters.base import BatchParser
from airflow_kconnect.kafka.headers import headers_of_all
from airflow_kconnect.runtime.conversion.decoding import PartDecoder, decoded_frame, is_unparsed, unknown_even_then
from airflow_kconnect.runtime.conversion.encoding import converter_of
from airflow_kconnect.runtime.conversion.header_stage import HeaderStage
from airflow_kconnect.runtime.conversion.schema_ids import part_of
from airflow_kconnect.runtime.dead_letters import REPLAYED_OFFSET, as_before, original_in_kafka
from airflow_kconnect.runtime.process.progress import ProgressAddress
from airflow_kconnect.runtime.process.split_worker import Move
from airflow_kconnect.runtime.report_rows import with_reports
from airflow_kconnect.runtime.settings import RunSettings
from airflow_kconnect.runtime.sink.kinds import ALL_PARTS, SinkKind
from airflow_kconnect.runtime.sink.reader import (
    ReaderSettings,
    read_samples,
    read_splits,
    with_topic,
    with_topic_partition,
)
from airflow_kconnect.runtime.sink.without_jvm import plain_move
from airflow_kconnect.runtime.sink.writer import SinkWriterSettings, sink_writer
from airflow_kconnect.runtime.spark_jobs import observed, use_batches_of
from airflow_kconnect.transforms.base import Scope
from airflow_kconnect.transforms.chain import Chain
from airflow_kconnect.transforms.debezium.extract_new_record_state import has_change_events, without_events

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    Job = tuple[DataFrame, Callable[[], int] | None]

_UNKNOWN = 0
_LEARNT_MAX = 32
_HEAD = 100
"""How many records of a partition are looked at to know what it begins with."""
_READ_FROM = "read_from"
# Tombstones pass through unchanged: in topics without Debezium's events they are deletions, too.
_UNWRAP = {
    "transforms": "unwrap",
    "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
    "transforms.unwrap.delete.tombstone.handling.mode": "delete-to-tombstone",
    "transforms.unwrap.predicate": "tombstone",
    "transforms.unwrap.negate": "true",
    "predicates.tombstone.type": "RecordIsTombstone",
}
_UNWRAP_WITH_ROWS = {**_UNWRAP, "transforms.unwrap.delete.tombstone.handling.mode": "rewrite"}


class SinkJobs:
    """Creates a round's job for its splits.

    :param consumer_config: of the readers.
    :param dead_letters: the records are dead letters: they are read as they were before they failed.
    """

    def __init__(
        self,
        settings: RunSettings,
        kind: SinkKind,
        consumer_config: Mapping[str, Any],
        *,
        dead_letters: bool,
    ) -> None:
        self._settings, self._kind, self._dead_letters = settings, kind, dead_letters
        self._consumer_config = dict(consumer_config)
        self._header = converter_of(settings, "header")
        self._checked_headers = None if self._header.reads_anything else HeaderStage.of(self._header)
        self._chain = Chain.from_props(settings.config.props)
        self._keeps_key = "key" in self._needed_columns(reports=settings.errors.reports)
        # As in Connect, a key that cannot be read makes a bad record, whether the sink uses keys or not.
        key = converter_of(settings, "key")
        self._key = PartDecoder("key", key) if self._keeps_key or not key.reads_anything else None
        self._value = PartDecoder("value", converter_of(settings, "value"))
        self._decoders = [(part, d) for part, d in (("key", self._key), ("value", self._value)) if d is not None]
        self._record_bytes = _UNKNOWN
        self._needs_spark = False
        self._parsed_only, self._may_expect = False, True
        self._samples: list[bytes | None] = []
        self.own_topics: Sequence[str] = ()
        """The topics from which dead letters may come."""
        self._first: tuple[str, bytes] | None = None

    def _needed_columns(self, *, reports: bool) -> frozenset[str]:
        everything = reports or self._dead_letters
        return self._kind.needs | self._chain.needs | (ALL_PARTS if everything else frozenset())

    def look_at_samples(self, splits: Iterable[SinkSplit], group: str) -> None:
        """Look at the first messages of each partition, so that the first job knows common shapes and sizes."""
        firsts = {split.topic_partition: split for split in sorted(splits, key=lambda split: -split.start)}
        messages = read_samples(self._settings.clients.consumer(group), firsts.values())
        headers, _ = headers_of_all(messages)
        for part, decoder in self._decoders:
            decoder.look_at(zip((getattr(message, part)() for message in messages), headers, strict=True))
        self._record_bytes = max((len(message.value() or b"") for message in messages), default=0)
        self._samples = [message.value() for message in messages[:_HEAD]]
        self._parsed_only = self._are_parsed(self._value, [message.value() for message in messages])

    def learn(self, samples: Sequence[tuple[str, bytes]], *, needs_spark: bool, large: bool = False) -> bool:
        """Learn from what a job could not handle, so that the next one can; returns whether there was anything to
        learn.

        :param samples: (part, bytes) of records of unknown shapes, the first ones of each split first.
        :param needs_spark: there were records that only Catalyst can read or render.
        :param large: there were records larger than the samples had led to expect.
        :raises DataError: a shape is still not understood.
        """
        self._needs_spark = self._needs_spark or needs_spark
        if samples and samples[0] == self._first:
            raise unknown_even_then(self._settings.name, samples)
        # A round's plan has room for a limited number of shapes, the first one's among them. Others are met again.
        self._first, samples = samples[0] if samples else None, samples[:_LEARNT_MAX]
        parts = [(part_of(name), data) for name, data in samples]
        for part, decoder in self._decoders:
            own = [(data, by_id) for (sample_part, by_id), data in parts if sample_part == part]
            decoder.learn([data for data, _ in own], by_id=any(by_id for _, by_id in own))
        self._parsed_only = self._are_parsed(self._value, [data for (part, _), data in parts if part == "value"])
        if large:
            self._record_bytes = _UNKNOWN
        return bool(samples) or needs_spark or large

    def _are_parsed(self, decoder: PartDecoder, values: Sequence[bytes | None]) -> bool:
        """Whether it is likely that all values are parsed where they are read, and no harm is done if they are not."""
        return self._kind.exactly_once and not self._dead_letters and decoder.parses(values)

    def _of_objects(self, expected: ExpectedObjects) -> PartDecoder | None:
        """The decoder of values that are such objects, if it is likely that all are."""
        if not self._may_expect or self._chain.links or self._kind.unwraps_change_events:
            return None
        decoder = self._value.expecting(expected)
        return decoder if decoder is not None and self._are_parsed(decoder, self._samples) else None

    def renderer(self) -> BatchRenderer | None:
        """What renders the records without Catalyst, if connector, converters and everything read so far allow it."""
        if self._needs_spark or self._dead_letters or self._chain.links or self._checked_headers:
            return None
        used_key = self._key if self._keeps_key else None
        if not all(decoder.plain_parsers for decoder in (used_key, self._value) if decoder is not None):
            return None
        return self._kind.renderer(used_key.shapes if used_key else (), self._value.shapes)

    def plain_move(self, renderer: BatchRenderer, splits: list[SinkSplit], progress: ProgressAddress) -> Move:
        """Moves a split without Catalyst; returns its report.

        :param renderer: see `renderer`.
        """
        parsers = [decoder.plain_parsers for _, decoder in self._decoders]
        reader = self._reader(splits, frozenset(), parsers, keeps_parsed=False)
        writing = self._writing(splits, self._kind.writers(None, len(splits)), progress)
        return plain_move(reader, renderer, writing, keeps_key=self._keeps_key)

    def job(
        self,
        spark: SparkSession,
        renderer: BatchRenderer | None,
        splits: list[SinkSplit],
        progress: ProgressAddress,
        *,
        reporting: bool = True,
    ) -> Job:
        """A Spark job that writes the splits; its rows are their reports.

        :param renderer: see `renderer`. :param reporting: bad records are logged and become dead letters.
        :returns: the second value returns, once the job is over, how many records the readers have delivered; None: a
            job without Catalyst counts by itself.
        """
        if renderer is None:
            return self._catalyst_job(spark, splits, progress, reporting=reporting)
        rows = spark.range(0, len(splits), 1, len(splits))
        return with_reports(rows, self.plain_move(renderer, splits, progress)), None

    def _catalyst_job(
        self, spark: SparkSession, splits: list[SinkSplit], progress: ProgressAddress, *, reporting: bool
    ) -> Job:
        reports = reporting and self._settings.errors.reports
        reader = self._catalyst_reader(spark, splits, originals=reports)
        records, delivered = observed(read_splits(spark, reader), padded=False)
        frame = self._frame(records, splits, originals=reports)
        self._tell_first_shapes(spark, reader)
        rows = self._kind.rows(frame)
        writing = self._writing(splits, self._kind.writers(frame, len(splits)), progress)
        if not reporting:
            writing = replace(writing, errors=replace(writing.errors, log=False, topic=None))
        return with_reports(rows, sink_writer(writing)), delivered

    def frame(
        self,
        spark: SparkSession,
        splits: list[SinkSplit],
        progress: ProgressAddress,
        *,
        originals: bool = False,
        expected: ExpectedObjects | None = None,
    ) -> tuple[RecordFrame, Callable[[], int]]:
        """The records of the splits, and how many the readers have delivered, when they have.

        :param progress: gets what was read: Spark's writers do not count.
        :param originals: the records as they are in Kafka go along, with topic and partition.
        :param expected: what values without a schema probably are.
        """
        of_objects = None if expected is None else self._of_objects(expected)
        value, parsed_only = of_objects or self._value, of_objects is not None or self._parsed_only
        reader = self._catalyst_reader(spark, splits, originals=originals, value=value)
        records, delivered = observed(read_splits(spark, replace(reader, progress=progress)), padded=False)
        frame = self._frame(
            records,
            splits,
            originals=originals,
            located=originals,
            parsed_only_by=value if parsed_only and not originals else None,
        )
        return frame, delivered

    def learn_from(self, error: Exception) -> bool:
        """Whether a job over a `frame` failed because that was made for usual values only. The next one is not."""
        if not is_unparsed(error):
            return False
        self._parsed_only = self._may_expect = False
        return True

    def _catalyst_reader(
        self, spark: SparkSession, splits: list[SinkSplit], *, originals: bool, value: PartDecoder | None = None
    ) -> ReaderSettings:
        """:param value: decodes values in place of the usual decoder."""
        parsers = [(value or decoder if part == "value" else decoder).parsers for part, decoder in self._decoders]
        reader = self._reader(
            splits, self._needed_columns(reports=originals), parsers, keeps_parsed=originals or self._dead_letters
        )
        return replace(reader, largest=use_batches_of(spark, self._record_bytes))

    def _tell_first_shapes(self, spark: SparkSession, reader: ReaderSettings) -> None:
        """Look at the beginnings of partitions for a connector that wants to know what they begin with."""
        wanted = self._kind.wants_first_shapes()
        firsts = {s.topic_partition: s for s in sorted(reader.splits, key=lambda s: -s.start) if s.topic in wanted}
        if not firsts:
            return
        heads = [replace(split, end=min(split.end, split.start + _HEAD)) for _, split in sorted(firsts.items())]
        frame = self._frame(
            read_splits(spark, replace(reader, splits=tuple(heads))), heads, originals=self._settings.errors.reports
        )
        shapes = first_shapes(frame)
        for index, split in reversed(list(enumerate(heads))):
            if index in shapes:
                self._kind.first_shape(split.topic, shapes[index])

    def _reader(
        self,
        splits: list[SinkSplit],
        columns: frozenset[str],
        parsers: Iterable[Mapping[str, BatchParser]],
        *,
        keeps_parsed: bool,
    ) -> ReaderSettings:
        headers = {part: header for _, decoder in self._decoders for part, header in decoder.id_headers.items()}
        columns = columns.union(*(decoder.columns for _, decoder in self._decoders))
        return ReaderSettings(
            self._consumer_config,
            tuple(splits),
            columns,
            {name: parser for part in parsers for name, parser in part.items()},
            keeps_parsed=keeps_parsed,
            id_headers=headers,
            checked_headers=self._checked_headers,
        )

    def _writing(
        self, splits: list[SinkSplit], writers: tuple[SplitWriter, ...], progress: ProgressAddress
    ) -> SinkWriterSettings:
        producer = self._settings.clients.producer(None)
        return SinkWriterSettings(
            tuple(splits),
            writers,
            progress,
            self._settings.errors,
            producer,
            self._consumer_config,
            replayed_topics=frozenset(self.own_topics) if self._dead_letters else None,
        )

    def _frame(
        self,
        rows: DataFrame,
        splits: list[SinkSplit],
        *,
        originals: bool,
        located: bool = False,
        parsed_only_by: PartDecoder | None = None,
    ) -> RecordFrame:
        """The records of the splits, decoded and transformed.

        :param originals: what is wrong with a record may be reported: the record goes along as it is in Kafka.
        :param located: so do its topic and partition.
        :param parsed_only_by: decodes values all of which were parsed, see `decoded_frame`.
        """
        located = located or self._dead_letters
        carried = ("original",) if originals else ()
        if "topic" in self._kind.needs:
            rows, carried = with_topic(rows, splits, _READ_FROM), (*carried, _READ_FROM)
        if self._chain.links or self._kind.unwraps_change_events or located or "partition" in self._kind.needs:
            rows = with_topic_partition(rows, splits)
        if self._dead_letters:
            rows = as_before(rows, self.own_topics)
        place = REPLAYED_OFFSET if self._dead_letters else "kafka_offset"
        if originals:
            rows = rows.withColumn("original", original_in_kafka(with_place=place if located else None))
        value, parsed_only = parsed_only_by or self._value, parsed_only_by is not None
        frame = decoded_frame(rows, self._key, value, carried, keeps_key=self._keeps_key, parsed_only=parsed_only)
        scope = Scope(is_sink=True, header_converter=self._header)
        frame = self._chain.apply(frame, scope)
        if self._kind.unwraps_change_events and has_change_events(frame):
            unwrap = _UNWRAP_WITH_ROWS if self._kind.keeps_deleted_rows else _UNWRAP
            frame = without_events(Chain.from_props(unwrap).apply(frame, scope))
        return frame


def first_shapes(frame: RecordFrame) -> dict[int, Shape]:
    """The shape of the first good value in each Spark partition that has one."""
    tags = {row["split"]: row["tag"] for row in first_tags(frame).collect()}
    return {split: frame.value.shapes[tag] for split, tag in tags.items() if tag is not None}


def first_tags(frame: RecordFrame) -> DataFrame:
    """The tag of that value for each Spark partition, or null."""
    from pyspark.sql import functions as F

    tag = F.col(frame.value.tag) if frame.value.tag else F.lit(0)
    # No `where`: up to 4.1 Spark would replace the columns in it by what they are computed from, stage by stage down to
    # the reader, and they name each other so often that a plan of four shapes takes minutes and a gigabyte.
    offset = F.when(F.col("error").isNull() & tag.isNotNull(), F.col("kafka_offset"))
    return frame.df.groupBy(F.spark_partition_id().alias("split")).agg(F.min_by(tag, offset).alias("tag"))
