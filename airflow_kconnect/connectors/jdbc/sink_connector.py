"""JDBC sinks: topics into tables, exactly once, with the keys of Confluent's and Aiven's sinks.

PostgreSQL gets rows by COPY and merges, other databases by statements for many rows; those without a Python driver here
by their JDBC drivers.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.connector.datasets import Dataset
from airflow_kconnect.connect.connector.sink import BatchRenderer, NativeSinkConnector, SinkSplit, SplitWriter
from airflow_kconnect.connect.data import Shape
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.connectors.changes import SCHEMA_CHANGE
from airflow_kconnect.connectors.jdbc.databases.resolving import target_of
from airflow_kconnect.connectors.jdbc.driver.datasets import datasets_of
from airflow_kconnect.connectors.jdbc.driver.drivers import ALLOWED, forbidden_drivers
from airflow_kconnect.connectors.jdbc.sink.config import (
    INSERT,
    KAFKA,
    RECORD_KEY,
    UPDATE,
    UPSERT,
    aiven_keys,
    confluent_keys,
    settings_of,
)
from airflow_kconnect.connectors.jdbc.sink.layouts import RowLayout
from airflow_kconnect.connectors.jdbc.sink.naming import shown
from airflow_kconnect.connectors.jdbc.sink.offsets_table import OffsetsTable
from airflow_kconnect.connectors.jdbc.sink.rules import driver_warnings, rule_errors
from airflow_kconnect.kafka.sink_topics import named_topics
from airflow_kconnect.runs.warnings import Kind, RunWarning

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from airflow_kconnect.connect.frame import RecordFrame
    from airflow_kconnect.worker_config.keys import WorkerConfig


_OF_CONNECTION = ("name", "connector.class", "connection.", "kconnect.jdbc.driver.")


class JdbcSinkConnector(NativeSinkConnector):
    """One writer per topic-partition and round; its rows and its offset are one transaction of the database."""

    first_keys: ClassVar[tuple[str, ...]] = (
        *("connection.url", "connection.user", "connection.password"),
        *("insert.mode", "pk.mode", "pk.fields", "delete.enabled"),
        *("table.name.format", "auto.create", "auto.evolve"),
    )
    ordered = True
    unwraps_change_events = True
    check_is_quick = False

    def __init__(self, props: Mapping[str, str]) -> None:
        super().__init__(props)
        self._settings = settings_of(str(self.props.get("name")), self.config_values)
        self._target = target_of(self._settings)
        self._offsets = self._offsets_of(self._settings.connector)
        self._run = uuid.uuid4().hex
        self._layouts: tuple[RowLayout, ...] = ()
        self._tables: set[str] = set()
        self._left_out: dict[str, dict[str, None]] = {}
        self._stored: Mapping[TopicPartition, int] = {}
        self.exactly_once = self._offsets is not None
        self.offsets_stored_in = self._offsets.shown if self._offsets else None
        self.needs = frozenset({"key"} if self._settings.pk_mode == RECORD_KEY else ())

    @classmethod
    def validate(cls, props: Mapping[str, str]) -> dict[str, list[str]]:
        return rule_errors(cls.config(), props)

    @classmethod
    def forbidden(cls, props: Mapping[str, str], worker: WorkerConfig) -> dict[str, list[str]]:
        return forbidden_drivers(props, worker.get(ALLOWED))

    @classmethod
    def warnings(cls, props: Mapping[str, str]) -> list[str]:
        return driver_warnings(props)

    @classmethod
    def replay_problem(cls, props: Mapping[str, str]) -> str | None:
        mode = props.get("insert.mode", INSERT).lower()
        if mode in (UPSERT, UPDATE):
            return None
        return f"would add the rows of the interval again with `insert.mode` {mode}: set upsert"

    @classmethod
    def datasets(cls, props: Mapping[str, str], report: Mapping[str, Any] | None = None) -> list[Dataset]:
        """The tables that a run wrote to; before it those of the topics that are named."""
        try:
            settings = settings_of(props["name"], cls.config().parse(props))
            tables = [shown(settings.naming.table(topic)) for topic in named_topics(props)]
        except (ConfigError, ValueError):  # of variables that are resolved in the job
            return []
        return datasets_of(settings.url.text, report["notes"].get("tables", []) if report else tables)

    @classmethod
    def connection_only(cls, props: Mapping[str, str]) -> dict[str, str] | None:
        kept = {key: text for key, text in props.items() if key.startswith(_OF_CONNECTION)}
        return {"name": "connection", **kept, "connection.attempts": "1", "topics": "none"}

    def replay(self, replay: Replay) -> None:
        """A replay has offsets of its own: those of live runs are further on."""
        self._offsets = self._offsets_of(replay.name(self._settings.connector))

    def check(self) -> None:
        """Connects once: wrong passwords and unavailable databases show before anything is read."""
        self._target.check_driver()
        with self._target.session():
            pass

    def stored_offsets(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        self._check_primary_keys(partitions)
        if self._offsets is None:
            return {}
        with self._target.session() as connection, self._target.errors("reading the stored offsets"):
            return self._offsets.read(connection, partitions)

    def take_over(self, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        self._check_primary_keys(partitions)
        if self._offsets is None:
            return {}
        with self._target.session(self._run) as connection, self._target.errors("taking over the stored offsets"):
            self._stored = self._offsets.take_over(connection, partitions, self._run)
            return self._stored

    def store_start(self, start: Mapping[TopicPartition, int]) -> None:
        higher = {tp: offset for tp, offset in start.items() if self._stored.get(tp, -1) < offset}
        if self._offsets is None or not higher:
            return
        with self._target.session(self._run) as connection, self._target.errors("storing the first offsets"):
            self._offsets.begin(connection, higher, self._run)

    @classmethod
    def alter_offsets(cls, props: Mapping[str, str], offsets: Mapping[TopicPartition, int | None]) -> bool:
        """Those in the table of offsets; a run resumes from whichever are further."""
        sink = cls(props)
        if sink._offsets is not None:
            sink._target.check_driver()
            with sink._target.session() as connection, sink._target.errors("altering the stored offsets"):
                sink._offsets.alter(connection, offsets)
        return True

    def _offsets_of(self, name: str) -> OffsetsTable | None:
        return OffsetsTable(self._target, name) if self._settings.offsets_table else None

    def _check_primary_keys(self, partitions: Sequence[TopicPartition]) -> None:
        """:raises ConfigError: dead letters would get primary keys that belong to other records."""
        dead_letters = self.props.get("errors.deadletterqueue.topic.name")
        if self._settings.pk_mode == KAFKA and dead_letters in {tp.topic for tp in partitions}:
            text = "is kafka: dead letters cannot be replayed, as the offsets that their records had are not known"
            raise ConfigError({"pk.mode": [text]}, self._settings.connector)

    def render(self, frame: RecordFrame) -> DataFrame:
        rows, self._layouts = self._target.render(frame)
        return rows

    def batch_renderer(self, keys: Sequence[Shape], values: Sequence[Shape]) -> BatchRenderer | None:
        rendering = self._target.plain_rows(keys, values)
        if rendering is None:
            return None
        renderer, self._layouts = rendering
        return renderer

    def writer(self) -> SplitWriter:
        from airflow_kconnect.connectors.jdbc.sink.writer import JdbcWriter

        return JdbcWriter(self._target, self._layouts, self._offsets, self._run)

    def commit(self, results: Sequence[tuple[SinkSplit, dict[str, Any]]]) -> dict[str, Any]:
        """The rows are visible already; this only names their tables in the report, and fields that were left out."""
        for _, facts in results:
            self._tables.update(facts["tables"])
            for table, fields in facts["left_out"].items():
                self._left_out.setdefault(table, {}).update(dict.fromkeys(fields))
        return {"tables": sorted(self._tables)}

    def run_warnings(self) -> list[str]:
        return [
            RunWarning(
                Kind.ALTERED,
                f"table {table} has no columns for the fields {', '.join(f'`{field}`' for field in fields)}: they are "
                f"left out, as `{SCHEMA_CHANGE}` is ignore",
            )
            for table, fields in sorted(self._left_out.items())
        ]


class ConfluentJdbcSink(JdbcSinkConnector):
    """``io.confluent.connect.jdbc.JdbcSinkConnector``."""

    summary = (
        "Writes topics into tables of a database, exactly once. The usual choice: configurations of Confluent's JDBC "
        "sink run as they are."
    )
    recommended = True

    @classmethod
    def config(cls) -> ConfigDef:
        return confluent_keys()


class AivenJdbcSink(JdbcSinkConnector):
    """``io.aiven.connect.jdbc.JdbcSinkConnector``."""

    summary = "The same sink with the keys of Aiven's: take it for a configuration that you have from there."

    @classmethod
    def config(cls) -> ConfigDef:
        return aiven_keys()
