"""JDBC source: tables and queries of databases, in parallel, with the keys and offsets of Confluent and Aiven."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.connector.datasets import Dataset
from airflow_kconnect.connect.connector.source import (
    ExactlyOnceSupport,
    NativeSourceConnector,
    Offset,
    PlanContext,
    ResumePoint,
    SourcePlan,
    Split,
)
from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.connectors.jdbc.databases.resolving import dialect_of
from airflow_kconnect.connectors.jdbc.driver.datasets import datasets_of
from airflow_kconnect.connectors.jdbc.driver.drivers import ALLOWED, PROPERTY_PREFIX, forbidden_drivers
from airflow_kconnect.connectors.jdbc.source.config import source_config
from airflow_kconnect.connectors.jdbc.source.failures import explained
from airflow_kconnect.connectors.jdbc.source.offering import connection_only
from airflow_kconnect.connectors.jdbc.source.offsets import offset_problems
from airflow_kconnect.connectors.jdbc.source.rules import config_errors, config_warnings
from airflow_kconnect.connectors.jdbc.source.session import ReadingSession
from airflow_kconnect.connectors.jdbc.source.settings import SourceSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from airflow_kconnect.worker_config.keys import WorkerConfig


class JdbcSourceConnector(NativeSourceConnector):
    """What both class names share. Its connections live from `check` to `finished`."""

    key_prefixes: ClassVar[tuple[str, ...]] = (PROPERTY_PREFIX,)
    initial_key: ClassVar[str] = "timestamp.initial"
    initial: ClassVar[int | None] = None
    quoting_key: ClassVar[str] = "quote.sql.identifiers"
    first_keys: ClassVar[tuple[str, ...]] = (
        *("connection.url", "connection.user", "connection.password"),
        *("mode", "timestamp.column.name", "incrementing.column.name"),
        *("table.whitelist", "query", "topic.prefix"),
    )

    def __init__(self, props: Mapping[str, str]) -> None:
        super().__init__(props)
        known = frozenset(self.config().keys)
        self._settings = SourceSettings.of(self.props, self.config_values, self.initial_key, known)
        self._dialect = dialect_of(self._settings.url)
        self._session: ReadingSession | None = None

    @classmethod
    def config(cls) -> ConfigDef:
        return source_config(cls.initial_key, cls.initial, cls.quoting_key)

    @classmethod
    def validate(cls, props: Mapping[str, str]) -> dict[str, list[str]]:
        return config_errors(props, frozenset(cls.config().keys))

    @classmethod
    def forbidden(cls, props: Mapping[str, str], worker: WorkerConfig) -> dict[str, list[str]]:
        return forbidden_drivers(props, worker.get(ALLOWED))

    @classmethod
    def warnings(cls, props: Mapping[str, str]) -> list[str]:
        return config_warnings(props)

    @classmethod
    def replay_problem(cls, props: Mapping[str, str]) -> str | None:
        if "timestamp" in props.get("mode", ""):
            return None
        return (
            "knows which rows belong to an interval of time only in the modes `timestamp` and `timestamp+incrementing`"
        )

    @classmethod
    def datasets(cls, props: Mapping[str, str], report: Mapping[str, Any] | None = None) -> list[Dataset]:
        """The tables that have offsets after a run; before it those that are named."""
        try:
            values = cls.config().parse(props)
        except ConfigError:  # of variables that are resolved in the job
            return []
        offsets = report["offsets"] if report else []
        tables = [offset["partition"]["table"] for offset in offsets if "table" in offset["partition"]]
        return datasets_of(values["connection.url"], tables or values["table.whitelist"])

    @classmethod
    def exactly_once_support(cls, props: Mapping[str, str]) -> ExactlyOnceSupport:
        return ExactlyOnceSupport.SUPPORTED

    @classmethod
    def alter_offsets(
        cls, props: Mapping[str, str], offsets: Sequence[tuple[Mapping[str, Any], Offset | None]]
    ) -> bool:
        cls.refuse_wrong_offsets(props, offsets, offset_problems)
        return True

    @classmethod
    def connection_only(cls, props: Mapping[str, str]) -> dict[str, str] | None:
        return connection_only(props)

    def offered(self, within_s: float) -> dict[str, list[str]]:
        return self._open().offered(within_s)

    def check(self) -> None:
        """Connect, and find and describe the tables."""
        _ = self._open().sources

    def _open(self) -> ReadingSession:
        if self._session is None:
            self._session = ReadingSession(self._settings, self._dialect)
        return self._session

    def plan(self, context: PlanContext) -> SourcePlan:
        return self._open().plan(context)

    def recheck(self, splits: Sequence[tuple[int, Split]]) -> set[int]:
        return self._open().recheck(splits)

    def read(self, spark: SparkSession, splits: Sequence[tuple[int, Split, ResumePoint]]) -> RecordFrame:
        return self._open().read(spark, splits)

    def resumable(self, split: Split) -> bool:
        return self._open().resumable(split)

    def offset(self, split: Split, progress: ResumePoint) -> Offset | None:
        return self._open().offset(split, progress)

    def facts(self, split: Split) -> dict[str, Any] | None:
        return self._open().facts(split)

    def explained(self, failure: str) -> ConnectError | None:
        return explained(failure, self._settings.label, self._session.reading if self._session else ())

    def finished(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None


class ConfluentJdbcSource(JdbcSourceConnector):
    """``io.confluent.connect.jdbc.JdbcSourceConnector``."""

    summary = (
        "Reads tables or a query of a database, new and changed rows in each run. The usual choice: configurations of "
        "Confluent's JDBC source run as they are."
    )
    recommended = True


class AivenJdbcSource(JdbcSourceConnector):
    """``io.aiven.connect.jdbc.JdbcSourceConnector``."""

    summary = "The same source with the keys of Aiven's: take it for a configuration that you have from there."

    initial_key = "timestamp.initial.ms"
    initial = 0
    quoting_key = "sql.quote.identifiers"
