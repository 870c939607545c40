"""JDBC sinks whose records have fields that their table lacks: evolve, fail, ignore."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.data import (
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    ConnectSchema,
    SchemaType,
    struct,
)
from airflow_kconnect.connect.errors import RefusedError
from airflow_kconnect.connectors.changes import SCHEMA_CHANGE
from tests.support.databases.jdbc_sink import Record, Sink
from tests.support.databases.servers import Database

OLD = struct(("id", INT32_SCHEMA), ("name", OPTIONAL_STRING_SCHEMA))
SIZE = ConnectSchema(SchemaType.INT32, default=7)
NEW = struct(("id", INT64_SCHEMA), ("size", SIZE), ("name", OPTIONAL_STRING_SCHEMA), ("more", OPTIONAL_STRING_SCHEMA))
SHORT = struct(("id", INT32_SCHEMA))


def old(number: int) -> Record:
    return Record((number, "old"), OLD, topic="t")


def new(number: int) -> Record:
    return Record((number, 3, "new", "x"), NEW)


def rows(database: Database) -> list[tuple[Any, ...]]:
    return database.execute("SELECT * FROM t ORDER BY 1")


@pytest.fixture
def sink(spark: SparkSession, each_database: Database) -> Any:
    def make(policy: str, *, tolerant: bool = False, **more: str) -> Sink:
        config = {**each_database.config, "auto.create": "true", SCHEMA_CHANGE: policy, **more}
        return Sink(spark, config, tolerant=tolerant)

    return make


@pytest.mark.every_database
def test_evolve_adds_columns(sink: Any, each_database: Database) -> None:
    sink("evolve").run(old(1), new(2), Record((3,), SHORT))
    names = each_database.execute("SELECT id, name, size, more FROM t ORDER BY 1")
    assert names == [(1, "old", 7, None), (2, "new", 3, "x"), (3, None, 7, None)]


def test_fail_names_the_record_and_the_fields(sink: Any, each_database: Database) -> None:
    with pytest.raises(RefusedError, match=r"t-0@2: connector sink: table t has no columns for the fields `size`, `mo"):
        sink("fail").run(old(1), Record((3,), SHORT), new(2))


def test_fail_makes_dead_letters_of_such_records_if_they_are_tolerated(sink: Any, each_database: Database) -> None:
    to = sink("fail", tolerant=True)
    to.run(old(1), new(2), old(3), new(4))
    assert list(to.refused) == [1, 3]
    assert "`size`, `more`" in to.refused[1]
    assert rows(each_database) == [(1, "old"), (3, "old")]


def test_ignore_leaves_fields_out(sink: Any, each_database: Database) -> None:
    sink("ignore").run(old(1), new(2), Record((3,), SHORT))
    assert rows(each_database) == [(1, "old"), (2, "new"), (3, None)]


def test_ignore_upserts(sink: Any, each_database: Database) -> None:
    to = sink("ignore", **{"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "id"})
    to.run(old(1), new(1), old(2), new(3))
    assert rows(each_database) == [(1, "new"), (2, "old"), (3, "new")]


def test_ignore_names_the_fields_once(spark: SparkSession, each_database: Database) -> None:
    sink = Sink(spark, {**each_database.config, "auto.create": "true", SCHEMA_CHANGE: "ignore"})
    connector = sink.connector()
    connector.take_over([])
    sink.config = {**sink.config, "offsets.table": ""}
    connector = sink.connector()
    sink.write(connector, [old(1), new(2)])
    sink.write(connector, [new(3)], 2)
    (warning,) = connector.run_warnings()
    assert warning.startswith("table t has no columns for the fields `size`, `more`")


def test_ignore_does_not_leave_out_the_key(sink: Any, each_database: Database) -> None:
    each_database.execute("CREATE TABLE t (name VARCHAR(20))")
    to = sink("ignore", tolerant=True, **{"pk.mode": "record_value", "pk.fields": "id"})
    to.run(old(1))
    assert "has no column for the primary key's `id`" in to.refused[0]


def test_ignore_refuses_records_of_which_nothing_is_left(sink: Any, each_database: Database) -> None:
    each_database.execute("CREATE TABLE t (id INT)")
    to = sink("ignore", tolerant=True)
    to.run(Record(("x",), struct(("other", STRING_SCHEMA))), Record((2,), SHORT))
    assert (list(to.refused), rows(each_database)) == ([0], [(2,)])


def test_wider_numbers_are_written_if_they_fit(sink: Any, each_database: Database) -> None:
    wide = struct(("id", INT64_SCHEMA))
    sink("fail").run(Record((1,), SHORT), Record((2,), wide))
    assert rows(each_database) == [(1,), (2,)]
