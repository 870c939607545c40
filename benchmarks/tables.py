"""PostgreSQL -> Kafka -> PostgreSQL: the contenders on both paths."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path

from benchmarks import limits
from benchmarks.connect import ConnectWorker, Moved, measure, worker
from benchmarks.database_tables import TABLE, Growth, export, make_table
from benchmarks.debezium import DEBEZIUM as DEBEZIUM
from benchmarks.debezium import JDBC_PLUGIN, POSTGRES_PLUGIN, forget_snapshot, snapshot_config
from benchmarks.limits import Crew
from benchmarks.measure import CONNECT, LIMIT, OURS, Contender, CpuMeter, Pass, Row, Say, alternate
from benchmarks.ours import OurSide
from benchmarks.settings import (
    CORES,
    PARTITIONS,
    TUNED_DEBEZIUM_SINK,
    TUNED_DEBEZIUM_SOURCE,
    converters,
    our_source,
    tuned_sink,
    tuned_source,
)
from benchmarks.topics import Topics
from tests.support.databases.postgres import PostgresDatabase

PLUGINS = (POSTGRES_PLUGIN, JDBC_PLUGIN)
MODES: dict[str, dict[str, str]] = {
    "bulk": {"mode": "bulk"},
    "incrementing": {"mode": "incrementing", "incrementing.column.name": "id"},
}


class TableBench:
    """Both paths, the passes of all contenders in turns.

    :param row_bytes: of a row in the table.
    """

    def __init__(
        self,
        bootstrap: str,
        folder: Path,
        database: PostgresDatabase,
        meter: CpuMeter,
        rows: int,
        row_bytes: float,
        say: Say,
    ) -> None:
        self._bootstrap, self._folder, self._database, self._meter = bootstrap, folder, database, meter
        self._rows, self._row_bytes, self._say = rows, row_bytes, say
        self._topics = Topics(bootstrap)
        self._read = f"read-{TABLE}"

    def run(self, passes: int) -> list[Row]:
        """Measure both paths. All sinks read one topic, with Connect's schemas in it."""
        with ExitStack() as stack:
            stock, tuned = (
                stack.enter_context(worker(self._folder, self._bootstrap, tuned=tuned, plugins=PLUGINS, say=self._say))
                for tuned in (False, True)
            )
            ours = {master: stack.enter_context(OurSide(master, self._folder, self._bootstrap)) for master in CORES}
            crew = stack.enter_context(Crew())
            self._meter.contenders = [stock.pid, tuned.pid, *(side.pid for side in ours.values()), *crew.pids]
            sources = self._sources(stock, tuned, ours, crew)
            rows = alternate("PostgreSQL to Kafka", sources, self._row_bytes, passes, self._say)
            self._topics.create(self._read)
            ours["local[2]"].run(source_config("read", self._database, "read-", MODES["bulk"], schemas=True))
            self._copies = export(self._database, self._folder, PARTITIONS)
            sinks = self._sinks(stock, tuned, ours, crew)
            return rows + alternate("Kafka to PostgreSQL", sinks, self._row_bytes, passes, self._say)

    def _sources(
        self, stock: ConnectWorker, tuned: ConnectWorker, ours: dict[str, OurSide], crew: Crew
    ) -> list[Contender]:
        tuning = tuned_source() | TUNED_DEBEZIUM_SOURCE
        threads = tuning | {"snapshot.max.threads": "2"}
        found = [
            Contender(CONNECT, "as it comes", 1, partial(self._snapshot, stock, {})),
            Contender(CONNECT, "tuned", 1, partial(self._snapshot, tuned, tuning)),
            Contender(CONNECT, "tuned, two snapshot threads", 2, partial(self._snapshot, tuned, threads)),
        ]
        found += [Contender(OURS, side, CORES[side], partial(self._source_pass, ours[side])) for side in CORES]
        return [*found, Contender(LIMIT, "COPY, reading alone", PARTITIONS, partial(self._copy_out, crew))]

    def _sinks(
        self, stock: ConnectWorker, tuned: ConnectWorker, ours: dict[str, OurSide], crew: Crew
    ) -> list[Contender]:
        tuning = tuned_sink() | TUNED_DEBEZIUM_SINK
        found = [
            Contender(CONNECT, "as it comes", 1, partial(self._upserts, stock, 1, {})),
            Contender(CONNECT, "tuned", 1, partial(self._upserts, tuned, 1, tuning)),
            Contender(CONNECT, "tuned, two tasks", 2, partial(self._upserts, tuned, 2, tuning)),
        ]
        found += [Contender(OURS, side, CORES[side], partial(self._sink_pass, ours[side])) for side in CORES]
        return [*found, Contender(LIMIT, "COPY, writing alone", PARTITIONS, partial(self._copy_in, crew))]

    def _snapshot(self, connect: ConnectWorker, tuning: dict[str, str], name: str) -> Pass:
        config = snapshot_config(self._database, name) | converters(schemas=False, keys=True) | tuning
        with self._topics.temporary(f"{name}.public.{TABLE}") as topic:
            moved = Moved(lambda: self._topics.ends(topic), self._rows)
            found = measure(connect, {name: config}, moved, self._meter)
        forget_snapshot(self._database, name)
        return found

    def _upserts(self, connect: ConnectWorker, tasks: int, tuning: dict[str, str], name: str) -> Pass:
        table = name.replace("-", "_")
        # The driver's own setting for batches; as it comes it is off.
        url = self._database.url + ("?reWriteBatchedInserts=true" if tuning else "")
        config = {
            "connector.class": "io.debezium.connector.jdbc.JdbcSinkConnector",
            "tasks.max": str(tasks),
            "topics": self._read,
            "connection.url": url,
            "connection.username": str(self._database.user),
            "connection.password": str(self._database.password),
            "insert.mode": "upsert",
            "primary.key.mode": "record_key",
            "schema.evolution": "basic",
            "collection.name.format": table,
            **converters(schemas=True, keys=True),
            **tuning,
        }
        with Growth(self._database, table) as growth:
            moved = Moved(growth.size, None, growth.rows_per_byte)
            found = measure(connect, {name: config}, moved, self._meter)
        self._database.execute(f"drop table {table}")
        return found

    def _source_pass(self, side: OurSide, name: str) -> Pass:
        with self._topics.temporary(f"{name}-{TABLE}"):
            config = source_config(name, self._database, f"{name}-", MODES["bulk"], schemas=False)
            return side.measure(config, self._rows, self._meter)

    def _sink_pass(self, side: OurSide, name: str) -> Pass:
        table = name.replace("-", "_")
        found = side.measure(sink_config(name, self._database, self._read, table), self._rows, self._meter)
        counted = self._database.execute(f"select count(*) from {table}")[0][0]
        assert counted == self._rows, f"{counted} rows in {table}"
        self._database.execute(f"drop table {table}")
        return found

    def _copy_out(self, crew: Crew, name: str) -> Pass:
        # By ranges of pages, which is the cheapest way to share a table.
        pages = self._database.execute(f"select pg_relation_size('{TABLE}') / 8192")[0][0]
        middle = f"'({pages // 2},0)'::tid"
        queries = [f"select * from {TABLE} where ctid {sign} {middle}" for sign in ("<", ">=")]
        return crew.measure(limits.copy_out, [(self._database.connect, query) for query in queries], self._meter)

    def _copy_in(self, crew: Crew, name: str) -> Pass:
        table = name.replace("-", "_")
        make_table(self._database, table)
        shares = [(self._database.connect, table, path) for path in self._copies]
        found = crew.measure(limits.copy_in, shares, self._meter)
        self._database.execute(f"drop table {table}")
        return found


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
        **converters(schemas=schemas, keys=True),
        **our_source(),
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
        **converters(schemas=True, keys=True),
    }
