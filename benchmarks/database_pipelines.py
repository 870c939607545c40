"""PostgreSQL -> Kafka and Kafka -> PostgreSQL, by Debezium's connectors on Kafka Connect and by airflow_kconnect."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from airflow_kconnect.connect.run import RunReport, RunSpec
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.local.broker_files import worker_config
from airflow_kconnect.local.connect_worker import ConnectWorker
from benchmarks.database_tables import TABLE, inserted, rate
from benchmarks.session import spark_session
from tests.support.postgres import PostgresDatabase

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PASSES = 3
MODES: dict[str, dict[str, str]] = {
    "bulk": {"mode": "bulk"},
    "incrementing": {"mode": "incrementing", "incrementing.column.name": "id"},
}
_DEBEZIUM = "3.5.0.Final"
PLUGINS = (f"io.debezium:debezium-connector-postgres:{_DEBEZIUM}", f"io.debezium:debezium-connector-jdbc:{_DEBEZIUM}")
SINK_TOPIC = f"ours-for-sinks-{TABLE}"
"""What both sinks read."""
_PARTITIONS = 2
_JSON = "org.apache.kafka.connect.json.JsonConverter"
# What the Debezium connectors' own documentation names for throughput; with their defaults they are slower.
_FAST_SOURCE = {"max.batch.size": "20480", "max.queue.size": "81920", "snapshot.fetch.size": "20480"}
_FAST_SINK = {
    "batch.size": "10000",
    "dialect.postgres.unnest.insert.enabled": "true",
    "consumer.override.max.poll.records": "10000",
    "consumer.override.fetch.min.bytes": "1000000",
}


@dataclass
class Measured:
    """Records per second of both sides, each in its best pass.

    :param whole_run: ours if everything counts: connecting, fencing, planning, committing.
    """

    path: str
    connect: float
    ours: float
    whole_run: float


class DatabaseBench:
    """Runs everything; Kafka Connect first, then it is stopped so that the cores are free.

    :param rows: how many the database's table has.
    """

    def __init__(
        self, bootstrap: str, folder: Path, database: PostgresDatabase, rows: int, say: Callable[[str], None]
    ) -> None:
        self._bootstrap, self._folder, self._database = bootstrap, folder, database
        self._rows, self._say = rows, say
        self._admin = KafkaAdmin({"bootstrap.servers": bootstrap, "log_level": 2})
        self._ours = OurRuns(bootstrap, database, rows, say)

    def run(self) -> list[Measured]:
        """Both directions. Both sinks read the topic that our source filled, with Connect's schemas in it."""
        spark = spark_session(self._folder)
        self._ours.source(spark, "for-sinks", MODES["bulk"], schemas=True)
        spark.stop()
        with ConnectWorker(
            self._folder / "connect", bootstrap=self._bootstrap, heap_mb=2048, plugins=PLUGINS, progress=self._say
        ) as connect:
            snapshot = max(self._debezium_source(connect, n) for n in range(PASSES))
            sink = max(self._debezium_sink(connect, n) for n in range(PASSES))
        spark = spark_session(self._folder)
        found = [
            Measured(f"table -> Kafka, {mode} (exactly once)", snapshot, *self._best_source(spark, mode, keys))
            for mode, keys in MODES.items()
        ]
        sinks = [self._ours.sink(spark, f"sink-{n}", SINK_TOPIC) for n in range(PASSES)]
        spark.stop()
        self._say(f"First records: {first_record(self._bootstrap, f'debezium-0.public.{TABLE}')} by Debezium")
        self._say(f"               {first_record(self._bootstrap, f'ours-bulk-0-{TABLE}')} by airflow_kconnect")
        return [*found, Measured("Kafka -> table, upsert (exactly once)", sink, *max(sinks))]

    def _best_source(self, spark: SparkSession, mode: str, keys: dict[str, str]) -> tuple[float, float]:
        return max(self._ours.source(spark, f"{mode}-{n}", keys) for n in range(PASSES))

    def _debezium_source(self, connect: ConnectWorker, attempt: int) -> float:
        name, slot = f"snapshot-{attempt}", f"snapshot_{attempt}"
        topic = create_topic(self._bootstrap, f"debezium-{attempt}.public.{TABLE}")
        config = {
            "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
            "tasks.max": "1",
            "plugin.name": "pgoutput",
            "slot.name": slot,
            "publication.name": slot,
            "snapshot.mode": "initial_only",
            "table.include.list": f"public.{TABLE}",
            "topic.prefix": f"debezium-{attempt}",
            "database.hostname": "127.0.0.1",
            "database.port": str(self._database.port),
            "database.user": str(self._database.user),
            "database.password": str(self._database.password),
            "database.dbname": self._database.name,
            # As ours: milliseconds and Connect's decimals.
            "time.precision.mode": "connect",
            "transforms": "unwrap",
            "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
            **_converters(schemas=False),
            **_FAST_SOURCE,
        }
        connect.create(name, config)
        moved = lambda: self._admin.end_offsets(topic, range(_PARTITIONS), committed=True)  # noqa: E731
        found = rate(
            lambda: sum(moved().values()), int(self._rows * 0.99), 0.02, still_runs=lambda: _check(connect, name)
        )
        connect.delete(name)
        self._say(f"Debezium on Kafka Connect, table -> Kafka, pass {attempt + 1}: {found:,.0f} records/s")
        return found

    def _debezium_sink(self, connect: ConnectWorker, attempt: int) -> float:
        name, table = f"upsert-{attempt}", f"debezium_{attempt}"
        config = {
            "connector.class": "io.debezium.connector.jdbc.JdbcSinkConnector",
            "tasks.max": str(_PARTITIONS),
            "topics": SINK_TOPIC,
            "connection.url": f"{self._database.url}?reWriteBatchedInserts=true",
            "connection.username": str(self._database.user),
            "connection.password": str(self._database.password),
            "insert.mode": "upsert",
            "primary.key.mode": "record_key",
            "schema.evolution": "basic",
            "collection.name.format": table,
            **_converters(schemas=True),
            **_FAST_SINK,
        }
        connect.create(name, config)
        found = rate(
            lambda: inserted(self._database, table),
            int(self._rows * 0.99),
            0.2,
            still_runs=lambda: _check(connect, name),
        )
        connect.delete(name)
        self._say(f"Debezium on Kafka Connect, Kafka -> table, pass {attempt + 1}: {found:,.0f} records/s")
        self._database.execute(f"drop table {table}")
        return found


class OurRuns:
    """Our side, in a running Spark session."""

    def __init__(self, bootstrap: str, database: PostgresDatabase, rows: int, say: Callable[[str], None]) -> None:
        self._bootstrap, self._database, self._rows, self._say = bootstrap, database, rows, say

    def source(
        self, spark: SparkSession, name: str, mode: dict[str, str], *, schemas: bool = False, exactly_once: bool = True
    ) -> tuple[float, float]:
        """Records/s from the start of the Spark job to the last commit, and of the whole run."""
        prefix = f"ours-{name}-"
        create_topic(self._bootstrap, prefix + TABLE)
        config = source_config(f"source-{name}", self._database, prefix, mode, schemas=schemas)
        support = {"exactly.once.source.support": "enabled" if exactly_once else "disabled"}
        return self._run(spark, config, f"table -> Kafka, {name}", support)

    def sink(self, spark: SparkSession, name: str, topic: str, **more: str) -> tuple[float, float]:
        """The same for a topic that is written into a new table."""
        table = name.replace("-", "_")
        found = self._run(spark, sink_config(name, self._database, topic, table) | more, f"Kafka -> table, {name}", {})
        counted = self._database.execute(f"select count(*) from {table}")[0][0]
        assert counted == self._rows, f"{counted} rows in {table}"
        self._database.execute(f"drop table {table}")
        return found

    def _run(
        self, spark: SparkSession, config: dict[str, str], what: str, worker: dict[str, str]
    ) -> tuple[float, float]:
        from airflow_kconnect.runtime.job import run

        report: RunReport = run(RunSpec(config=config, worker=worker_config(self._bootstrap) | worker), spark)
        written, took = report.records["written"], report.durations_s
        assert written == self._rows, report
        moving, whole = written / (took["moving records"] + took["committing offsets"]), written / took["total"]
        self._say(f"airflow_kconnect, {what}: {moving:,.0f} records/s, {whole:,.0f} of the whole run")
        return moving, whole


def source_config(
    name: str, database: PostgresDatabase, prefix: str, mode: dict[str, str], *, schemas: bool
) -> dict[str, str]:
    """Our source of the benchmark's table, with the primary key as key, as Debezium has it."""
    return {
        "name": name,
        "connector.class": "JdbcSource",
        "table.whitelist": TABLE,
        "topic.prefix": prefix,
        "key.from.primary.key": "true",
        **mode,
        **database.config,
        **_converters(schemas=schemas),
    }


def sink_config(name: str, database: PostgresDatabase, topic: str, table: str) -> dict[str, str]:
    """Our sink into a table that it makes."""
    return {
        "name": name,
        "connector.class": "JdbcSink",
        "topics": topic,
        "table.name.format": table,
        "insert.mode": "upsert",
        "pk.mode": "record_key",
        "auto.create": "true",
        **database.config,
        **_converters(schemas=True),
    }


def create_topic(bootstrap: str, name: str) -> str:
    """A topic of two partitions."""
    admin = AdminClient({"bootstrap.servers": bootstrap})
    admin.create_topics([NewTopic(name, _PARTITIONS, 1)])[name].result()
    return name


def first_record(bootstrap: str, topic: str) -> tuple[bytes | str | None, bytes | str | None]:
    """Key and value of the first record of partition 0: shows whether both sides write the same."""
    settings = {"bootstrap.servers": bootstrap, "group.id": "first-record", "isolation.level": "read_committed"}
    consumer = Consumer(settings)
    consumer.assign([TopicPartition(topic, 0, OFFSET_BEGINNING)])
    message = consumer.poll(30)
    consumer.close()
    assert message is not None and message.error() is None, message
    return message.key(), message.value()


def _converters(*, schemas: bool) -> dict[str, str]:
    keys = {f"{part}.converter": _JSON for part in ("key", "value")}
    return keys | {f"{part}.converter.schemas.enable": str(schemas).lower() for part in ("key", "value")}


def _check(connect: ConnectWorker, name: str) -> None:
    """:raises ConnectError: the connector or a task has failed."""
    connect.wait_running(name)
