"""``python -m benchmarks.lake``: Kafka -> Iceberg, by Iceberg's own connector in a plain Connect worker, and here."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from confluent_kafka import Producer

from airflow_kconnect.machine.ivy import resolve
from airflow_kconnect.machine.java import find_java
from airflow_kconnect.machine.spark_home import spark_home
from benchmarks import environment, results
from benchmarks.connect import ConnectWorker, Moved, measure, worker
from benchmarks.measure import CONNECT, OURS, Contender, CpuMeter, Pass, Row, Say, alternate
from benchmarks.ours import OurSide
from benchmarks.report import table
from benchmarks.settings import JSON, PARTITIONS, STRING, tuned_sink
from benchmarks.topics import Topics

app = typer.Typer(add_completion=False)

ICEBERG = "org.apache.iceberg.connect.IcebergSinkConnector"
VERSION = "1.12.0"
_PLUGINS = tuple(f"org.apache.iceberg:iceberg-{part}:{VERSION}" for part in ("kafka-connect", "parquet"))
# So that what was read is committed soon after: its default is 5 minutes.
_TUNED = {"iceberg.control.commit.interval-ms": "2000", "iceberg.control.commit.threads": "4"}
_FIELDS = {
    "id": "int64",
    "customer": "string",
    "page": "string",
    "agent": "string",
    "status": "int32",
    "bytes": "int64",
    "seconds": "double",
    "cached": "boolean",
}


@app.command()
def main(
    records: Annotated[int, typer.Option(help="Records to move.")] = 2_000_000,
    passes: Annotated[int, typer.Option(help="Passes of each contender, after one that does not count.")] = 3,
    schemas: Annotated[bool, typer.Option(help="JsonConverter with the envelope (Connect's default).")] = True,
    output: Annotated[Path, typer.Option(help="Results go to this JSON file.")] = results.FOLDER / "lake.json",
) -> None:
    """Print records/s of both sides and their ratios; write them to build/benchmarks/lake.json."""
    say = environment.console()
    with environment.broker(say) as found:
        bench = LakeBench(found.bootstrap, found.folder, CpuMeter([found.broker_pid]), records, say, schemas=schemas)
        rows = bench.run(passes)
    facts = {"records": f"{records:,}", "record": f"{rows[0].record_bytes:.0f} bytes", "passes": str(passes)}
    results.write(output, rows, facts={**facts, "schemas": str(schemas), "Iceberg": VERSION})
    say(table(rows))
    say(f"Results: {output}")


class LakeBench:
    """One topic, which each pass appends to a table of its own.

    :param schemas: whether values have JsonConverter's envelope.
    """

    def __init__(self, bootstrap: str, folder: Path, meter: CpuMeter, records: int, say: Say, *, schemas: bool) -> None:
        self._bootstrap, self._folder, self._meter, self._records, self._say = bootstrap, folder, meter, records, say
        self._warehouse = folder / "warehouse"
        self._converters = {
            "key.converter": STRING,
            "value.converter": JSON,
            "value.converter.schemas.enable": str(schemas).lower(),
        }
        self._topics = Topics(bootstrap)
        self._topic = self._topics.create("visits")
        self._bytes = self._fill(schemas=schemas)

    def run(self, passes: int) -> list[Row]:
        """Measure the path."""
        with ExitStack() as stack:
            own = {"plugin.path": str(_plugin(self._folder))}
            connect = stack.enter_context(
                worker(self._folder, self._bootstrap, tuned=True, settings=own, say=self._say)
            )
            ours = stack.enter_context(OurSide("local[2]", self._folder, self._bootstrap, self._config("any")))
            self._meter.contenders = [connect.pid, ours.pid]
            contenders = [
                Contender(CONNECT, "tuned, Iceberg's sink, two tasks", 2, partial(self._by_connect, connect)),
                Contender(OURS, "local[2]", 2, partial(self._here, ours)),
            ]
            return alternate("Kafka to Iceberg", contenders, self._bytes, passes, self._say)

    def _by_connect(self, connect: ConnectWorker, name: str) -> Pass:
        control = {"iceberg.control.topic": self._topics.create(f"control-{name}")}
        config = {**self._config(name), **tuned_sink(), **_TUNED, **control, "tasks.max": str(PARTITIONS)}
        moved = Moved(partial(self._in_table, name), self._records)
        return measure(connect, {name: config}, moved, self._meter)

    def _here(self, ours: OurSide, name: str) -> Pass:
        found = ours.measure({"name": name, **self._config(name)}, self._records, self._meter)
        assert self._in_table(name) == self._records
        return found

    def _config(self, name: str) -> dict[str, str]:
        table_name = name.replace("-", "_")
        return {
            "connector.class": ICEBERG,
            "topics": self._topic,
            "iceberg.tables": f"db.{table_name}",
            "iceberg.tables.auto-create-enabled": "true",
            "iceberg.catalog.type": "hadoop",
            "iceberg.catalog.warehouse": str(self._warehouse),
            **self._converters,
        }

    def _in_table(self, name: str) -> int:
        """Records that readers of the table see, by its metadata."""
        metadata = self._warehouse / "db" / name.replace("-", "_") / "metadata"
        try:
            newest = (metadata / "version-hint.text").read_text().strip()
            found: dict[str, Any] = json.loads((metadata / f"v{newest}.metadata.json").read_text())
        except (OSError, ValueError):
            return 0
        current = found.get("current-snapshot-id")
        summaries: Mapping[int, Mapping[str, str]] = {
            each["snapshot-id"]: each["summary"] for each in found.get("snapshots", ())
        }
        return int(summaries.get(current or 0, {}).get("total-records", 0))

    def _fill(self, *, schemas: bool) -> float:
        """The records; returns how many bytes one has."""
        producer = Producer({"bootstrap.servers": self._bootstrap, "linger.ms": 50,
                             "queue.buffering.max.messages": 1_000_000})  # fmt: skip
        schema = {"type": "struct", "fields": [{"field": name, "type": type_} for name, type_ in _FIELDS.items()]}
        envelope = f'{{"schema":{json.dumps(schema)},"payload":%s}}' if schemas else "%s"
        total = 0
        for n in range(self._records):
            page = f"/shop/articles/{n % 99991}?session={n:032x}"
            payload = {"id": n, "customer": f"customer-{n % 9973:06d}", "page": page, "agent": "Mozilla/5.0 (X11)",
                       "status": 200, "bytes": n % 90_001, "seconds": n % 1000 / 8, "cached": n % 3 == 0}  # fmt: skip
            value = envelope % json.dumps(payload)
            total += len(value)
            while True:
                try:
                    producer.produce(self._topic, value, None, n % PARTITIONS)
                    break
                except BufferError:
                    producer.poll(0.1)
        producer.flush()
        return total / self._records


def _plugin(folder: Path) -> Path:
    """A folder with the connector; its Parquet needs Hadoop's client, which its archive brings, and Spark has."""
    own = folder / "plugins" / "iceberg"
    own.mkdir(parents=True)
    jars = [*resolve(_PLUGINS, java=find_java()).glob("*.jar"), *(spark_home() / "jars").glob("hadoop-client-*.jar")]
    for jar in jars:
        (own / jar.name).symlink_to(jar)
    return own.parent


if __name__ == "__main__":
    app()
