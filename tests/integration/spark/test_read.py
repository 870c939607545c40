"""`spark.read.format("kconnect")` in a session: sources of all kinds become DataFrames."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.spark import plugins, register
from airflow_kconnect.spark.plugins import Registered
from tests.support.connectors import read_by_spark
from tests.support.connectors.taps import Tap
from tests.support.variables import CANARY

Read = Callable[..., DataFrame]

SHOP = """
from airflow_kconnect.sdk import source

FACTOR = 2

class Order(dict):
    pass

@source(key="id")
def priced(count: int):
    yield from (Order(id=n, price=n * FACTOR) for n in range(count))
"""
CELL = """
from airflow_kconnect.sdk import INT64_SCHEMA, PollSourceConnector, RecordShapes, Shape, SourceRecord, SourceTask
from airflow_kconnect.sdk import ConfigDef, source, struct

factor = {factor}
ROW = struct(("n", INT64_SCHEMA))

@source
def cells(count: int = 2):
    yield from ({{"n": n * factor}} for n in range(count))

class CellTask(SourceTask):
    def start(self, props):
        self.left = 2

    def poll(self):
        if not self.left:
            return None
        self.left -= 1
        return [SourceRecord(None, None, "t", {{"n": self.left * factor}}, ROW)]

class CellSource(PollSourceConnector):
    @classmethod
    def config(cls):
        return ConfigDef()

    def task_class(self):
        return CellTask

    def task_configs(self, max_tasks):
        return [self.props]

    def shapes(self):
        return RecordShapes(values=(Shape(ROW),))
"""


@pytest.fixture(autouse=True)
def nothing_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "_registered", Registered())


@pytest.fixture
def read(spark: SparkSession) -> Read:
    """`read(source, **options)`: underscores of options are dots."""

    def make(source: Any, /, **options: Any) -> DataFrame:
        register(spark, source)
        texts = {key.replace("_", "."): value for key, value in options.items()}
        return spark.read.format("kconnect").options(**{"connector.class": source.__name__, **texts}).load()

    return make


def cell(factor: int = 1) -> dict[str, Any]:
    """What a notebook has after a cell."""
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(CELL.format(factor=factor), names)  # noqa: S102
    return names


def numbers(df: DataFrame, column: str = "n") -> list[int]:
    return [row[column] for row in df.collect()]


def failure(df: Callable[[], Any]) -> str:
    with pytest.raises(PySparkException) as caught:
        df()
    return str(caught.value)


class TestWhatIsRead:
    def test_values_have_the_types_of_their_schema(self, read: Read) -> None:
        df = read(read_by_spark.orders, count=1)
        assert df.schema.simpleString() == (
            "struct<id:bigint,at:timestamp,items:array<struct<sku:string,price:double>>,by:string>"
        )
        assert df.first() == (0, datetime(2026, 1, 1), [("s0", 1.5)], "none")

    def test_records_have_their_metadata_as_kafkas_have(self, read: Read) -> None:
        rows = read(read_by_spark.two_topics, includeMetadata=True).collect()
        assert [(row.key, row.value, row.topic) for row in rows] == [
            (1, (1,), "two_topics"),
            (2, (2,), "other"),
            (1, None, "two_topics"),
        ]
        assert (rows[1].timestamp, rows[1].headers) == (datetime(2026, 1, 1), [("h", b"x")])

    def test_one_topic_of_several(self, read: Read) -> None:
        assert numbers(read(read_by_spark.two_topics, subscribe="other"), "id") == [2]

    def test_values_without_a_schema_are_json(self, read: Read) -> None:
        df = read(read_by_spark.anything).select(F.parse_json("value").cast("string"))
        assert [row[0] for row in df.collect()] == ['{"a":1}', "[1,null]"]

    def test_a_key_of_the_connector_keeps_its_case(self, read: Read) -> None:
        assert read(read_by_spark.orders, count=1, apiKey="K").select("by").first() == ("K",)

    def test_a_source_that_has_nothing_new_is_empty(self, read: Read) -> None:
        offsets = json.dumps([{"partition": {"source": "orders"}, "offset": {"id": 4}}])
        assert read(read_by_spark.orders, startingOffsets=offsets).count() == 0

    def test_the_source_is_read_again_for_each_action(self, read: Read, tmp_path: Path) -> None:
        path = tmp_path / "count"
        path.write_text("1")
        df = read(read_by_spark.as_many_as, path=path)
        before = df.count()
        path.write_text("3")
        assert (before, df.count()) == (1, 3)

    def test_sql_reads_it(self, spark: SparkSession) -> None:
        register(spark, read_by_spark.orders)
        spark.sql("""CREATE OR REPLACE TEMPORARY VIEW orders USING kconnect
                     OPTIONS ("connector.class" 'orders', count '3')""")
        assert spark.sql("SELECT sum(id) FROM orders").first() == (3,)


class TestTasksAndBounds:
    def test_each_task_is_a_partition(self, read: Read) -> None:
        df = read(read_by_spark.sales, shops="a,b,c", tasks_max=2)
        assert df.rdd.getNumPartitions() == 2
        assert df.groupBy("shop").count().orderBy("shop").collect() == [("a", 3), ("b", 3), ("c", 3)]

    def test_a_source_without_tasks_is_empty(self, read: Read) -> None:
        assert read(read_by_spark.NoTasks, prefix="p.").collect() == []

    def test_a_bound_ends_the_read(self, read: Read) -> None:
        assert numbers(read(read_by_spark.orders, kconnect_max_records=2), "id") == [0, 1]

    def test_the_next_read_begins_where_one_has_ended(self, read: Read) -> None:
        first = read(read_by_spark.orders, includeMetadata=True, kconnect_max_records=2).collect()
        offsets = [{"partition": json.loads(first[-1].partition), "offset": json.loads(first[-1].offset)}]
        assert numbers(read(read_by_spark.orders, startingOffsets=json.dumps(offsets)), "id") == [2, 3, 4]


class TestWhereSourcesAre:
    def test_a_function_of_a_notebook_that_is_changed(self, read: Read) -> None:
        assert numbers(read(cell()["cells"])) == [0, 1]
        assert numbers(read(cell(factor=5)["cells"])) == [0, 5]

    def test_a_class_of_a_notebook(self, read: Read) -> None:
        assert numbers(read(cell(factor=3)["CellSource"])) == [3, 0]

    def test_a_file(self, spark: SparkSession, tmp_path: Path) -> None:
        path = tmp_path / "spark_shop.py"
        path.write_text(SHOP)
        register(spark, path)
        df = spark.read.format("kconnect").option("connector.class", "spark_shop.priced").option("count", 3).load()
        assert df.collect() == [(0, 0), (1, 2), (2, 4)]

    def test_a_source_of_dlt_that_the_worker_allows(self, spark: SparkSession, tmp_path: Path) -> None:
        (tmp_path / "count").write_text("25")
        register(spark, worker={"kconnect.dlt.sources.allowed": "tests.support.connectors.dlt_sources"})
        options = {"dlt.source": "tests.support.connectors.dlt_sources:ordered", "dlt.args.size": "10"}
        reader = spark.read.format("kconnect").option("connector.class", "DltSource").options(**options)
        df = reader.option("dlt.args.count_file", str(tmp_path / "count")).load()
        assert df.select(F.get_json_object("value", "$.n").cast("int")).agg(F.sum("*"), F.count("*")).first() == (
            300,
            25,
        )

    def test_a_tap_of_singer_that_the_worker_allows(self, spark: SparkSession, tmp_path: Path) -> None:
        tap = Tap(tmp_path, count=5)
        register(spark, worker={"kconnect.singer.taps.allowed": str(tap.command)})
        reader = spark.read.format("kconnect").option("connector.class", "SingerSource")
        df = reader.option("topic.prefix", "s.").options(**tap.props()).load()
        assert numbers(df) == [0, 1, 2, 3, 4]


class TestErrors:
    def test_wrong_options_are_all_told_when_it_is_loaded(self, read: Read) -> None:
        text = failure(lambda: read(read_by_spark.orders, count="many", tasks_max="x"))
        assert "Configuration of connector orders is invalid, 3 errors" in text

    def test_a_source_that_fails_names_itself_and_no_value_of_a_variable_in_few_lines(
        self, read: Read, tmp_path: Path
    ) -> None:
        secret = tmp_path / "token"
        secret.write_text(CANARY)
        df = read(read_by_spark.failing, readAhead=1, token=f"${{dir:{tmp_path}:token}}")
        text = failure(df.collect)
        assert (
            f"connector failing: failing of task 0 failed: ValueError: no access with ${{dir:{tmp_path}:token}}" in text
        )
        assert CANARY not in text
        assert len(text.splitlines()) < 12

    def test_a_record_that_does_not_fit_ends_the_read(self, read: Read) -> None:
        text = failure(lambda: read(read_by_spark.sometimes_wrong))
        assert "connector sometimes_wrong: " in text
        assert "field `n` of the value was of type int64 in other records, and is a text in this one" in text

    def test_a_record_that_does_not_fit_is_skipped_if_the_user_says_so(self, read: Read) -> None:
        assert numbers(read(read_by_spark.sometimes_wrong, errors_tolerance="all")) == [1, 3]

    def test_fields_that_come_later_say_how_to_find_them(self, read: Read) -> None:
        assert "`readAhead`" in failure(read(read_by_spark.growing, readAhead=2, count=1500, late=1499).collect)

    def test_a_schema_of_the_user_is_refused(self, spark: SparkSession) -> None:
        register(spark, read_by_spark.orders)
        reader = spark.read.format("kconnect").schema("id long").option("connector.class", "orders")
        assert "leave out .schema(...)" in failure(lambda: reader.load().collect())

    def test_writing_says_what_to_do(self, spark: SparkSession) -> None:
        register(spark)
        # Of this session, whichever was active: it is the one that Spark asks for the name.
        writer = spark.createDataFrame([(1,)], "id long").write.format("kconnect").mode("append")
        assert 'write with format("kafka")' in failure(writer.save)

    def test_streaming_says_what_to_do(self, spark: SparkSession, tmp_path: Path) -> None:
        register(spark, read_by_spark.orders)
        stream = spark.readStream.format("kconnect").option("connector.class", "orders").load()
        query = stream.writeStream.format("noop").option("checkpointLocation", str(tmp_path)).start()
        assert 'spark.readStream.format("kafka")' in failure(query.awaitTermination)


@pytest.fixture
def token(tmp_path: Path) -> Iterator[str]:
    """A variable whose value nobody may see."""
    (tmp_path / "token").write_text(CANARY)
    yield f"${{dir:{tmp_path}:token}}"


def test_no_plan_shows_options(read: Read, token: str, capsys: pytest.CaptureFixture[str]) -> None:
    df = read(read_by_spark.orders, token=token, apiKey="plain-text-key")
    for mode in ("simple", "extended", "codegen", "cost", "formatted"):
        df.explain(mode=mode)
        shown = capsys.readouterr().out
        assert "kconnect" in shown
        assert not {text for text in (CANARY, token, "plain-text-key") if text in shown}
