"""The two pipelines, each moved by Kafka Connect and by airflow_kconnect."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka.admin import AdminClient, NewTopic

from airflow_kconnect.connect.run import RunReport, RunSpec
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.local.broker_files import worker_config
from airflow_kconnect.local.connect_worker import ConnectWorker
from benchmarks.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LINE_BYTES = 200
_PARTITIONS = 2
_PASSES = 5
_JSON = "org.apache.kafka.connect.json.JsonConverter"
_ROUTED = "-routed"
# What Connect's file sink prints besides the line itself when it is a struct.
_STRUCT_LINE = "Struct{text=,source=,sink=benchmark}\n"
_SOURCE_CHAIN = {
    "hoist": {"type": "HoistField$Value", "field": "line"},
    "insert": {"type": "InsertField$Value", "static.field": "source", "static.value": "benchmark"},
    "mask": {"type": "MaskField$Value", "fields": "source"},
    "cast": {"type": "Cast$Value", "spec": "source:string"},
    "route": {"type": "RegexRouter", "regex": "(.*)", "replacement": f"$1{_ROUTED}"},
}
_SINK_CHAIN = {
    "insert": {"type": "InsertField$Value", "static.field": "sink", "static.value": "benchmark"},
    "rename": {"type": "ReplaceField$Value", "renames": "line:text"},
}


@dataclass
class Measured:
    """Records per second of both sides, each in its best pass: other passes tell what else the machine did.

    :param whole_run: ours if everything counts: connecting, fencing, planning, committing.
    """

    path: str
    connect: float
    ours: float
    whole_run: float


def write_lines(path: Path, count: int) -> Path:
    """A text file of `count` lines of 200 bytes, the line feed included."""
    filler = "the quick brown fox jumps over the lazy dog, " * 5
    with path.open("w") as out:
        for n in range(count):
            out.write(f"{n:010d} {filler}"[: _LINE_BYTES - 1] + "\n")
    return path


def _chain(links: dict[str, dict[str, str]]) -> dict[str, str]:
    """The keys of a chain of transformations, with Java's full names, so that both sides take them."""
    keys = {"transforms": ",".join(links)}
    for alias, own in links.items():
        keys |= {f"transforms.{alias}.{key}": value for key, value in own.items()}
        keys[f"transforms.{alias}.type"] = f"org.apache.kafka.connect.transforms.{own['type']}"
    return keys


class Bench:
    """Runs everything; Connect first, then it is stopped so that the cores are free.

    :param transforms: whether records pass five transformations on their way to Kafka, and two on their way out.
    """

    def __init__(
        self,
        bootstrap: str,
        folder: Path,
        lines: int,
        schemas: bool,
        say: Callable[[str], None],
        *,
        transforms: bool = False,
    ) -> None:
        self._source_chain = _chain(_SOURCE_CHAIN) if transforms else {}
        self._sink_chain = _chain(_SINK_CHAIN) if transforms else {}
        self._suffix = _ROUTED if transforms else ""
        self._bootstrap, self._folder, self._lines, self._say = bootstrap, folder, lines, say
        self._converter = {"value.converter": _JSON, "value.converter.schemas.enable": str(schemas).lower()}
        self._admin = KafkaAdmin({"bootstrap.servers": bootstrap, "log_level": 2})
        self._input = write_lines(folder / "input.txt", lines)

    def run(self) -> list[Measured]:
        """Measure both directions."""
        with ConnectWorker(self._folder / "connect", bootstrap=self._bootstrap, heap_mb=1024) as connect:
            sources = [self._connect_source(connect, n) for n in range(_PASSES)]
            sinks = [self._connect_sink(connect, n) for n in range(_PASSES)]
        spark = spark_session(self._folder)
        our_sources = [self._our_source(spark, n) for n in range(_PASSES)]
        our_sinks = [self._our_sink(spark, n) for n in range(_PASSES)]
        spark.stop()
        return [
            Measured("file -> Kafka (exactly once)", max(sources), *max(our_sources)),
            Measured("Kafka -> JSON lines", max(sinks), *max(our_sinks)),
        ]

    def _topic(self, name: str) -> str:
        admin = AdminClient({"bootstrap.servers": self._bootstrap})
        admin.create_topics([NewTopic(name, _PARTITIONS, 1)])[name].result()
        return name

    def _connect_source(self, connect: ConnectWorker, attempt: int) -> float:
        topic, routed = f"connect-{attempt}", self._topic(f"connect-{attempt}{self._suffix}")
        name = f"source-{attempt}"
        config = {
            "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector",
            "file": str(self._input),
            "topic": topic,
            **self._converter,
            **self._source_chain,
        }
        connect.create(name, config)
        rate = self._rate(lambda: self._committed(routed), self._lines * 0.99)
        connect.delete(name)
        self._say(f"Kafka Connect, file -> Kafka, pass {attempt + 1}: {rate:,.0f} records/s")
        return rate

    def _connect_sink(self, connect: ConnectWorker, attempt: int) -> float:
        target, name = self._folder / f"connect-{attempt}.out", f"sink-{attempt}"
        config = {
            "connector.class": "org.apache.kafka.connect.file.FileStreamSinkConnector",
            "file": str(target),
            "topics": f"connect-{_PASSES - 1}{self._suffix}",
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            **self._converter,
            **self._sink_chain,
        }
        connect.create(name, config)
        line_bytes = len(_STRUCT_LINE) + _LINE_BYTES - 1 if self._sink_chain else _LINE_BYTES
        written = lambda: target.stat().st_size / line_bytes if target.exists() else 0  # noqa: E731
        rate = self._rate(written, self._lines * 0.99)
        connect.delete(name)
        target.unlink()
        self._say(f"Kafka Connect, Kafka -> file, pass {attempt + 1}: {rate:,.0f} records/s")
        return rate

    def _committed(self, topic: str) -> int:
        return sum(self._admin.end_offsets(topic, range(_PARTITIONS), committed=True).values())

    @staticmethod
    def _rate(moved: Callable[[], float], enough: float) -> float:
        """Records/s between the first records and the last: neither side's start-up counts here."""
        while moved() == 0:
            time.sleep(0.01)
        first, began = moved(), time.monotonic()
        while (now := moved()) < enough:
            time.sleep(0.05)
        return (now - first) / (time.monotonic() - began)

    def _our_source(self, spark: SparkSession, attempt: int) -> tuple[float, float]:
        config = {
            "name": f"our-source-{attempt}",
            "connector.class": "FileStreamSource",
            "file": str(self._input),
            "topic": self._topic(f"ours-{attempt}{self._suffix}").removesuffix(self._suffix),
            **self._converter,
            **self._source_chain,
        }
        return self._ours(spark, config, f"file -> Kafka, pass {attempt + 1}")

    def _our_sink(self, spark: SparkSession, attempt: int) -> tuple[float, float]:
        config = {
            "name": f"our-sink-{attempt}",
            "connector.class": "DirectorySink",
            "directory": str(self._folder / f"ours-{attempt}"),
            "topics": f"ours-{_PASSES - 1}{self._suffix}",
            **self._converter,
            **self._sink_chain,
        }
        return self._ours(spark, config, f"Kafka -> JSON lines, pass {attempt + 1}")

    def _ours(self, spark: SparkSession, config: dict[str, str], what: str) -> tuple[float, float]:
        """Records/s in a running session: from the start of the Spark job to the last commit, and of the whole run.

        The first is what `_rate` measures of Connect: its start, its rebalance and its fencing do not count there.
        """
        from airflow_kconnect.runtime.job import run

        report: RunReport = run(RunSpec(config=config, worker=worker_config(self._bootstrap)), spark)
        written, took = report.records["written"], report.durations_s
        assert written == self._lines, report
        moving, whole = written / (took["moving records"] + took["committing offsets"]), written / took["total"]
        self._say(f"airflow_kconnect, {what}: {moving:,.0f} records/s, {whole:,.0f} of the whole run")
        return moving, whole
