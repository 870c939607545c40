"""Which rows the records of a frame are for a keyed table, by Catalyst, without Kafka and without a lake."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import (
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    SCHEMALESS,
    STRING_SCHEMA,
    struct,
)
from airflow_kconnect.connect.error_cells import DROPPED, error_from_column
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.frame import RecordFrame, Union
from airflow_kconnect.connectors.table.changes import DELETED, Changes, changes_of, without_tombstones
from airflow_kconnect.connectors.table.settings import RECORD_KEY, RECORD_VALUE, UPSERT, Routing, TableSettings
from tests.support.databases.jdbc_sink import Record, frame_of

KEY = struct(("id", INT32_SCHEMA))
ROW = struct(("id", INT32_SCHEMA), ("name", OPTIONAL_STRING_SCHEMA))
NAMED = struct(("name", STRING_SCHEMA))
MARKED = struct(("id", INT32_SCHEMA), ("name", OPTIONAL_STRING_SCHEMA), ("__deleted", OPTIONAL_STRING_SCHEMA))
OPS = struct(("id", INT32_SCHEMA), ("name", OPTIONAL_STRING_SCHEMA), ("__op", OPTIONAL_STRING_SCHEMA))
CDC = struct(("id", INT32_SCHEMA), ("_cdc", struct(("op", OPTIONAL_STRING_SCHEMA), optional=True)))

BY_KEY = TableSettings("sink", "iceberg", None, Routing(), UPSERT, pk_mode=RECORD_KEY, deletes=True)
BY_VALUE = replace(BY_KEY, pk_mode=RECORD_VALUE, keys=("id",))


def keyed(number: int, *value: Any, schema: Any = ROW) -> Record:
    """A record whose key has a field."""
    return Record(value or None, schema if value else None, (number,), KEY)


def rows_of(changes: Changes) -> DataFrame:
    """Rows with a column for each field, of keys and of values, as the sink makes them of all shapes."""
    frame = changes.frame
    keys = cells_of(frame, frame.key, changes.keys[0]) if changes.by_record_key else {}
    cells = keys | {name: cell for name, cell in cells_of(frame, frame.value, "text").items() if name not in keys}
    columns = [F.coalesce(*of_field).alias(field) for field, of_field in cells.items()]
    return changes.checked(frame.df.select(*columns, *frame.carried))


def cells_of(frame: RecordFrame, union: Union, whole: str) -> dict[str, list[Column]]:
    cells = defaultdict[str, list[Column]](list)
    for shape, name in zip(union.shapes, union.columns, strict=True):
        for field in shape.schema.fields if shape.schema else ():
            cells[field.name].append(frame.df[name][field.name])
        if shape.schema is None or not shape.schema.fields:
            cells[whole].append(frame.df[name])
    return dict(cells)


def answers(spark: SparkSession, settings: TableSettings, *records: Record) -> list[Any]:
    """Of each record what becomes of it: a row, with its deletion before it, or why it is none."""
    found: list[Any] = []
    for cells in rows_of(changes_of(frame_of(spark, records), settings, settings.keys, 1)).collect():
        cell = cells.asDict()
        error, deleted = cell.pop("error"), cell.pop(DELETED, False)
        del cell["kafka_offset"]
        row = tuple(cell.values())
        if error is None:
            found.append(("deleted", *row) if deleted else row)
        else:
            found.append("dropped" if error == DROPPED else str(error_from_column(error, "here")).partition(": ")[2])
    return found


def test_a_row_is_identified_by_the_key_of_its_record(spark: SparkSession) -> None:
    records = [keyed(1, 1, "a"), keyed(2), keyed(3, "b", schema=NAMED), keyed(4, 9, "other id")]
    assert answers(spark, BY_KEY, *records) == [
        (1, "a"), ("deleted", 2, None), (3, "b"), (4, "other id")
    ]  # fmt: skip


def test_a_key_may_be_a_single_value(spark: SparkSession) -> None:
    settings = replace(BY_KEY, keys=("code",))
    records = [Record(("a",), NAMED, "x", STRING_SCHEMA), Record(None, None, "y", STRING_SCHEMA)]
    assert answers(spark, settings, *records) == [("x", "a"), ("deleted", "y", None)]


def test_a_text_is_a_column_next_to_the_key(spark: SparkSession) -> None:
    settings = replace(BY_KEY, keys=("code",))
    assert answers(spark, settings, Record("text", STRING_SCHEMA, "x", STRING_SCHEMA)) == [("x", "text")]


def test_records_without_a_key_are_bad(spark: SparkSession) -> None:
    optional = struct(("id", INT32_SCHEMA.as_optional()))
    records = [
        Record((1, "a"), ROW),
        Record(None, None),
        Record((1, "a"), ROW, (None,), optional),
        Record((1, "a"), ROW, 5, INT64_SCHEMA),
        Record((1, "a"), ROW, ("x",), struct(("code", STRING_SCHEMA))),
    ]
    by = "TASK_PUT by airflow_kconnect.connectors.SparkTableSinkConnector: "
    assert answers(spark, replace(BY_KEY, keys=("id", "part")), records[3])[0].startswith(f"{by}the record's key is a ")
    assert answers(spark, replace(BY_KEY, keys=("id",)), *records[:3], records[4]) == [
        f"{by}the record's key is null, and `pk.mode` is record_key",
        f"{by}the record's key is null, and `pk.mode` is record_key",
        f"{by}column `id` of the key is null",
        f"{by}the record's key has no field `id` of `pk.fields`; it has `code`",
    ]
    assert answers(
        spark, BY_VALUE, Record((None, "a"), struct(("id", INT32_SCHEMA.as_optional()), ("n", STRING_SCHEMA)))
    ) == [f"{by}column `id` of the key is null"]


def test_a_table_without_the_columns_of_its_key_is_refused(spark: SparkSession) -> None:
    settings = replace(BY_VALUE, keys=("code",), case_insensitive=True)
    changes = changes_of(frame_of(spark, [Record((1, "a"), ROW)]), settings, ("code",), 1)
    changes.check_columns(["id", "CODE"], "sink")
    with pytest.raises(ConfigError, match="has no column `code`"):
        changes.check_columns(["id", "name"], "sink")


def test_without_deletions_tombstones_are_filtered_and_marked_rows_stay(spark: SparkSession) -> None:
    settings = replace(BY_KEY, deletes=False)
    assert answers(spark, settings, keyed(1), keyed(2, 2, "a", "true", schema=MARKED)) == ["dropped", (2, "a", "true")]


def test_a_tombstone_says_nothing_if_keys_are_in_values(spark: SparkSession) -> None:
    assert answers(spark, BY_VALUE, Record((1, "a"), ROW), Record()) == [(1, "a"), "dropped"]


def test_rows_that_debezium_has_marked_are_deleted(spark: SparkSession) -> None:
    """Where `__deleted` is true; in all rows that stay it would be false, so it is not a column."""
    records = [Record((1, "a", "false"), MARKED), Record((2, "b", "true"), MARKED), Record((3, "c", None), MARKED)]
    assert answers(spark, BY_VALUE, *records) == [(1, "a"), ("deleted", 2, "b"), (3, "c")]
    records = [Record((n, "a", op), OPS) for n, op in enumerate(["c", "u", "r", "d", None])]
    assert [answer[0] == "deleted" for answer in answers(spark, BY_VALUE, *records)] == [False] * 3 + [True, False]


@pytest.mark.parametrize(
    ("operations", "deleted"),
    [(["I", "U", "D", "c", "u", "r", "d", " delete", "", None], [2, 6, 7])],
)
def test_a_cdc_field_is_read_as_icebergs_sink_reads_it(
    spark: SparkSession, operations: Sequence[str | None], deleted: list[int]
) -> None:
    settings = replace(BY_VALUE, cdc_field="_cdc.op")
    found = answers(spark, settings, *[Record((n, (op,)), CDC) for n, op in enumerate(operations)])
    assert [n for n, answer in enumerate(found) if answer[0] == "deleted"] == deleted
    assert answers(spark, settings, Record((1, None), CDC)) == [(1, None)]


def test_values_without_a_schema_say_the_same(spark: SparkSession) -> None:
    texts = ['{"id":1,"__deleted":"false"}', '{"id":2,"__deleted":"true"}', '{"id":3,"__op":"d"}', '{"id":4}', "null"]
    frame = frame_of(spark, [Record()] * len(texts))
    text = F.get(F.array(*map(F.lit, texts)), F.col("kafka_offset").cast("int"))
    value = F.when(text != "null", F.parse_json(text))
    df = frame.df.withColumns({"value_0": value, "value_tag": F.lit(0)})
    frame = replace(frame, df=df, value=Union((SCHEMALESS,), ("value_0",), "value_tag"))
    changes = changes_of(frame, BY_VALUE, ("id",), 1)
    rows = changes.frame.df.select(F.to_json("value_0"), DELETED, "error").collect()
    assert [tuple(row) for row in rows] == [
        ('{"id":1}', False, None),
        ('{"id":2}', True, None),
        ('{"__op":"d","id":3}', True, None),
        ('{"id":4}', False, None),
        (None, True, DROPPED),
    ]


def test_of_a_deleted_row_only_the_key_has_to_fit(spark: SparkSession) -> None:
    """Debezium fills what it does not know of the row before with anything."""
    changes = changes_of(frame_of(spark, [keyed(1, 1, "a"), keyed(2, 2, "b", "true", schema=MARKED)]), BY_KEY, (), 1)
    rows = changes.frame.df.withColumn("error", F.lit("does not fit")).withColumn("id", F.lit(1))
    assert [row.error for row in changes.checked(rows).collect()] == ["does not fit", None]


def test_tombstones_are_no_rows_of_a_table_without_keys(spark: SparkSession) -> None:
    frame = without_tombstones(frame_of(spark, [keyed(1, 1, "a"), keyed(2)]))
    assert [row.error for row in frame.df.collect()] == [None, DROPPED]


class TestLastChanges:
    """Of several changes of a key."""

    @staticmethod
    def last(frame: RecordFrame, sources: int) -> list[tuple[Any, ...]]:
        changes = changes_of(frame, BY_KEY, (), sources)
        rows = changes.last(rows_of(changes).drop("error"))
        assert set(rows.columns) == {"id", "name", "kafka_offset", DELETED}
        return sorted((row.id, row.name, row[DELETED]) for row in rows.collect())

    def test_the_highest_offset_wins(self, spark: SparkSession) -> None:
        records = [keyed(1, 1, "a"), keyed(2, 2, "b"), keyed(1), keyed(2, 2, "c"), keyed(3, 3, "d"), keyed(1, 1, "e")]
        assert self.last(frame_of(spark, [*records, keyed(3)]), 1) == [
            (1, "e", False), (2, "c", False), (3, None, True)
        ]  # fmt: skip

    def test_between_partitions_the_timestamp_decides(self, spark: SparkSession) -> None:
        """But only among the last ones of each: within a partition timestamps may go back."""
        given = [  # partition, timestamp, change
            (0, 30, keyed(1, 1, "early, stamped late")),
            (0, 10, keyed(1, 1, "last of 0")),
            (1, 20, keyed(1, 1, "last of 1")),
            (0, 5, keyed(2, 2, "b")),
            (1, 5, keyed(2, 2, "the same time, higher partition")),
            (0, None, keyed(3)),
            (1, 1, keyed(3, 3, "any time is later than none")),
        ]
        frame = frame_of(spark, [record for *_, record in given])
        at = F.array(*[F.lit(partition) for partition, _, _ in given])
        times = F.array(*[F.lit(time).cast("long") for _, time, _ in given])
        offset = F.col("kafka_offset").cast("int")
        df = frame.df.withColumns({"partition": F.get(at, offset), "timestamp": F.get(times, offset)})
        assert self.last(replace(frame, df=df, timestamp="timestamp"), 2) == [
            (1, "last of 1", False),
            (2, "the same time, higher partition", False),
            (3, "any time is later than none", False),
        ]
