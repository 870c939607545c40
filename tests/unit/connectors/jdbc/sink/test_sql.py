"""JDBC sinks: the SQL that they run, and what errors of databases mean."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import pytest

from airflow_kconnect.connect.data import DECIMAL, INT32_SCHEMA, STRING_SCHEMA, ConnectSchema, SchemaType, Shape, struct
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.jdbc.databases.postgresql.merges import merge_statements
from airflow_kconnect.connectors.jdbc.sink.layouts import RowLayout, layout_of
from airflow_kconnect.connectors.jdbc.sink.rows_target import RowsTarget
from airflow_kconnect.connectors.jdbc.sink.tables import KnownTables
from airflow_kconnect.connectors.jdbc.sink.target import Target
from airflow_kconnect.connectors.jdbc.sink_connector import ConfluentJdbcSink

URLS = {"postgresql": "jdbc:postgresql://h/d", "mysql": "jdbc:mysql://h/d", "sqlite": "jdbc:sqlite:/tmp/x.db"}
KEY = Shape(struct(("id", INT32_SCHEMA)))
VALUE = Shape(struct(("id", INT32_SCHEMA), ("b", STRING_SCHEMA.as_optional()), ("a", STRING_SCHEMA)))


def target(database: str, **keys: str) -> Target:
    """Key words have _ for dots."""
    props = {key.replace("_", "."): value for key, value in keys.items()}
    return ConfluentJdbcSink({"name": "sink", "connection.url": URLS[database], **props})._target


def layout(sql_target: Target, key: Shape | None = KEY, value: Shape | None = VALUE) -> RowLayout:
    return layout_of(sql_target.settings, key, value)


class TestLayouts:
    def test_columns_are_the_values_then_the_rest_of_the_key(self) -> None:
        key = Shape(struct(("z", INT32_SCHEMA), ("id", INT32_SCHEMA), ("y", INT32_SCHEMA)))
        row_layout = layout(target("postgresql", pk_mode="record_key"), key)
        assert row_layout.names == ("id", "b", "a", "y", "z")
        assert row_layout.keys == ("id", "y", "z")
        assert [column.source for column in row_layout.columns] == ["key", "value", "value", "key", "key"]

    def test_all_fields_of_the_value_are_the_key(self) -> None:
        assert layout(target("postgresql", pk_mode="record_value"), None).keys == ("id", "b", "a")

    def test_deletions_have_the_key_alone(self) -> None:
        row_layout = layout(target("postgresql", pk_mode="record_key", delete_enabled="true"), KEY, None)
        assert (row_layout.names, row_layout.delete) == (("id",), True)

    def test_names_that_fold_to_one(self) -> None:
        value = Shape(struct(("Id", INT32_SCHEMA), ("id", INT32_SCHEMA)))
        row_layout = layout(target("postgresql", quote_sql_identifiers="never"), None, value)
        assert row_layout.problem == "fields `Id` and `id` would be one column, `id`"


class TestDefinitions:
    @pytest.mark.parametrize(
        ("database", "statement"),
        [
            ("postgresql", 'CREATE TABLE "s"."t" ("id" INT NOT NULL, "b" TEXT, "a" TEXT NOT NULL, PRIMARY KEY ("id"))'),
            ("mysql", "CREATE TABLE `s`.`t` (`id` INT NOT NULL, `b` TEXT, `a` TEXT NOT NULL, PRIMARY KEY (`id`))"),
            ("sqlite", 'CREATE TABLE "s"."t" ("id" INTEGER NOT NULL, "b" TEXT, "a" TEXT NOT NULL, PRIMARY KEY ("id"))'),
        ],
    )
    def test_tables(self, database: str, statement: str) -> None:
        sql_target = target(database, pk_mode="record_key")
        assert sql_target.create_statement(("s", "t"), layout(sql_target)) == statement

    @pytest.mark.parametrize(
        ("default", "type_", "sql"),
        [
            (
                "it's \\",
                SchemaType.STRING,
                {"postgresql": "'it''s \\'", "mysql": r"'it''s \\'", "sqlite": "'it''s \\'"},
            ),
            (True, SchemaType.BOOLEAN, {"postgresql": "TRUE", "mysql": "1", "sqlite": "1"}),
            (-5, SchemaType.INT64, dict.fromkeys(URLS, "-5")),
        ],
    )
    def test_defaults(self, default: Any, type_: SchemaType, sql: dict[str, str]) -> None:
        value = Shape(struct(("c", ConnectSchema(type_, default=default))))
        for database, expected in sql.items():
            sql_target = target(database)
            (column,) = layout(sql_target, None, value).columns
            assert sql_target.column_definition(column).endswith(f" DEFAULT {expected}")

    def test_decimals_of_mysql_have_their_scale(self) -> None:
        value = Shape(struct(("c", ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "4"}))))
        sql_target = target("mysql")
        assert sql_target.type_of(layout(sql_target, None, value).columns[0]) == "DECIMAL(65,4)"


class TestNames:
    def test_too_long_for_postgresql(self) -> None:
        sql_target = target("postgresql")
        sql_target.check_names(("ü" * 31,), layout(sql_target, None))
        with pytest.raises(
            DataError, match=r"the name of table üü.* has 64 bytes, and this database has names of at most 63"
        ):
            sql_target.check_names(("ü" * 32,), layout(sql_target, None))

    def test_too_many_parts(self) -> None:
        with pytest.raises(DataError, match=r"a\.b\.c names a table with 3 parts, and this database allows 2"):
            target("mysql").check_names(("a", "b", "c"), RowLayout())


class TestMerges:
    def test_upserts(self) -> None:
        sql_target = target("postgresql", insert_mode="upsert", pk_mode="record_key")
        (statement,) = merge_statements(sql_target, ("t",), "stage", layout(sql_target))
        assert statement.startswith(
            'INSERT INTO "t" ("id", "b", "a") SELECT "id", "b", "a" FROM (SELECT * FROM (SELECT DI'
        )
        assert statement.endswith('ON CONFLICT ("id") DO UPDATE SET "b" = EXCLUDED."b", "a" = EXCLUDED."a"')

    def test_deletions_go_first(self) -> None:
        sql_target = target("postgresql", insert_mode="upsert", pk_mode="record_key", delete_enabled="true")
        first, second = merge_statements(sql_target, ("t",), "stage", layout(sql_target))
        assert first.startswith('DELETE FROM "t" AS t USING (SELECT DISTINCT "id" FROM "stage"')
        assert second.startswith("INSERT")

    def test_statements_for_rows(self) -> None:
        sql_target = target("mysql", insert_mode="upsert", pk_mode="record_key")
        assert isinstance(sql_target, RowsTarget)
        assert sql_target.statement(("t%",), layout(sql_target)) == (
            "INSERT INTO `t%%` (`id`, `b`, `a`) VALUES (%s, %s, %s) "
            "ON DUPLICATE KEY UPDATE `b` = VALUES(`b`), `a` = VALUES(`a`)",
            ("id", "b", "a"),
        )

    def test_update_of_rows(self) -> None:
        sql_target = target("sqlite", insert_mode="update", pk_mode="record_key")
        assert isinstance(sql_target, RowsTarget)
        assert sql_target.statement(("t",), layout(sql_target)) == (
            'UPDATE "t" SET "b" = ?, "a" = ? WHERE "id" = ?',
            ["b", "a", "id"],
        )


class TestTables:
    def test_remembers_what_it_has_seen(self) -> None:
        sql_target = target("sqlite", auto_create="true")
        tables = KnownTables(sql_target)
        with closing(sqlite3.connect(":memory:")) as connection:
            assert not tables.knows(("t",), layout(sql_target, None))
            assert len(tables.changes(connection, ("t",), layout(sql_target, None))) == 1
        assert tables.knows(("t",), layout(sql_target, None))


class TestNested:
    ITEM = struct(("sku", STRING_SCHEMA), ("x y", INT32_SCHEMA))
    VALUE = Shape(
        struct(
            ("n", ConnectSchema(SchemaType.ARRAY, value_schema=INT32_SCHEMA)),
            ("items", ConnectSchema(SchemaType.ARRAY, value_schema=ITEM, optional=True)),
            ("m", ConnectSchema(SchemaType.MAP, key_schema=STRING_SCHEMA, value_schema=ITEM, optional=True)),
            ("none", struct().as_optional()),
        )
    )
    JSON = '"n" {0} NOT NULL, "items" {0}, "m" {0}, "none" {0}'

    @pytest.mark.parametrize(
        ("url", "nested", "columns"),
        [
            ("jdbc:postgresql://h/d", "json", JSON.format("JSONB")),
            ("jdbc:postgresql://h/d", "columns", '"n" INT[] NOT NULL, "items" JSONB, "m" JSONB, "none" JSONB'),
            ("jdbc:mysql://h/d", "json", JSON.format("JSON").replace('"', "`")),
            ("jdbc:mysql://h/d", "columns", JSON.format("JSON").replace('"', "`")),
            ("jdbc:sqlite:/tmp/x.db", "json", JSON.format("TEXT")),
            ("jdbc:sqlite:/tmp/x.db", "columns", JSON.format("TEXT")),
            ("jdbc:duckdb:/tmp/x.db", "json", JSON.format("JSON")),
            (
                "jdbc:duckdb:/tmp/x.db",
                "columns",
                '"n" INTEGER[] NOT NULL, "items" STRUCT("sku" VARCHAR, "x y" INTEGER)[], '
                '"m" MAP(VARCHAR, STRUCT("sku" VARCHAR, "x y" INTEGER)), "none" JSON',
            ),
            ("jdbc:h2:/tmp/x", "columns", JSON.format("VARCHAR")),
        ],
    )
    def test_types_of_columns(self, url: str, nested: str, columns: str) -> None:
        props = {"name": "sink", "connection.url": url, "kconnect.jdbc.nested.fields": nested}
        sql_target = ConfluentJdbcSink(props)._target
        made = sql_target.create_statement(("t",), layout(sql_target, None, self.VALUE))
        assert made.partition("(")[2] == f"{columns})"
