"""Iceberg tables that are created, and changed."""

from __future__ import annotations

import threading

import pytest
from pyspark.sql import types as T

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.table.columns.evolution import Change
from airflow_kconnect.connectors.table.formats.base import TableDefinition
from airflow_kconnect.connectors.table.formats.iceberg.table import IcebergTable
from tests.integration.connectors.table.iceberg.conftest import MakeTable
from tests.support.spark.iceberg import append, as_other, columns, found, metadata, plan, rows, twin


def test_a_table_has_the_columns_comments_and_keys_of_its_definition(make_table: MakeTable) -> None:
    defined = (
        "id long COMMENT 'the order', tags array<string>, ts timestamp NOT NULL, at timestamp_ntz, n decimal(10,2)"
    )
    table = make_table(defined, keys=("id",))
    present = table.columns()
    assert present is not None
    assert [field.dataType for field in present.fields] == [field.dataType for field in columns(defined).fields]
    assert [field.nullable for field in present.fields] == [False, True, False, True, True]
    assert present["id"].metadata == {"comment": "the order"}
    assert list(metadata(table).schema().identifierFieldNames()) == ["id"]


def test_a_table_is_partitioned_as_either_syntax_says(make_table: MakeTable) -> None:
    texts = ("day(ts)", "bucket(id, 16)", "truncate(4, s)", "hours(at)", "c.region")
    ddl = "id long, s string, ts timestamp, at timestamp, c struct<region: string>"
    fields = metadata(make_table(ddl, partition_by=texts)).spec().fields()
    assert [f"{field.name()} {field.transform().toString()}" for field in fields] == [
        "ts_day day",
        "id_bucket bucket[16]",
        "s_trunc truncate[4]",
        "at_hour hour",
        "c.region identity",
    ]


@pytest.mark.parametrize("text", ["day(name)", "day(missing)", "week(ts)"])
def test_a_partition_that_the_columns_cannot_have_is_refused(make_table: MakeTable, text: str) -> None:
    with pytest.raises(ConfigError, match=r"table\.partition\.by"):
        make_table(partition_by=(text,))


def test_properties_and_format_version_are_those_of_the_definition(make_table: MakeTable) -> None:
    chosen = {"format-version": "3", "write.target-file-size-bytes": "1000000"}
    table = metadata(make_table(properties=chosen, keys=("id",)))
    assert table.operations().current().formatVersion() == 3
    properties = dict(table.properties())
    assert properties["write.target-file-size-bytes"] == "1000000"
    assert properties["write.merge.mode"] == "merge-on-read"


def test_variants_have_a_table_of_version_3(make_table: MakeTable) -> None:
    table = make_table("id long, v variant")
    assert metadata(table).operations().current().formatVersion() == 3
    table.append(plan(1), table.spark.sql("SELECT 1L AS id, parse_json('{\"a\": 1}') AS v"))
    table.publish(plan(1))
    assert table.spark.sql(f"SELECT v:a::int FROM {table.name}").collect() == [(1,)]


def test_a_table_that_is_there_by_now_stays(table: IcebergTable) -> None:
    append(table, 1, (1, "a"))
    twin(table).create(TableDefinition(columns("id long, other string")))
    assert found(table) == [(1, "a")]


def test_a_table_of_another_format_is_refused(make_table: MakeTable) -> None:
    table = make_table(create=False)
    name = "default.not_of_iceberg"
    table.spark.sql(f"CREATE TABLE {name} (id bigint) USING parquet")
    with pytest.raises(ConfigError, match="is not a table of Iceberg"):
        IcebergTable(table.spark, f"spark_catalog.{name}", table.settings).columns()
    with pytest.raises(ConfigError, match="has no tables of Iceberg"):
        IcebergTable(table.spark, "spark_catalog.default.nothing", table.settings).create(
            TableDefinition(columns("id long"))
        )
    table.spark.sql(f"DROP TABLE {name}")


def test_columns_are_added_widened_and_made_optional_in_one_commit(make_table: MakeTable) -> None:
    table = make_table(
        "i int NOT NULL, f float, d decimal(10,2), s struct<a: int>, l array<struct<a: int>>,"
        " m map<string, struct<a: int>>"
    )
    before = len(metadata(table).operations().current().previousFiles())
    table.change(
        [
            Change("add", ("new",), T.StringType(), "a comment"),
            Change("add", ("with.dot",), T.LongType()),
            Change("add", ("s", "b"), T.StructType([T.StructField("x", T.DateType())])),
            Change("add", ("l", "element", "b"), T.LongType()),
            Change("add", ("m", "value", "b"), T.LongType()),
            Change("widen", ("i",), T.LongType()),
            Change("widen", ("f",), T.DoubleType()),
            Change("widen", ("d",), T.DecimalType(20, 2)),
            Change("widen", ("s", "a"), T.LongType()),
            Change("widen", ("l", "element", "a"), T.LongType()),
            Change("optional", ("i",)),
        ]
    )
    assert table.columns() == T.StructType(
        [
            T.StructField("i", T.LongType()),
            T.StructField("f", T.DoubleType()),
            T.StructField("d", T.DecimalType(20, 2)),
            *columns("s struct<a: bigint, b: struct<x: date>>, l array<struct<a: bigint, b: bigint>>").fields,
            *columns("m map<string, struct<a: int, b: bigint>>, new string COMMENT 'a comment'").fields,
            T.StructField("with.dot", T.LongType()),
        ]
    )
    assert len(metadata(table).operations().current().previousFiles()) == before + 1


def test_rows_from_before_a_change_are_read_as_before(table: IcebergTable) -> None:
    append(table, 1, (1, "a"))
    table.change([Change("add", ("more",), T.IntegerType())])
    table.append(plan(2), rows(table, [(2, "b", 5)], "id long, name string, more int"))
    table.publish(plan(2))
    assert found(table) == [(1, "a", None), (2, "b", 5)]


def test_what_another_run_has_changed_is_left_as_it_is(make_table: MakeTable) -> None:
    table = make_table("id int NOT NULL")
    wanted = [
        Change("add", ("name",), T.StringType()),
        Change("widen", ("id",), T.LongType()),
        Change("optional", ("id",)),
    ]
    table.change(wanted)
    twin(table).change(wanted)
    assert table.columns() == columns("id long, name string")


def test_two_runs_that_change_a_table_at_once_both_succeed(table: IcebergTable) -> None:
    runs = [twin(table) for _ in range(2)]
    errors: list[BaseException] = []

    def change(run: IcebergTable, name: str) -> None:
        try:
            run.change([Change("add", (name,), T.StringType())])
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=change, args=(run, f"c{n}")) for n, run in enumerate(runs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    present = table.columns()
    assert not errors, [str(error)[:2000] for error in errors]
    assert present is not None and {"c0", "c1"} <= set(present.names)


@pytest.mark.parametrize(
    "change",
    [
        Change("widen", ("name",), T.LongType()),
        Change("optional", ("missing",)),
        Change("add", ("name", "part"), T.LongType()),
    ],
)
def test_a_change_that_iceberg_cannot_make_is_refused(table: IcebergTable, change: Change) -> None:
    with pytest.raises(ConfigError, match="change it yourself"):
        table.change([change])


def test_a_table_that_others_have_made_is_asked_to_stage(make_table: MakeTable) -> None:
    table = make_table(create=False)
    as_other(table, "CREATE TABLE {t} (id bigint, name string) USING iceberg")
    table.append(plan(1), rows(table, [(1, "a")]))
    assert found(table) == []
    table.publish(plan(1))
    assert found(table) == [(1, "a")]
