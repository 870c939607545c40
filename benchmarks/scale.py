"""``python -m benchmarks.scale CASE ...``: seconds, CPU seconds and memory where something is large."""

from __future__ import annotations

import contextlib
import json
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import psutil
import typer
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from airflow_kconnect.machine.process_tree import kill_tree
from airflow_kconnect.stores.offset_topic.records import offset_key, offset_value
from benchmarks import environment, results
from benchmarks.environment import Environment
from benchmarks.files import SINK, SOURCE, write_lines
from benchmarks.measure import Say
from benchmarks.settings import STRING, our_worker
from tests.support.databases.postgres import PostgresDatabase

app = typer.Typer(add_completion=False)

_STRINGS = {"value.converter": STRING, "key.converter": STRING}
_LARGE_BYTES = 1_000_000


@dataclass(frozen=True)
class Cost:
    """What a run has taken, with all that it has started.

    :param records: written. :param peak_mb: the most memory of all its processes together, sampled.
    """

    case: str
    records: int
    seconds: float
    cpu_s: float
    peak_mb: int


class Place:
    """A broker, a folder, and runs of `kconnect run` with them."""

    def __init__(self, found: Environment, say: Say) -> None:
        self.folder, self.bootstrap, self._say = found.folder, found.bootstrap, say
        self.costs: list[Cost] = []
        self._client = AdminClient({"bootstrap.servers": found.bootstrap, "log_level": 2})

    def topic(self, name: str, partitions: int = 1, **config: str) -> str:
        """A new topic."""
        self._client.create_topics([NewTopic(name, partitions, 1, config=config)])[name].result()
        return name

    def produce(self, records: Iterator[tuple[str, int, bytes | None, bytes]]) -> None:
        """Write records: topic, partition, key, value."""
        producer = Producer({"bootstrap.servers": self.bootstrap, "queue.buffering.max.messages": 1_000_000,
                             "linger.ms": 50, "message.max.bytes": 2 * _LARGE_BYTES})  # fmt: skip
        for topic, partition, key, value in records:
            while True:
                try:
                    producer.produce(topic, value, key, partition)
                    break
                except BufferError:
                    producer.poll(0.1)
        producer.flush()

    def run(self, case: str, config: dict[str, str], *arguments: str, **worker: str) -> Cost:
        """One run of a connector."""
        file, keys = self.folder / f"{config['name']}.json", self.folder / f"{config['name']}.properties"
        file.write_text(json.dumps(config))
        keys.write_text("".join(f"{k}={v}\n" for k, v in {**our_worker(self.bootstrap), **worker}.items()))
        program = str(Path(sys.executable).with_name("kconnect"))
        command = [program, "run", str(file), "--worker", str(keys), "--json", *arguments]
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        process = psutil.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        peak = [0]
        watch = threading.Thread(target=_watch, args=(process, peak))
        watch.start()
        try:
            output, log = process.communicate()
        except BaseException:
            kill_tree(process.pid)
            raise
        finally:
            watch.join()
        if process.returncode:
            raise RuntimeError(f"{case}: {output}{log}")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        cost = Cost(case, json.loads(output)["records"]["written"], time.monotonic() - began, cpu, peak[0])
        self._say(f"{case}: {cost.records:,} records, {cost.seconds:.1f} s, {cpu:.1f} s of CPU, {cost.peak_mb:,} MB")
        self.costs.append(cost)
        return cost

    def source(self, name: str, file: Path, **more: str) -> dict[str, str]:
        """A file source with a topic of its name."""
        return {"name": name, "connector.class": SOURCE, "file": str(file), "topic": name, **_STRINGS, **more}

    def sink(self, name: str, topics: str, **more: str) -> dict[str, str]:
        """A file sink."""
        out = str(self.folder / f"{name}.out")
        return {"name": name, "connector.class": SINK, "file": out, "topics": topics, **_STRINGS, **more}


def _watch(process: psutil.Popen, peak: list[int]) -> None:
    while process.poll() is None:
        total = 0
        with contextlib.suppress(psutil.Error):
            for part in (process, *process.children(recursive=True)):
                with contextlib.suppress(psutil.Error):
                    total += part.memory_full_info().pss
        peak[0] = max(peak[0], total >> 20)
        threading.Event().wait(0.3)


def source_partitions(place: Place) -> None:
    """A small source, while the offset topic holds 100,000 source partitions of others, then 5 million records."""
    lines = write_lines(place.folder / "small.txt", 1000)
    place.topic("connect-offsets", 25, **{"cleanup.policy": "compact"})
    place.run("1,000 lines, an empty offset topic", place.source("empty", lines))
    for count, name in ((100_000, "others"), (5_000_000, "history")):
        # Of 100,000 partitions in all: what is not compacted yet is read, too.
        place.produce(
            ("connect-offsets", n % 25, offset_key(name, {"n": n % 100_000}), offset_value({"position": n}))
            for n in range(count)
        )
        place.run(f"1,000 lines, {count:,} records in the offset topic", place.source(f"with-{name}", lines))


def files(place: Place) -> None:
    """A folder of 1,000 files."""
    folder = place.folder / "many"
    folder.mkdir()
    for n in range(1_000):
        (folder / f"{n}.txt").write_text("".join(f"{n}-{line}\n" for line in range(10)))
    config = place.source("many", folder)
    config["files"] = config.pop("file")
    place.run("1,000 files of 10 lines", config)
    place.run("1,000 files with nothing new", config)


def partitions(place: Place) -> None:
    """A sink of 1,000 topic-partitions."""
    topic = place.topic("wide", 1000)
    place.produce((topic, n % 1000, None, b"x" * 100) for n in range(1_000_000))
    place.run("1,000 topic-partitions of 1,000 records", place.sink("wide-sink", topic))
    place.run("1,000 topic-partitions with nothing new", place.sink("wide-sink", topic))


def large(place: Place) -> None:
    """Records of 10 MB."""
    size = str(2 * _LARGE_BYTES)
    topic = place.topic("large", 1, **{"max.message.bytes": size})
    file = place.folder / "large.txt"
    with file.open("w") as out:
        for n in range(50):
            out.write(str(n % 10) * _LARGE_BYTES + "\n")
    more = {"max.line.bytes": size, "producer.override.max.request.size": size, "topic": topic}
    place.run("50 lines of 10 MB", place.source("large-source", file, **more))
    place.run("50 records of 10 MB", place.sink("large-sink", topic))


def columns(place: Place) -> None:
    """A table with 1,600 columns."""
    with environment.database() as database:
        names = ", ".join(f"c{n} integer default {n}" for n in range(1599))
        database.execute(f"create table broad (id serial primary key, {names})")
        database.execute("insert into broad (c0) select n from generate_series(1, 1000) n")
        place.run("1,000 rows of 1,600 columns", _table(database))


def _table(database: PostgresDatabase) -> dict[str, str]:
    from benchmarks.tables import MODES, source_config

    config = source_config("broad", database, "broad-", MODES["incrementing"], schemas=False)
    return {**config, "table.whitelist": "broad"} if "table.whitelist" in config else config


def many(place: Place) -> None:
    """100 million records in one run, both ways."""
    file = place.folder / "many.txt"
    with file.open("w") as out:
        for start in range(0, 100_000_000, 100_000):
            out.write("".join(f"line {n:012d}\n" for n in range(start, start + 100_000)))
    place.topic("hundred-million", 2)
    place.run("100,000,000 lines", place.source("hundred-million", file))
    file.unlink()
    place.run("100,000,000 records to a file", place.sink("hundred-million-sink", "hundred-million"))


def cluster(place: Place) -> None:
    """A standalone cluster of two workers with two cores each."""
    from tests.support.spark.spark_master import SparkCluster

    lines = write_lines(place.folder / "cluster.txt", 1_000_000)
    place.topic("on-cluster", 4)
    spark = SparkCluster(place.folder / "cluster", workers=2)
    (place.folder / "cluster").mkdir()
    spark.start()
    try:
        place.run("1,000,000 lines, two workers", place.source("on-cluster", lines), "--master", spark.url)
        place.run("1,000,000 records, two workers", place.sink("cluster-sink", "on-cluster"), "--master", spark.url)
    finally:
        spark.stop()


CASES: dict[str, Callable[[Place], None]] = {
    each.__name__: each for each in (source_partitions, files, partitions, large, columns, many, cluster)
}


@app.command()
def main(
    cases: Annotated[list[str] | None, typer.Argument(help=f"{', '.join(CASES)}; all by default.")] = None,
    output: Annotated[Path, typer.Option(help="Results go to this JSON file.")] = results.FOLDER / "scale.json",
) -> None:
    """Print what runs take; add it to build/benchmarks/scale.json. Each case has a broker of its own."""
    say = environment.console()
    known: dict[str, Any] = results.read(output)["costs"] if output.exists() else {}
    for name in cases or list(CASES):
        with environment.broker(say) as found:
            place = Place(found, say)
            CASES[name](place)
        known[name] = [asdict(cost) for cost in place.costs]
        results.write(output, [], facts={}, costs=known)
    say(f"Results: {output}")


if __name__ == "__main__":
    app()
