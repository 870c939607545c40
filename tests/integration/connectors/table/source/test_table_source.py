"""Tables as sources: their changes, what is new by a column, and all of them."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runs.warnings import Kind, kind_of
from airflow_kconnect.runtime.job import run
from airflow_kconnect.stores.offset_changes.source import SourceOffsets
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support import unique
from tests.support.kafka import read_all

DAGS = Path(__file__).parents[5] / "dags"
JSON = "org.apache.kafka.connect.json.JsonConverter"
Read = dict[str, Any] | None
Records = list[tuple[Read, Read]]


class Source:
    """A table source with a table and a topic of its own."""

    def __init__(self, spark: SparkSession, worker: dict[str, str], format_: str, table: str) -> None:
        self.spark, self._worker, self.table = spark, worker, table
        self.topic = unique("rows")
        self.config = {
            "name": unique("table"),
            "connector.class": "SparkTableSource",
            "table.format": format_,
            "table.name": table,
            "topic": self.topic,
            "key.converter": JSON,
            "key.converter.schemas.enable": "false",
            "value.converter": JSON,
            "value.converter.schemas.enable": "false",
        }

    def create(self) -> None:
        properties = "TBLPROPERTIES ('delta.enableChangeDataFeed'='true')"
        format_ = f"delta {properties}" if self.config["table.format"] == "delta" else "iceberg"
        self.sql(f"CREATE TABLE {{t}} (id BIGINT NOT NULL, name STRING) USING {format_}")

    def run(self, **more: str) -> RunReport:
        return run(RunSpec({**self.config, **more}, self._worker, run_id=unique("run")), self.spark.newSession())

    def records(self) -> Records:
        found = read_all(self._worker["bootstrap.servers"], self.topic)
        return [(_read(record.key), _read(record.value)) for record in found]

    def sql(self, statement: str) -> None:
        self.spark.sql(statement.replace("{t}", self.table))


def _read(data: bytes | None) -> Read:
    return None if data is None else json.loads(data)


@pytest.fixture(params=["iceberg", "delta"])
def source(request: pytest.FixtureRequest, spark: SparkSession, worker_props: dict[str, str], lake: str) -> Source:
    format_ = request.param
    name = unique("orders").replace("-", "_")
    made = Source(spark, worker_props, format_, f"{lake}.db.{name}" if format_ == "iceberg" else f"default.{name}")
    made.create()
    return made


# What is the same for all formats: each asks only for rows by a column, or for a state of the table.
_of_any_format = pytest.mark.parametrize(
    "source", ["iceberg", pytest.param("delta", marks=pytest.mark.exhaustive)], indirect=True
)


def test_each_run_reads_what_has_changed_and_a_deleted_row_is_a_tombstone(
    source: Source, worker_props: dict[str, str]
) -> None:
    """Altered offsets have it read again."""
    source.sql("INSERT INTO {t} VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    [first] = source.run(**{"pk.fields": "id"}).offsets
    assert sorted(value["id"] for _, value in source.records() if value) == [1, 2, 3]
    source.sql("UPDATE {t} SET name = 'B' WHERE id = 2")
    source.sql("DELETE FROM {t} WHERE id = 3")
    source.run(**{"pk.fields": "id"})
    assert source.records()[3:] == [({"id": 2}, {"id": 2, "name": "B"}), ({"id": 3}, None)]
    assert source.run(**{"pk.fields": "id"}).records["written"] == 0
    worker = WorkerConfig.from_props(worker_props)
    SourceOffsets(validate_connector(source.config, worker=worker), worker).alter({"offsets": [first]})
    assert source.run(**{"pk.fields": "id"}).records["written"] == 2


@_of_any_format
def test_of_a_table_without_keys_new_rows_are_read_and_deleted_ones_or_another_mode_end_the_run(source: Source) -> None:
    source.sql("INSERT INTO {t} VALUES (1, 'a')")
    source.run()
    source.sql("INSERT INTO {t} VALUES (2, 'b')")
    assert source.run().records["written"] == 1
    with pytest.raises(DataError, match="`mode`=incrementing"):
        source.run(mode="incrementing", **{"incrementing.column.name": "id"})
    source.sql("DELETE FROM {t} WHERE id = 2")
    with pytest.raises(DataError, match=r"set `pk.fields`"):
        source.run()


@_of_any_format
def test_by_a_column_only_higher_values_are_read_and_rows_without_one_are_named_in_a_warning(source: Source) -> None:
    by_number = {"mode": "incrementing", "incrementing.column.name": "n"}
    source.sql("ALTER TABLE {t} ADD COLUMN n INT")
    source.sql("INSERT INTO {t} VALUES (1, 'a', 1), (2, 'b', 5), (3, 'c', null), (4, 'd', null)")
    reports = [source.run(**by_number)]
    source.sql("INSERT INTO {t} VALUES (5, 'late', 3), (6, 'e', 6)")
    reports.append(source.run(**by_number))
    assert [(report.records["written"], list(map(kind_of, report.warnings))) for report in reports] == [
        (2, [Kind.LOST]),
        (1, [Kind.LOST]),
    ]
    assert "2 rows have null in `n`" in reports[1].warnings[0]
    with pytest.raises(ConfigError, match=r"`incrementing.column.name`: is name, a column of the type string"):
        source.run(mode="incrementing", **{"incrementing.column.name": "name"})


@_of_any_format
def test_as_a_whole_the_table_is_read_each_time(source: Source) -> None:
    source.sql("INSERT INTO {t} VALUES (1, 'a'), (2, 'b')")
    source.run(mode="bulk")
    assert source.run(mode="bulk").records["written"] == 2


def test_a_table_that_was_created_again_ends_the_run(source: Source) -> None:
    source.sql("INSERT INTO {t} VALUES (1, 'a')")
    source.run()
    source.sql("DROP TABLE {t}")
    source.create()
    for number in range(2):  # Delta's version is a higher one by then
        source.sql(f"INSERT INTO {{t}} VALUES ({number}, 'new')")
    with pytest.raises(DataError, match=r"created again|no longer has snapshot"):
        source.run()


@pytest.mark.parametrize(
    ("statement", "says"),
    [
        ("ALTER TABLE {t} RENAME COLUMN name TO title", "got other columns"),
        ("ALTER TABLE {t} SET TBLPROPERTIES ('delta.enableChangeDataFeed'='false')", "does not record changes"),
    ],
)
def test_changes_that_delta_does_not_read_end_the_run_for_good(
    spark: SparkSession, worker_props: dict[str, str], lake: str, statement: str, says: str
) -> None:
    source = Source(spark, worker_props, "delta", f"default.{unique('orders').replace('-', '_')}")
    source.create()
    source.sql("ALTER TABLE {t} SET TBLPROPERTIES ('delta.columnMapping.mode'='name')")
    source.run()
    source.sql("INSERT INTO {t} VALUES (1, 'a')")
    source.sql(statement)
    with pytest.raises((ConfigError, DataError), match=says):
        source.run()


@_of_any_format
def test_a_table_that_is_not_there_is_an_error_of_its_key(source: Source) -> None:
    with pytest.raises(ConfigError, match=r"table\.name"):
        source.run(**{"table.name": source.table + "_missing"})


def test_files_of_any_format_of_spark(spark: SparkSession, worker_props: dict[str, str], tmp_path: Path) -> None:
    spark.range(5).write.parquet(str(tmp_path / "files"))
    source = Source(spark, worker_props, "parquet", "unused")
    del source.config["table.name"]
    report = source.run(
        mode="incrementing", **{"incrementing.column.name": "id", "table.path": str(tmp_path / "files")}
    )
    assert report.records["written"] == 5


def test_a_catalog_of_the_configuration_is_the_runs_own(
    spark: SparkSession, worker_props: dict[str, str], tmp_path: Path, lake: str
) -> None:
    source = Source(spark, worker_props, "iceberg", "shop.orders")
    own = {"table.catalog": unique("mine").replace("-", "_"), "table.catalog.type": "hadoop"}
    source.config |= own | {"table.catalog.warehouse": str(tmp_path)}
    with pytest.raises(ConfigError, match=r"there is no table mine_\w+\.shop\.orders"):
        source.run()


_COLUMNS = (
    "id BIGINT, amount DECIMAL(10, 2), day DATE, at TIMESTAMP, wall TIMESTAMP_NTZ, data VARIANT, raw BINARY,"
    " tags ARRAY<STRUCT<name: STRING, price: DECIMAL(5, 1)>>, sizes MAP<STRING, DECIMAL(4, 1)>"
)
_ROW = (
    "1, 12.34, DATE'2026-01-02', TIMESTAMP'2026-01-02 03:04:05.678Z', TIMESTAMP_NTZ'2026-01-02 03:04:05',"
    " parse_json('{\"a\": [1, null]}'), X'00ff', array(struct('red', 1.5)), map('m', 2.5)"
)


def test_values_of_all_types_arrive(spark: SparkSession, worker_props: dict[str, str], lake: str) -> None:
    source = Source(spark, worker_props, "iceberg", f"{lake}.db.{unique('types').replace('-', '_')}")
    source.sql(f"CREATE TABLE {{t}} ({_COLUMNS}) USING iceberg TBLPROPERTIES ('format-version'='3')")
    source.sql(f"INSERT INTO {{t}} SELECT {_ROW}")
    source.run(**{"value.converter.decimal.format": "NUMERIC"})
    assert [value for _, value in source.records()] == [
        {
            "id": 1,
            "amount": 12.34,
            "day": 20455,
            "at": 1767323045678,
            "wall": 1767323045000,
            "data": '{"a":[1,null]}',
            "raw": "AP8=",
            "tags": [{"name": "red", "price": 1.5}],
            "sizes": {"m": 2.5},
        }
    ]


def test_a_table_and_its_copy_stay_the_same(
    spark: SparkSession, worker_props: dict[str, str], lake: str, tmp_path: Path
) -> None:
    """The two connectors of `example_lake_copy`, run by run."""
    example = runpy.run_path(str(DAGS / "example_lake_copy.py"))
    topic = unique("lake-orders")

    def config(which: str) -> dict[str, str]:
        given = {key: text.replace(example["FOLDER"], str(tmp_path)) for key, text in example[which]["config"].items()}
        named = {"name": unique(which), "topic": topic, "topics": topic}
        return {key: named.get(key, text) for key, text in {"name": "", **given}.items()}

    source, sink = config("SOURCE"), config("SINK")
    del source["table.catalog.type"], source["table.catalog.warehouse"]
    table = unique("orders").replace("-", "_")
    source |= {"table.catalog": lake, "table.name": f"db.{table}"}
    merged = f"MERGE INTO {lake}.db.{table} t USING (SELECT id + 5 AS id FROM range(10)) s ON t.id = s.id"
    steps = [
        [
            f"CREATE TABLE {lake}.db.{table} USING iceberg TBLPROPERTIES ('write.merge.mode'='merge-on-read')"
            " AS SELECT id, 'bread' AS item FROM range(10)"
        ],
        [
            f"{merged} WHEN MATCHED AND t.id = 6 THEN DELETE WHEN MATCHED THEN UPDATE SET item = 'figs'"
            " WHEN NOT MATCHED THEN INSERT (id, item) VALUES (s.id, 'new')",
            f"UPDATE {lake}.db.{table} SET id = id + 100 WHERE id < 3",
        ],
    ]
    for step in steps:
        for statement in step:
            spark.sql(statement)
        for each in (source, sink):
            run(RunSpec(each, worker_props, run_id=unique("run")), spark.newSession())
        copied = spark.table(f"delta.`{tmp_path}/copy/orders`").select("id", "item")
        assert sorted(copied.collect()) == sorted(spark.table(f"{lake}.db.{table}").collect())
