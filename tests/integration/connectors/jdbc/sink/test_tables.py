"""JDBC sinks: what becomes of tables, for every mode and every database of this machine."""

from __future__ import annotations

from pathlib import Path
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
from airflow_kconnect.connect.errors import ConfigError, DataError, FencedError, RetriableError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connect.replay import Replay
from tests.support.databases.jdbc_sink import Record, Sink
from tests.support.databases.servers import Database

ROW = struct(("id", INT32_SCHEMA), ("name", OPTIONAL_STRING_SCHEMA))
KEY = struct(("id", INT32_SCHEMA))
LIST = ConnectSchema(SchemaType.ARRAY, value_schema=STRING_SCHEMA)
UPSERT = {"insert.mode": "upsert", "pk.mode": "record_key", "auto.create": "true"}
DELETE = {**UPSERT, "delete.enabled": "true"}


@pytest.fixture
def sink(spark: SparkSession, each_database: Database) -> Any:
    """Makes a sink into an empty database."""

    def make(*, aiven: bool = False, **config: str) -> Sink:
        keys = {key.replace("_", "."): value for key, value in config.items()}
        return Sink(spark, {**each_database.config, **keys}, aiven=aiven)

    return make


def row(number: int, name: str | None, topic: str = "t") -> Record:
    return Record((number, name), ROW, (number,), KEY, topic)


def tombstone(number: int) -> Record:
    return Record(key=(number,), key_schema=KEY)


def table(database: Database, name: str = "t", order: str = "1") -> list[tuple[Any, ...]]:
    quoted = f"`{name}`" if "mysql" in database.url or "mariadb" in database.url else f'"{name}"'
    return database.execute(f"SELECT * FROM {quoted} ORDER BY {order}")


@pytest.mark.every_database
def test_default_cannot_end_its_literal(spark: SparkSession, each_database: Database) -> None:
    if each_database.url.startswith("jdbc:postgresql:"):
        each_database.execute(f"ALTER DATABASE {each_database.name} SET standard_conforming_strings = off")
    text = "\\'; DROP TABLE t; --"
    value = struct(("id", INT32_SCHEMA), ("name", ConnectSchema(SchemaType.STRING, optional=True, default=text)))
    Sink(spark, {**each_database.config, "auto.create": "true"}).run(Record((1, "x"), value))
    each_database.execute("INSERT INTO t (id) VALUES (2)")
    assert table(each_database) == [(1, "x"), (2, text)]


class TestInsert:
    def test_primary_key_of_the_place_in_kafka(self, sink: Any, each_database: Database) -> None:
        sink(**{"auto.create": "true", "pk.mode": "kafka"}).run(row(1, "a"), row(1, "a"), first=5)
        names = "id, name, __connect_topic, __connect_partition, __connect_offset"
        found = each_database.execute(f"SELECT {names} FROM t ORDER BY 5")
        assert found == [(1, "a", "t", 0, 5), (1, "a", "t", 0, 6)]

    def test_a_failed_split_leaves_nothing(self, sink: Any, each_database: Database) -> None:
        to = sink(**{"auto.create": "true", "pk.mode": "record_value", "pk.fields": "id"})
        to.run(row(1, "a"))
        with pytest.raises(DataError, match=r"table t.*a row with that key exists already"):
            to.run(row(2, "b"), row(1, "b"), first=1)
        assert table(each_database) == [(1, "a")]
        assert to.run(row(2, "b"), first=1) == {TopicPartition("t", 0): 1}
        assert table(each_database) == [(1, "a"), (2, "b")]

    def test_deletions(self, sink: Any, each_database: Database) -> None:
        to = sink(**{**DELETE, "insert.mode": "insert"})
        to.run(row(1, "a"), row(2, "b"), tombstone(1), row(1, "again"), tombstone(3))
        assert table(each_database) == [(1, "again"), (2, "b")]


class TestUpsert:
    @pytest.mark.parametrize("mode", ["record_key", pytest.param("record_value", marks=pytest.mark.exhaustive)])
    def test_last_record_of_a_key_wins(self, sink: Any, each_database: Database, mode: str) -> None:
        to = sink(**{**UPSERT, "pk.mode": mode, "pk.fields": "id"})
        to.run(row(1, "a"), row(2, "b"), row(1, "c"))
        to.run(row(2, "d"), row(3, None), first=3)
        assert table(each_database) == [(1, "c"), (2, "d"), (3, None)]

    def test_key_that_is_a_single_value(self, sink: Any, each_database: Database) -> None:
        value = struct(("name", STRING_SCHEMA))
        records = [Record((name,), value, key, STRING_SCHEMA) for key, name in (("x", "a"), ("y", "b"), ("x", "c"))]
        sink(**UPSERT, **{"pk.fields": "code"}).run(*records)
        assert each_database.execute("SELECT code, name FROM t ORDER BY 1") == [("x", "c"), ("y", "b")]

    def test_only_key_columns(self, sink: Any, each_database: Database) -> None:
        sink(**UPSERT).run(Record((1,), KEY, (1,), KEY), Record((1,), KEY, (1,), KEY))
        assert table(each_database) == [(1,)]

    @pytest.mark.every_database
    def test_deletions(self, sink: Any, each_database: Database) -> None:
        to = sink(**DELETE)
        to.run(row(1, "a"), row(2, "b"), tombstone(1), row(3, "c"), tombstone(3), row(3, "d"))
        to.run(tombstone(2), tombstone(2), row(3, "e"), tombstone(9), first=6)
        assert table(each_database) == [(3, "e")]

    def test_deleted_row_comes_back_without_its_old_columns(self, sink: Any, each_database: Database) -> None:
        wide = struct(("id", INT32_SCHEMA), ("name", OPTIONAL_STRING_SCHEMA), ("more", OPTIONAL_STRING_SCHEMA))
        to = sink(**DELETE)
        to.run(Record((1, "a", "x"), wide, (1,), KEY))
        to.run(tombstone(1), row(1, "b"), first=1)
        assert table(each_database) == [(1, "b", None)]

    def test_deletions_by_keys_of_another_type(self, sink: Any, each_database: Database) -> None:
        long_key = struct(("id", INT64_SCHEMA))
        sink(**DELETE).run(row(1, "a"), row(2, "b"), Record(key=(1,), key_schema=long_key), tombstone(3))
        assert table(each_database) == [(2, "b")]

    def test_without_deletions_tombstones_are_skipped(self, sink: Any, each_database: Database) -> None:
        to = sink(**UPSERT)
        to.run(row(1, "a"), tombstone(1))
        assert table(each_database) == [(1, "a")]
        assert (to.dropped, to.errors) == (1, [])

    def test_table_without_the_key_is_named(self, sink: Any, each_database: Database) -> None:
        each_database.execute("CREATE TABLE t (id INT, name VARCHAR(20))")
        if each_database.url.startswith(("jdbc:mysql", "jdbc:mariadb")):
            return  # an upsert is by any key that the table has
        with pytest.raises(DataError, match=r"table t.*over exactly the columns of the primary key"):
            sink(**UPSERT).run(row(1, "a"))


class TestUpdate:
    @pytest.mark.every_database
    def test_changes_rows_that_are_there(self, sink: Any, each_database: Database) -> None:
        each_database.execute("CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20))")
        each_database.execute("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
        to = sink(**{**DELETE, "insert.mode": "update"})
        to.run(row(1, "x"), row(1, "c"), row(3, "d"), tombstone(2), row(2, "e"))
        assert table(each_database) == [(1, "c")]


class TestShapes:
    def test_fields_that_come_and_go_keep_other_columns(self, sink: Any, each_database: Database) -> None:
        other = struct(("id", INT32_SCHEMA), ("more", OPTIONAL_STRING_SCHEMA))
        to = sink(**UPSERT, **{"auto.evolve": "true"})
        to.run(
            row(1, "a"),
            Record((1, "x"), other, (1,), KEY),
            Record((2, "y"), other, (2,), KEY),
            row(2, "b"),
            row(1, "c"),
        )
        assert table(each_database) == [(1, "c", "x"), (2, "b", "y")]

    def test_shapes_and_deletions(self, sink: Any, each_database: Database) -> None:
        other = struct(("id", INT32_SCHEMA), ("more", OPTIONAL_STRING_SCHEMA))
        to = sink(**DELETE, **{"auto.evolve": "true"})
        to.run(row(1, "a"), tombstone(1), Record((1, "x"), other, (1,), KEY), row(2, "b"), tombstone(2))
        assert table(each_database) == [(1, None, "x")]

    def test_schemas_of_the_same_columns_in_turn(self, sink: Any, each_database: Database) -> None:
        strict = struct(("id", INT32_SCHEMA), ("name", STRING_SCHEMA))
        records = []
        for n in range(40):
            records += [
                row(n % 4, f"loose {n}"),
                Record((n % 4, f"strict {n}"), strict, (n % 4,), KEY),
                tombstone(n % 3),
            ]
        sink(**DELETE).run(*records, row(9, None))
        assert table(each_database) == [(3, "strict 39"), (9, None)]

    def test_topics_are_tables(self, sink: Any, each_database: Database) -> None:
        to = sink(**UPSERT, **{"table.name.format": "of_${topic}"})
        to.run(row(1, "a", "x"), row(1, "b", "y"), row(2, "c", "x"), row(1, "d", "x"))
        assert table(each_database, "of_x") == [(1, "d"), (2, "c")]
        assert table(each_database, "of_y") == [(1, "b")]

    def test_aivens_mapping_and_normalised_names(self, sink: Any, each_database: Database) -> None:
        keys = {"topics.to.tables.mapping": "x:mapped", "table.name.normalize": "true", "insert.mode": "multi"}
        sink(aiven=True, **{"auto.create": "true", **keys}).run(row(1, "a", "x"), row(2, "b", "my-topic.y"))
        assert table(each_database, "mapped") == [(1, "a")]
        assert table(each_database, "my_topic_y") == [(2, "b")]

    def test_strings_have_a_column_of_their_own(self, sink: Any, each_database: Database) -> None:
        sink(**{"auto.create": "true"}).run(Record("a", STRING_SCHEMA), Record("b", STRING_SCHEMA))
        assert each_database.execute("SELECT record_value FROM t ORDER BY 1") == [("a",), ("b",)]

    def test_whitelist_and_defaults(self, sink: Any, each_database: Database) -> None:
        red = ConnectSchema(SchemaType.STRING, optional=True, default="red")
        schema = struct(("id", INT64_SCHEMA), ("color", red), ("size", OPTIONAL_STRING_SCHEMA))
        to = sink(**{"auto.create": "true", "fields.whitelist": "id,color"})
        to.run(Record((1, None, "L"), schema))
        assert table(each_database) == [(1, "red")]


class TestBadRecords:
    def test_are_named(self, sink: Any, each_database: Database) -> None:
        bad = {
            "key is null": Record((1, "a"), ROW),
            "`pk.fields` must be the name of its column; it has 0 names": Record((1, "a"), ROW, 1, INT32_SCHEMA),
            "key is of type ARRAY": Record("x", STRING_SCHEMA, ["1"], LIST),
            "the value is of type INT32, and a table needs a struct": Record(1, INT32_SCHEMA, (1,), KEY),
            "`tags` is of type ARRAY": Record((1, ["x"]), struct(("id", INT32_SCHEMA), ("tags", LIST)), (1,), KEY),
            "primary key is null": Record((1, "a"), ROW, (None,), struct(("id", INT32_SCHEMA.as_optional()))),
        }
        to = sink(**UPSERT)
        to.run(row(1, "good"), *bad.values(), row(2, "good"))
        assert table(each_database) == [(1, "good"), (2, "good")]
        assert [problem in error for problem, error in zip(bad, to.errors, strict=True)] == [True] * len(bad)

    def test_missing_field_of_the_key(self, sink: Any) -> None:
        to = sink(**UPSERT, **{"pk.fields": "id,region"})
        to.run(row(1, "a"))
        assert "key has no field `region` of `pk.fields`; it has `id`" in to.errors[0]


class TestTables:
    def test_missing_one_is_named(self, sink: Any) -> None:
        with pytest.raises(DataError, match=r"there is no table t: create it, set `auto.create` to true"):
            sink().run(row(1, "a"))

    def test_missing_column_is_named(self, sink: Any, each_database: Database) -> None:
        each_database.execute("CREATE TABLE t (id INT)")
        with pytest.raises(DataError, match="table t has no columns for the fields `name`"):
            sink().run(row(1, "a"))

    def test_column_that_old_rows_cannot_have_is_refused(self, sink: Any, each_database: Database) -> None:
        each_database.execute("CREATE TABLE t (name VARCHAR(20))")
        with pytest.raises(DataError, match="gets no column for `id`"):
            sink(**{"auto.evolve": "true"}).run(row(1, "a"))

    def test_columns_are_added_on_the_way(self, sink: Any, each_database: Database) -> None:
        size = ConnectSchema(SchemaType.INT32, default=7)
        wide = struct(("id", INT32_SCHEMA), ("name", OPTIONAL_STRING_SCHEMA), ("size", size))
        to = sink(**UPSERT, **{"auto.evolve": "true"})
        to.run(row(1, "a"), Record((2, "b", 3), wide, (2,), KEY), row(3, "c"))
        assert table(each_database) == [(1, "a", 7), (2, "b", 3), (3, "c", 7)]

    @pytest.mark.every_database
    def test_hostile_names(self, sink: Any, each_database: Database) -> None:
        name = "a\"; drop table canary;-- ünï `b %s per%cent se'micolon;"
        each_database.execute("CREATE TABLE canary (id INT)")
        schema = struct(("id", INT32_SCHEMA), ('x") values (1);--', OPTIONAL_STRING_SCHEMA), ("%s`", INT32_SCHEMA))
        to = sink(**DELETE, **{"table.name.format": name})
        to.run(Record((1, "a", 1), schema, (1,), KEY), Record((1, "b", 2), schema, (1,), KEY), tombstone(2))
        quotes = "`" if each_database.url.startswith(("jdbc:mysql", "jdbc:mariadb")) else '"'
        quoted = quotes + name.replace(quotes, quotes * 2) + quotes
        assert each_database.execute(f"SELECT * FROM {quoted}") == [(1, "b", 2)]
        assert each_database.execute("SELECT * FROM canary") == []

    def test_schema_before_the_dot(self, sink: Any, each_database: Database) -> None:
        schema = {"jdbc:sqlite": "main", "jdbc:postgresql": "public", "jdbc:h2:tcp": "PUBLIC"}.get(
            each_database.url.rpartition("//")[0].rstrip(":") or "jdbc:sqlite", each_database.name
        )
        sink(**{"auto.create": "true", "table.name.format": f"{schema}.${{topic}}"}).run(row(1, "a"))
        assert table(each_database) == [(1, "a")]

    @pytest.mark.parametrize("name", ["server.inventory.t", "nowhere.t"])
    def test_topics_that_name_what_is_not_there(self, sink: Any, each_database: Database, name: str) -> None:
        with pytest.raises((DataError, ConfigError)) as raised:
            sink(**{"auto.create": "true"}).run(row(1, "a", name))
        known = name.startswith("server") or "postgres" in each_database.url
        assert ("set `table.name.format`" if known else "nowhere") in str(raised.value)


class TestOffsets:
    @pytest.mark.every_database
    def test_are_stored_with_the_rows(self, sink: Any, each_database: Database) -> None:
        to = sink(**{"auto.create": "true"})
        assert to.run(row(1, "a"), row(2, "b")) == {}
        assert to.run(row(3, "c"), first=2) == {TopicPartition("t", 0): 2}
        assert table(each_database) == [(1, "a"), (2, "b"), (3, "c")]

    def test_without_their_table_nothing_is_stored(self, sink: Any, each_database: Database) -> None:
        to = sink(**{"auto.create": "true", "offsets.table": ""})
        assert not to.connector().exactly_once
        to.run(row(1, "a"))
        assert to.run(row(1, "a")) == {}
        assert table(each_database) == [(1, "a"), (1, "a")]

    @pytest.mark.every_database
    def test_older_run_can_write_nothing_more(self, sink: Any, each_database: Database) -> None:
        to, place = sink(**{"auto.create": "true"}), TopicPartition("t", 0)
        older, newer = to.connector(), to.connector()
        older.take_over([place])
        newer.take_over([place])
        with pytest.raises(FencedError, match="t-0 belongs to another run"):
            to.write(older, [row(1, "older")])
        to.write(newer, [row(1, "newer")])
        assert table(each_database) == [(1, "newer")]

    def test_replays_have_their_own(self, sink: Any, each_database: Database) -> None:
        to, place = sink(**UPSERT), TopicPartition("t", 0)
        to.run(row(1, "a"), row(2, "b"))
        each_database.execute("DELETE FROM t WHERE id = 1")
        replayed = to.connector()
        replayed.replay(Replay(0, 1000, "key"))
        assert replayed.take_over([place]) == {}
        to.write(replayed, [row(1, "a")])
        assert table(each_database) == [(1, "a"), (2, "b")]
        assert to.run() == {place: 2}

    def test_second_attempt_of_a_task_passes_over_what_is_there(self, sink: Any, each_database: Database) -> None:
        to, place = sink(**{"auto.create": "true"}), TopicPartition("t", 0)
        connector = to.connector()
        connector.take_over([place])
        to.write(connector, [row(1, "a"), row(2, "b")])
        to.write(connector, [row(1, "a"), row(2, "b")])
        assert table(each_database) == [(1, "a"), (2, "b")]
        assert to.run() == {place: 2}

    def test_stored_offsets_beyond_a_split_are_refused(self, sink: Any, each_database: Database) -> None:
        to = sink(**{"auto.create": "true"})
        to.run(row(1, "a"), row(2, "b"))
        with pytest.raises(DataError, match="t-0: the target has stored offset 2, but the split ends at 1"):
            to.run(row(3, "c"))


def test_wrong_password_is_a_configuration_error(sink: Any, each_database: Database) -> None:
    if each_database.user is None:
        return
    to = sink(**{"connection.password": "S3cr3t-canary", "connection.attempts": "1"})
    with pytest.raises(
        ConfigError, match=rf"connection\.password.*cannot log in to jdbc:\S+ as {each_database.user}: "
    ) as raised:
        to.run(row(1, "a"))
    assert "S3cr3t-canary" not in str(raised.value)


def test_database_that_is_unavailable_is_a_reason_to_try_again(spark: SparkSession) -> None:
    keys = {"connection.user": "x", "connection.attempts": "2", "connection.backoff.ms": "10"}
    for url in ("jdbc:postgresql://127.0.0.1:9/x", "jdbc:mariadb://127.0.0.1:9/x"):
        with pytest.raises(RetriableError, match=r"connector sink, connecting to jdbc:\w+://127\.0\.0\.1:9/x"):
            Sink(spark, {"connection.url": url, **keys}).connector().check()


def test_file_that_cannot_be_made_is_named(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"`connection\.url`: cannot use .*missing/x\.db: unable to open"):
        Sink(spark, {"connection.url": f"jdbc:sqlite:{tmp_path}/missing/x.db"}).connector().check()
