"""DirectorySink: topics into folders of files of JSON lines, Parquet, Avro, text or bytes, exactly once.

The layout is that of Confluent's S3 and HDFS sinks:
``<directory>/<topic>/partition=<n>/<topic>+<n>+<offset of the first record>.<extension>``.
The driver and all executors must have access to the same `directory`. Keys and headers are not stored.

JSON: a record without value is a line ``null``; bytes are base64, dates and timestamps ISO strings, decimals numbers.
Parquet and Avro: the members of structs are columns, other values (schemaless ones as JSON text) are in a column
``value``. A round's files have the columns of all shapes that the run has seen so far, null where a record has no such
member.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.config import (
    ConfigDef,
    Importance,
    Range,
    Type,
    ValidString,
    nullable,
)
from airflow_kconnect.connect.connector.datasets import Dataset
from airflow_kconnect.connect.connector.sink import BatchRenderer, NativeSinkConnector, SinkSplit, SplitWriter
from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.connectors.changes import EVOLVE, SCHEMA_CHANGE, define_schema_change
from airflow_kconnect.connectors.directory.encoders.formats import COMPRESSIONS, FORMATS
from airflow_kconnect.connectors.directory.layout import FolderLayout, VisibleFile
from airflow_kconnect.kafka.sink_topics import named_topics
from airflow_kconnect.places.address import address, dataset, is_in_store
from airflow_kconnect.places.base import PlacedFile, StagedFile
from airflow_kconnect.places.keys import address_validator, check_connection, define_store_keys, store_problems
from airflow_kconnect.places.registry import open_place
from airflow_kconnect.runs.warnings import Kind, RunWarning
from airflow_kconnect.validation.connector_keys import KCONNECT

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from airflow_kconnect.connect.data import Shape
    from airflow_kconnect.connect.frame import RecordFrame
    from airflow_kconnect.connectors.directory.held import HeldRows
    from airflow_kconnect.connectors.directory.tables import FolderTables

_SEPARATOR = "format.bytearray.separator"
_THREADS = 8
Results = Sequence[tuple[SinkSplit, dict[str, Any]]]


class DirectorySinkConnector(NativeSinkConnector):
    """Splits of a partition are written in parallel: their files do not overlap, and are named by where they begin."""

    summary = "Writes topics into folders of JSON, Parquet, Avro, text or byte files, exactly once."

    exactly_once = True
    needs = frozenset[str]()
    ordered = False

    def __init__(self, props: Mapping[str, str]) -> None:
        super().__init__(props)
        self._unseen: Mapping[TopicPartition, int] = {}
        self._left_behind: dict[TopicPartition, list[VisibleFile]] = {}
        self._policy = (self.config_values[SCHEMA_CHANGE] or EVOLVE).lower()
        self._tables: FolderTables | None = None
        self._held: HeldRows | None = None
        self._left_out: dict[str, dict[str, None]] = {}
        if self._policy != EVOLVE:
            self.needs = frozenset({"topic"})

    @classmethod
    def alter_offsets(cls, props: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """There are no offsets besides the group's."""
        return True

    @classmethod
    def start_problems(
        cls, props: Mapping[str, str], starts: Mapping[TopicPartition, int], committed: Mapping[TopicPartition, int]
    ) -> list[str]:
        """A run replaces whole files: one that begins before its start would keep records that are written again.

        If the folder is not there, or a store cannot be reached from here, nothing is known about its files.
        """
        values = cls.config().parse(props)
        directory, problems = values["directory"], list[str]()
        ignored = [ConnectError] if is_in_store(directory) else []
        with contextlib.suppress(*ignored), open_place(directory, values) as place:
            for tp, start in starts.items():
                if found := _parted(FolderLayout(place, ""), tp, start, committed.get(tp)):
                    name, begin, end = found
                    problems.append(
                        f"{tp}: offset {start} may be in the middle of {name}, whose records from there on would be"
                        f" stored twice; use {begin} or {end}, or move the file out of {place} first"
                    )
        return problems

    @classmethod
    def config(cls) -> ConfigDef:
        config = (
            ConfigDef()
            .define("directory", Type.STRING, importance=Importance.HIGH, validator=address_validator(),
                    documentation="Absolute path of the folder to write to, created if it is missing, which "
                    "the driver and all executors see; or an address in a store, like `s3://bucket/prefix`.",
                    example="s3://bucket/orders")
            .define("format", Type.STRING, "json", Importance.HIGH, "`json` (a line per record), `parquet`, `avro` "
                    "(container files), `text` (a line per value, as FileStreamSink writes it) or `bytes`.",
                    validator=ValidString.in_(*FORMATS))
            .define("flush.size", Type.INT, 1_000_000, Importance.MEDIUM, "Most records per file. A run "
                    "also starts a new file at each split (100 000 to 1 000 000 offsets).", validator=Range.at_least(1))
            .define("compression", Type.STRING, None, Importance.LOW,
                    "For json, text and bytes: `none` (default), `gzip`, `zstd`, `snappy` or `lz4`; for parquet: "
                    "`snappy` (default), `zstd`, `gzip`, `lz4` or `none`; for avro: `snappy` (default), `zstd`, "
                    "`deflate` or `none`.", validator=nullable(ValidString.in_(*COMPRESSIONS)))
            .define(_SEPARATOR, Type.STRING, None, Importance.LOW,
                    "What follows each value in files of bytes. A line feed if not set.")
            .define("replay.directory", Type.STRING, None, Importance.LOW, validator=address_validator(),
                    documentation="Absolute path of a folder for replayed intervals, each in a folder of its own named "
                    "by its begin and end. Default: `_replays` in `directory`, which Spark and Hive do not read.",
                    group=KCONNECT)
        )  # fmt: skip
        return define_schema_change(
            define_store_keys(config),
            "What happens to records with fields that the files of their topic do not have, or with other types. "
            "evolve (if not set): new files have them. fail: the record is refused. ignore: new fields are left out, "
            "and the report names them; a value of another type is refused unless it fits.",
        )

    @classmethod
    def validate(cls, props: Mapping[str, str]) -> dict[str, list[str]]:
        problems = store_problems(props, "directory")
        format_ = FORMATS.get(props.get("format", "json"))
        if format_ is None:
            return problems
        compression, allowed = props.get("compression"), format_.compressions
        if compression is not None and compression not in allowed:
            problems |= {
                "compression": [f"is {compression}, but with this `format` it must be one of {', '.join(allowed)}"]
            }
        policy = (props.get(SCHEMA_CHANGE) or EVOLVE).lower()
        if policy != EVOLVE and not format_.has_fields:
            problems |= {SCHEMA_CHANGE: [f"is {policy}, but files of this `format` have no fields: remove the key"]}
        return problems

    @classmethod
    def datasets(cls, props: Mapping[str, str], report: Mapping[str, Any] | None = None) -> list[Dataset]:
        """A folder per topic; for a replay the folder of replays."""
        if report and report["replay"]:
            return [dataset(address(_replays(props)))]
        topics = report["topics"] if report else named_topics(props)
        return [dataset(address(props["directory"]).below(topic)) for topic in topics]

    @classmethod
    def replay_problem(cls, props: Mapping[str, str]) -> str | None:
        """A replay has its own folder."""
        return None

    def replay(self, replay: Replay) -> None:
        """A replay's files begin at other offsets than existing files: together they would hold records twice."""
        self.config_values["directory"] = str(address(_replays(self.config_values)).below(replay.folder))
        vars(self).pop("_layout", None)

    @property
    def _format(self) -> str:
        return str(self.config_values["format"])

    @property
    def _compression(self) -> str:
        return self.config_values["compression"] or FORMATS[self._format].compressions[0]

    @cached_property
    def _layout(self) -> FolderLayout:
        place = open_place(self.config_values["directory"], self.config_values)
        return FolderLayout(place, FORMATS[self._format].extension(self._compression))

    def check(self) -> None:
        """The folder itself is created when a file is written: a dry run leaves nothing behind."""
        check_connection(self.props)
        self._layout.place.check()

    def prepare(self, start: Mapping[TopicPartition, int]) -> None:
        """Remove what killed runs have left unfinished: it can no longer become visible."""
        with _at_once() as pool:
            list(pool.map(self._discard_staged, start))
        self._unseen = start
        if self._policy != EVOLVE:
            from airflow_kconnect.connectors.directory.tables import FolderTables

            self._tables = FolderTables(str(self.props.get("name")), self._policy)
            self._tables.look(self._layout, start)

    def _discard_staged(self, partition: TopicPartition) -> None:
        for staged in self._layout.staged(partition):
            self._layout.place.discard(staged)

    def wants_first_shapes(self) -> Sequence[str]:
        return self._tables.unknown if self._tables else ()

    def first_shape(self, topic: str, shape: Shape) -> None:
        assert self._tables is not None
        self._tables.begin(topic, shape, with_types=self._format != "json")

    def render(self, frame: RecordFrame) -> DataFrame:
        if self._tables is None:
            from airflow_kconnect.connectors.directory.rows import rendered

            return rendered(self._format, frame, self.config_values[_SEPARATOR] or "\n")
        from airflow_kconnect.connectors.directory.held import held_lines, held_parquet

        self._held = (held_lines if self._format == "json" else held_parquet)(frame, self._tables)
        return self._held.rows

    def batch_renderer(self, keys: Sequence[Shape], values: Sequence[Shape]) -> BatchRenderer | None:
        if self._tables is not None:
            return None
        from airflow_kconnect.connectors.directory.plain import plain_renderer

        return plain_renderer(self._format, values)

    def writer(self) -> SplitWriter:
        from airflow_kconnect.connectors.directory.writers import DirectoryWriter

        return DirectoryWriter(
            self._layout,
            format=self._format,
            compression=self._compression,
            flush_size=self.config_values["flush.size"],
            columns=self._held.columns if self._held else {},
        )

    def before_commit(self) -> None:
        """Remember what killed runs had made visible, before the first round. Not earlier: a store may still have been
        busy with the last request of such a run.

        The visible files stay, although their offsets are not committed: their records are correct. They are removed
        when these offsets are written again (see `commit`), and not before: if Kafka no longer has the records, the
        only copy would be lost.
        """
        start, self._unseen = self._unseen, {}
        with _at_once() as pool:
            seen = pool.map(self._layout.visible, start, start.values())
            self._left_behind |= zip(start, seen, strict=True)

    def commit(self, results: Results) -> dict[str, Any]:
        """Make the files of a round visible; what was visible at these offsets is removed.

        1 Rename: each file appears complete. One that is missing was removed by a newer run when that run began.
        2 Remove the files that a killed run left at the same offsets. As it saw a different end of the partition, or
          had different settings, they may begin elsewhere, and their records would be duplicated. Only files that
          were there before may be removed: later ones are those of a newer run.
        3 Make the names durable: the offsets are committed next.

        :raises FencedError: a temporary file is missing.
        """
        staged = [StagedFile.from_json(file) for _, facts in results for file in facts["files"]]
        left = [file for split, facts in results for file in self._left_at(split, facts["end"])]
        replaced = self._layout.place.replace(staged, left)
        for split, facts in results:
            for number in facts.get("left_out", ()):
                assert self._held is not None
                fields = self._held.left_out[split.topic, number]
                self._left_out.setdefault(split.topic, {}).update(dict.fromkeys(fields))
        records = sum(file["records"] for _, facts in results for file in facts["files"])
        return {"files": len(staged), "records": records, "replaced_files": replaced}

    def run_warnings(self) -> list[str]:
        return [
            RunWarning(
                Kind.ALTERED,
                f"the files of topic {topic} have no fields {', '.join(f'`{name}`' for name in names)}: they are left "
                f"out, as `{SCHEMA_CHANGE}` is ignore",
            )
            for topic, names in sorted(self._left_out.items())
        ]

    def _left_at(self, split: SinkSplit, end: int) -> list[PlacedFile]:
        """What killed runs have left at the offsets of a split."""
        left = self._left_behind.get(split.topic_partition, ())
        return [each.file for each in left if split.start <= each.offset < end]


def _at_once() -> ThreadPoolExecutor:
    """For partitions, each of which waits for its store."""
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="kconnect-partitions")


def _replays(values: Mapping[str, Any]) -> str:
    return values.get("replay.directory") or str(address(values["directory"]).below("_replays"))


def _parted(
    layout: FolderLayout, topic_partition: TopicPartition, start: int, committed: int | None
) -> tuple[str, int, int] | None:
    """The file that may have records before and after an offset, where it begins, and where the next one does."""
    files = layout.visible(topic_partition)
    before = [file for file in files if file.offset <= start]
    later = [
        offset for offset in (*(file.offset for file in files), committed) if offset is not None and offset > start
    ]
    if not before or before[-1].offset == start or not later:
        return None
    return before[-1].name, before[-1].offset, min(later)
