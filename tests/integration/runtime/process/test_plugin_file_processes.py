"""Classes and functions of a plug-in file in other processes: Spark's Python workers, and those that a job forks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.plugins.files import PluginFile
from airflow_kconnect.plugins.registry import registry
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from tests.integration.runtime.conftest import NEEDS_SPARK
from tests.support import unique
from tests.support.kafka import produce, read_values
from tests.support.spark.jobs import start_job
from tests.support.spark.spark_master import SparkCluster

NATIVE = '''
import pathlib
from dataclasses import dataclass

import pyarrow as pa

from airflow_kconnect.sdk import (
    STRING_SCHEMA,
    BatchFrame,
    BatchRenderer,
    ConfigDef,
    NativeSinkConnector,
    NativeSourceConnector,
    RecordFrame,
    Shape,
    SourcePlan,
    Split,
    SplitWriter,
    Type,
    single,
    transform,
)

VALUE = Shape(STRING_SCHEMA)


@dataclass(frozen=True)
class Reader:
    """Numbers as texts."""

    begins: tuple[int, ...]
    end: int

    def __call__(self, split):
        numbers = range(self.begins[split], self.end)
        yield pa.record_batch({"progress": [n + 1 for n in numbers], "value": [str(n) for n in numbers]}, schema=ROWS)


ROWS = pa.schema([("progress", pa.int64()), ("value", pa.string())])


class Numbers(NativeSourceConnector):
    """Numbers up to `end`."""

    @classmethod
    def config(cls):
        return ConfigDef().define("topic", Type.STRING).define("end", Type.INT)

    def plan(self, context):
        begin = (context.offset({"numbers": ""}) or {"done": 0})["done"]
        end = self.config_values["end"]
        return SourcePlan((Split({"numbers": ""}, begin, end),) if begin < end else ())

    def recheck(self, splits):
        return set()

    def offset(self, split, resume_point):
        return {"done": int(resume_point)}

    def batches(self, splits):
        reader = Reader(tuple(int(point) for _, _, point in splits), self.config_values["end"])
        topic = self.config_values["topic"]
        return BatchFrame(reader, ROWS, single(VALUE, "value"), constant_topic=topic, carried=("progress",))


class SparkNumbers(Numbers):
    """The same, by a function that Spark calls."""

    def batches(self, splits):
        return None

    def read(self, spark, splits):
        reader = Reader(tuple(int(point) for _, _, point in splits), self.config_values["end"])
        rows = spark.range(0, len(splits), 1, len(splits)).mapInArrow(Rows(reader).rows, "progress long, value string")
        topic = self.config_values["topic"]
        return RecordFrame(rows, single(VALUE, "value"), constant_topic=topic, carried=("progress",))


@dataclass(frozen=True)
class Rows:
    reader: Reader

    def rows(self, batches):
        for batch in batches:
            for split in batch.column("id").to_pylist():
                yield from self.reader(split)


@dataclass
class Lines(SplitWriter):
    folder: str

    def open(self, split):
        self.values, self.place = [], f"{split.topic}-{split.partition}-{split.start}"

    def write(self, batch):
        self.values += batch.column("value").to_pylist()

    def close(self, end):
        (pathlib.Path(self.folder) / self.place).write_text("".join(f"{value}\\n" for value in self.values))
        return {}


class Renderer(BatchRenderer):
    def render(self, offsets, key, value):
        errors = pa.nulls(len(offsets), pa.string())
        return pa.record_batch({"kafka_offset": offsets, "value": value[1], "error": errors})


class Written(NativeSinkConnector):
    """A file for each split."""

    needs = frozenset()

    @classmethod
    def config(cls):
        return ConfigDef().define("folder", Type.STRING)

    def render(self, frame):
        return frame.df.select("kafka_offset", frame.df[frame.value.columns[0]].alias("value"), "error")

    def batch_renderer(self, keys, values):
        return Renderer()

    def writer(self):
        return Lines(self.config_values["folder"])
'''
STRINGS = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}
ON_SPARK, BY_SPARK_SUBMIT, FORKED = "session", "spark-submit", "forked"

RunOf = Callable[..., None]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkCluster]:
    started = SparkCluster(tmp_path_factory.mktemp("spark-cluster"))
    try:
        started.start()
        yield started
    finally:
        started.stop()


@pytest.fixture
def run_of(worker_props: dict[str, str], spark: SparkSession, tmp_path: Path) -> RunOf:
    """`run_of(path, connector, keys)`: a run of a class of the file, here or as a job of its own."""
    file = tmp_path / f"{unique('native').replace('-', '_')}.py"
    file.write_text(NATIVE)
    registry().add(PluginFile.read(file))

    def make(path: str, connector: str, keys: dict[str, str], on: SparkCluster | None = None) -> None:
        config = {"name": unique("native"), "connector.class": f"{file.stem}.{connector}", **STRINGS, **keys}
        if path == ON_SPARK:
            run(RunSpec(config, worker_props), spark)
            return
        where: dict[str, Any] = {} if on is None else {"master": on.url, "conf": on.conf(tmp_path)}
        job = start_job(config, worker_props, tmp_path / "job", spark_submit=path == BY_SPARK_SUBMIT, **where)
        assert job.wait() == 0, job.text()

    return make


@pytest.mark.parametrize(
    ("path", "connector", "more"),
    [
        (FORKED, "Numbers", {}),
        (ON_SPARK, "Numbers", NEEDS_SPARK),
        (ON_SPARK, "SparkNumbers", {}),
        pytest.param(BY_SPARK_SUBMIT, "SparkNumbers", NEEDS_SPARK, marks=pytest.mark.exhaustive),
    ],
    ids=["forked", "batches in Spark", "a function of its own in Spark", "by spark-submit"],
)
def test_a_native_source_of_a_file_is_read(
    path: str, connector: str, more: dict[str, str], run_of: RunOf, topic: Any, bootstrap: str
) -> None:
    name = topic()
    run_of(path, connector, {"topic": name, "end": "3", **more})
    assert read_values(bootstrap, name) == [b"0", b"1", b"2"]


@pytest.mark.parametrize(("path", "more"), [(FORKED, {}), (ON_SPARK, NEEDS_SPARK)], ids=["forked", "in Spark"])
def test_a_native_sink_of_a_file_writes(
    path: str, more: dict[str, str], run_of: RunOf, topic: Any, bootstrap: str, tmp_path: Path
) -> None:
    name, folder = topic(), tmp_path / "target"
    folder.mkdir()
    produce(bootstrap, name, [b"a", b"b"])
    run_of(path, "Written", {"topics": name, "folder": str(folder), **more})
    assert [file.read_text() for file in folder.iterdir()] == ["a\nb\n"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("connector", ["Numbers", "SparkNumbers"])
def test_executors_of_a_cluster_have_the_file(
    connector: str, cluster: SparkCluster, run_of: RunOf, topic: Any, bootstrap: str
) -> None:
    name = topic()
    run_of(BY_SPARK_SUBMIT, connector, {"topic": name, "end": "3"}, on=cluster)
    assert read_values(bootstrap, name) == [b"0", b"1", b"2"]
