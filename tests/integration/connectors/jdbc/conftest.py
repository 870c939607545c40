"""What the tests of the JDBC source share: a configuration, runs, and the records that they made."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest
from pyspark.sql import Column, SparkSession

from airflow_kconnect.connect.connector.source import Offset, PlanContext
from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.connectors.jdbc.source_connector import ConfluentJdbcSource
from airflow_kconnect.java_text.json import partition_identity
from airflow_kconnect.runtime.spark_jobs import run_job
from tests.integration.runtime.conftest import preview_here, run_here
from tests.support import unique
from tests.support.databases.postgres import PostgresDatabase, PostgresServer
from tests.support.databases.servers import Database
from tests.support.kafka import read_all

__all__ = ["preview_here", "run_here"]

JSON = "org.apache.kafka.connect.json.JsonConverter"
CONFLUENT = "io.confluent.connect.jdbc.JdbcSourceConnector"

SourceConfig = Callable[..., dict[str, str]]
Rows = Callable[[Mapping[str, str], str], list[dict[str, Any]]]
Poll = Callable[..., "Polled"]


class Polled(NamedTuple):
    """What a run would move: dates are in days, timestamps in microseconds.

    :param offsets: by source partition, those that the run would commit.
    :param splits: their number.
    """

    rows: list[dict[str, Any]] = []
    offsets: dict[str, Offset] = {}
    splits: int = 0


@pytest.fixture
def db(postgres: PostgresServer) -> PostgresDatabase:
    """An empty PostgreSQL database."""
    return postgres.create_database()


@pytest.fixture
def jdbc_source() -> SourceConfig:
    """The configuration of a source: `jdbc_source(db, **{"mode": "bulk"})`; tables go to ``<name>-<table>``."""

    def config(database: Database, **more: str) -> dict[str, str]:
        name = unique("jdbc")
        return {
            "name": name,
            "connector.class": CONFLUENT,
            **database.config,
            "connection.attempts": "1",
            "mode": "incrementing",
            "topic.prefix": f"{name}-",
            "value.converter": JSON,
            "value.converter.schemas.enable": "false",
            "value.converter.decimal.format": "NUMERIC",
            "key.converter": JSON,
            "key.converter.schemas.enable": "false",
            **more,
        }

    return config


@pytest.fixture
def rows(bootstrap: str) -> Rows:
    """The values in the topic of a table: `rows(config, "orders")`."""

    def read(config: Mapping[str, str], table: str) -> list[dict[str, Any]]:
        return [json.loads(record.value or b"null") for record in read_all(bootstrap, config["topic.prefix"] + table)]

    return read


@pytest.fixture
def poll(spark: SparkSession) -> Poll:
    """A run by Spark's reader, without Kafka: `poll(config, offsets, max_records=1).rows`."""

    def go(
        config: Mapping[str, str],
        offsets: Mapping[str, Offset] | None = None,
        *,
        max_records: int | None = None,
        before_reading: Callable[[], Any] = lambda: None,
    ) -> Polled:
        connector = ConfluentJdbcSource(config)
        try:
            connector.check()
            plan = connector.plan(PlanContext(offsets or {}, {}, max_records, None, lambda: 1, lambda: spark))
            before_reading()
            if not plan.splits:
                return Polled()
            frame = connector.read(spark, [(n, split, split.start) for n, split in enumerate(plan.splits)])
            values = frame.df.select("value.*")
            rows = run_job(values.select(*(_plain(name, type_) for name, type_ in values.dtypes)))
            ends = ((split, connector.offset(split, split.end)) for split in plan.splits)
            committed = {partition_identity(split.source_partition): end for split, end in ends if end is not None}
            return Polled([row.asDict() for row in rows], committed, len(plan.splits))
        except RetriableError as error:
            raise connector.explained(str(error)) or error from error
        finally:
            connector.finished()

    return go


def _plain(name: str, type_: str) -> Column:
    from pyspark.sql import functions as F

    column, kind = F.col(name), type_.partition("(")[0]
    numbers = {"date": F.unix_date, "timestamp": F.unix_micros}
    texts = ("decimal", "double")
    plain = numbers[kind](column) if kind in numbers else column.cast("string") if kind in texts else column
    return plain.alias(name)
