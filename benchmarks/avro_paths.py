"""PostgreSQL -> Kafka as Avro, and Avro -> files: the contenders on both paths."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path

from benchmarks import serializer_loops
from benchmarks.avro_checks import check_topic, digest, table_rows, wait_for
from benchmarks.connect import ConnectWorker, Moved, measure, worker
from benchmarks.database_tables import TABLE
from benchmarks.debezium import POSTGRES_PLUGIN, forget_snapshot, snapshot_config
from benchmarks.files import SINK
from benchmarks.limits import Crew
from benchmarks.measure import CONNECT, LOOP, OURS, Contender, CpuMeter, Pass, Row, Say, alternate
from benchmarks.ours import OurSide
from benchmarks.settings import (
    APICURIO,
    CORES,
    PARTITIONS,
    TUNED_DEBEZIUM_SOURCE,
    apicurio_converters,
    avro_converters,
    tuned_sink,
    tuned_source,
)
from benchmarks.tables import MODES, source_config
from benchmarks.topics import Topics
from tests.support.databases.postgres import PostgresDatabase


class AvroBench:
    """Both paths, the passes of all contenders in turns. What the first round has moved is compared value by value.

    :param registry_url: with Confluent's REST API, of Apicurio.
    :param row_bytes: of a row in the table.
    """

    def __init__(
        self,
        bootstrap: str,
        registry_url: str,
        folder: Path,
        database: PostgresDatabase,
        meter: CpuMeter,
        rows: int,
        row_bytes: float,
        say: Say,
    ) -> None:
        self._bootstrap, self._registry_url, self._folder = bootstrap, registry_url, folder
        self._database, self._meter, self._rows, self._row_bytes, self._say = database, meter, rows, row_bytes, say
        self._topics = Topics(bootstrap)
        self._read = f"read-{TABLE}"
        self._expected = table_rows(database)

    def run(self, passes: int) -> list[Row]:
        """Measure both paths. All sinks read one topic, which our source has written."""
        plugins, settings = (POSTGRES_PLUGIN, APICURIO), {"plugin.discovery": "hybrid_warn"}
        with ExitStack() as stack:
            connect = stack.enter_context(
                worker(self._folder, self._bootstrap, tuned=True, plugins=plugins, settings=settings, say=self._say)
            )
            ours = {master: stack.enter_context(OurSide(master, self._folder, self._bootstrap)) for master in CORES}
            crew = stack.enter_context(Crew())
            self._meter.contenders = [connect.pid, *(side.pid for side in ours.values()), *crew.pids]
            crew.all(
                serializer_loops.hold_rows, [(self._database.connect, TABLE, share) for share in range(PARTITIONS)]
            )
            self._topics.create(self._read)
            ours["local[2]"].run(self._our_source("read"))
            check_topic(self._bootstrap, self._registry_url, self._read, self._expected)
            self._schema = self._schema_of(self._read)
            self._file = self._folder / "expected.out"
            ours["local[2]"].run(self._sink("expected", self._file) | avro_converters(self._registry_url))
            self._lines = digest(self._file)
            rows = alternate(
                "PostgreSQL to Avro", self._sources(connect, ours, crew), self._row_bytes, passes, self._say
            )
            sinks = self._sinks(connect, ours, crew)
            return rows + alternate("Avro to files", sinks, self._row_bytes, passes, self._say)

    def _sources(self, connect: ConnectWorker, ours: dict[str, OurSide], crew: Crew) -> list[Contender]:
        tuning = tuned_source() | TUNED_DEBEZIUM_SOURCE
        threads = tuning | {"snapshot.max.threads": "2"}
        found = [
            Contender(CONNECT, "tuned", 1, partial(self._snapshot, connect, tuning)),
            Contender(CONNECT, "tuned, two snapshot threads", 2, partial(self._snapshot, connect, threads)),
        ]
        found += [Contender(OURS, side, CORES[side], partial(self._source_pass, ours[side])) for side in CORES]
        return [*found, Contender(LOOP, "AvroSerializer, rows in memory", PARTITIONS, partial(self._serialize, crew))]

    def _sinks(self, connect: ConnectWorker, ours: dict[str, OurSide], crew: Crew) -> list[Contender]:
        found = [
            Contender(CONNECT, "tuned", 1, partial(self._connect_sink, connect, 1)),
            Contender(CONNECT, "tuned, two tasks", 2, partial(self._connect_sink, connect, 2)),
        ]
        found += [Contender(OURS, side, CORES[side], partial(self._sink_pass, ours[side])) for side in CORES]
        return [*found, Contender(LOOP, "AvroDeserializer, JSON lines", PARTITIONS, partial(self._deserialize, crew))]

    def _snapshot(self, connect: ConnectWorker, tuning: dict[str, str], name: str) -> Pass:
        warm_up = _is_warm_up(name)
        name = name.replace("-", "_")  # it becomes a namespace of Avro
        config = snapshot_config(self._database, name) | apicurio_converters(self._registry_url) | tuning
        with self._topics.temporary(f"{name}.public.{TABLE}") as topic:
            ends = partial(self._topics.ends, topic)
            # The ends count the markers of transactions too, so that the last records may come after the clock.
            whole = partial(wait_for, name, partial(self._topics.count, topic), self._rows)
            moved = Moved(ends, self._rows)
            found = measure(connect, {name: config}, moved, self._meter, before_stop=whole if warm_up else None)
            if warm_up:
                check_topic(self._bootstrap, self._registry_url, topic, self._expected)
        forget_snapshot(self._database, name)
        return found

    def _our_source(self, name: str) -> dict[str, str]:
        config = source_config(name, self._database, f"{name}-", MODES["bulk"], schemas=False)
        return config | avro_converters(self._registry_url)

    def _source_pass(self, side: OurSide, name: str) -> Pass:
        with self._topics.temporary(f"{name}-{TABLE}") as topic:
            found = side.measure(self._our_source(name), self._rows, self._meter)
            if _is_warm_up(name):
                check_topic(self._bootstrap, self._registry_url, topic, self._expected)
        return found

    def _serialize(self, crew: Crew, name: str) -> Pass:
        with self._topics.temporary(name) as topic:
            shares = [(self._bootstrap, self._registry_url, self._schema, topic, n) for n in range(PARTITIONS)]
            found = crew.measure(serializer_loops.produce, shares, self._meter)
            if _is_warm_up(name):
                check_topic(self._bootstrap, self._registry_url, topic, self._expected)
        return found

    def _schema_of(self, topic: str) -> str:
        from confluent_kafka.schema_registry import SchemaRegistryClient

        client = SchemaRegistryClient({"url": self._registry_url})
        return str(client.get_latest_version(f"{topic}-value").schema.schema_str)

    def _sink(self, name: str, target: Path) -> dict[str, str]:
        """The same keys on both sides, except converters."""
        return {"name": name, "connector.class": SINK, "file": str(target), "topics": self._read}

    def _connect_sink(self, connect: ConnectWorker, tasks: int, name: str) -> Pass:
        target = self._folder / f"{name}.out"
        config = self._sink(name, target) | {"tasks.max": str(tasks)} | tuned_sink()
        config |= apicurio_converters(self._registry_url)
        units = lambda: target.stat().st_size if target.exists() else 0  # noqa: E731
        whole = self._file.stat().st_size
        moved = Moved(units, whole, lambda: self._rows / whole)
        wait = partial(wait_for, name, units, whole) if _is_warm_up(name) else None
        found = measure(connect, {name: config}, moved, self._meter, before_stop=wait)
        self._check_lines(name, target)
        return found

    def _sink_pass(self, side: OurSide, name: str) -> Pass:
        target = self._folder / f"{name}.out"
        config = self._sink(name, target) | avro_converters(self._registry_url)
        found = side.measure(config, self._rows, self._meter)
        self._check_lines(name, target)
        return found

    def _check_lines(self, name: str, target: Path) -> None:
        if _is_warm_up(name):
            assert digest(target) == self._lines, f"{name} has written other lines than the run before"
        target.unlink()

    def _deserialize(self, crew: Crew, name: str) -> Pass:
        shares = [
            (self._bootstrap, self._registry_url, self._read, n, f"{self._folder / name}-{n}")
            for n in range(PARTITIONS)
        ]
        found = crew.measure(serializer_loops.consume, shares, self._meter)
        assert found.records == self._rows, f"{name} has read {found.records} records"
        return found


def _is_warm_up(name: str) -> bool:
    """Whether a pass does not count; its name ends with its number."""
    return name.endswith("-0")
