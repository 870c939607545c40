"""``python -m benchmarks.lake_memory``: what a table sink holds, for N, 5 N and 10 N records, and for many partitions.

Each run is a spark-submit of its own, which appends to an Iceberg table of its own. Needs a Spark that Iceberg has been
released for. The heap is that of Spark's default, 1 GB; what it holds is read from the log of its collector.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Annotated

import typer
from confluent_kafka import Producer

from benchmarks import environment, results
from benchmarks.measure import Say
from benchmarks.memory import peak_memory
from benchmarks.settings import PARTITIONS, converters, our_worker
from benchmarks.topics import Topics

app = typer.Typer(add_completion=False)

_FIELDS = {"id": "int64", "shop": "int32", "item": "string", "amount": "double"}
_COLLECTION = re.compile(r"Pause (\w+).* (\d+)M->(\d+)M\(")
Peaks = dict[str, int]


@app.command()
def main(
    records: Annotated[int, typer.Option(help="Records; five and ten times as many follow.")] = 1_000_000,
    paths: Annotated[int, typer.Option(help="Partition paths of the tables that have most of them.")] = 1000,
    output: Annotated[Path, typer.Option(help="Results go to this JSON file.")] = results.FOLDER / "lake_memory.json",
) -> None:
    """Print the highest memory of each kind of process and of the heap, in MB; it must not grow."""
    say = environment.console()
    with environment.broker(say) as place:
        runs = _Runs(place.bootstrap, place.folder, paths)
        found: dict[str, Peaks] = {}
        for times in (1, 5, 10):
            topic = runs.filled(f"times-{times}", records * times)
            for by, text in {"": "", "bucket(10, shop)": ", 10 partition paths", "shop": f", {paths:,} paths"}.items():
                found[f"{records * times:,} records{text}"] = runs.appended(topic, by, say)
    results.write(output, [], facts={"paths": str(paths)}, peaks=found)
    say(_table(found))
    say(f"Results: {output}")


class _Runs:
    """Topics, and tables that they are appended to.

    :param paths: how many shops there are.
    """

    def __init__(self, bootstrap: str, folder: Path, paths: int) -> None:
        self._bootstrap, self._folder, self._paths = bootstrap, folder, paths
        self._topics = Topics(bootstrap)

    def filled(self, topic: str, records: int) -> str:
        """A topic of records from all shops by turns."""
        self._topics.create(topic)
        producer = Producer({"bootstrap.servers": self._bootstrap, "linger.ms": 50, "compression.type": "lz4"})
        schema = {"type": "struct", "fields": [{"field": name, "type": kind} for name, kind in _FIELDS.items()]}
        envelope = f'{{"schema":{json.dumps(schema)},"payload":%s}}'
        for n in range(records):
            # Both partitions have records of each shop.
            payload = (
                f'{{"id":{n},"shop":{n // PARTITIONS % self._paths},"item":"item {n % 9973:06}","amount":{n % 90}.5}}'
            )
            while True:
                try:
                    producer.produce(topic, envelope % payload, None, n % PARTITIONS)
                    break
                except BufferError:
                    producer.poll(0.1)
        producer.flush()
        return topic

    def appended(self, topic: str, partition_by: str, say: Say) -> Peaks:
        """One run from the beginning of a topic into a new table."""
        name = f"{topic}-by-{len(partition_by)}"
        log = self._folder / f"{name}.gc"
        config = {
            "name": name,
            "connector.class": "SparkTableSink",
            "topics": topic,
            "table.format": "iceberg",
            "table.catalog": "lake",
            "table.catalog.type": "hadoop",
            "table.catalog.warehouse": str(self._folder / "lake"),
            "table.name.format": f"db.{name.replace('-', '_')}",
            "table.partition.by": partition_by,
            "auto.create": "true",
            **converters(schemas=True),
        }
        conf = {"spark.driver.extraJavaOptions": f"-Xlog:gc:file={log}"}
        peaks = peak_memory(config, our_worker(self._bootstrap), conf) | _heap(log.read_text())
        say(f"{name}: {peaks}")
        return peaks


def _heap(log: str) -> Peaks:
    """The most that the heap held, in MB, and the most of it that was not garbage."""
    found = [(kind, int(before), int(after)) for kind, before, after in _COLLECTION.findall(log)]
    # A young collection that finds no room leaves everything: only a full one says what is alive.
    alive = [after for kind, _, after in found if kind == "Full"]
    return {"heap": max(before for _, before, _ in found), "heap after a full collection": max(alive, default=0)}


def _table(found: dict[str, Peaks]) -> str:
    columns = ("driver", "jvm", "heap", "heap after a full collection", "worker")
    lines = [f"| MB | {' | '.join(columns)} |", f"|---{'|---:' * len(columns)}|"]
    lines += [f"| {run} | {' | '.join(str(peaks.get(kind, '')) for kind in columns)} |" for run, peaks in found.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    app()
