"""The SQL for databases that are written to by their JDBC drivers, and where their jars are found."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark import SparkFiles

from airflow_kconnect.connect.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    DECIMAL,
    INT32_SCHEMA,
    STRING_SCHEMA,
    ConnectSchema,
    SchemaType,
    Shape,
    struct,
)
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.jdbc.databases.plain.writing import PlainTarget, jar_here
from airflow_kconnect.connectors.jdbc.driver.drivers import CLASS
from airflow_kconnect.connectors.jdbc.sink.layouts import RowLayout, layout_of
from airflow_kconnect.connectors.jdbc.sink_connector import ConfluentJdbcSink

URLS = {
    "h2": "jdbc:h2:tcp://h/d",
    "derby": "jdbc:derby://h/d",
    "hsqldb": "jdbc:hsqldb:hsql://h/d",
    "sqlserver": "jdbc:sqlserver://h;databaseName=d",
    "oracle": "jdbc:oracle:thin:@//h/d",
    "other": "jdbc:other://h/d",
}
TRUE = ConnectSchema(SchemaType.BOOLEAN, optional=True, default=True)
PRICE = ConnectSchema(SchemaType.BYTES, optional=True, name=DECIMAL, parameters={"scale": "2"})
KEY = Shape(struct(("id", STRING_SCHEMA)))
VALUE = Shape(
    struct(("id", STRING_SCHEMA), ("n", INT32_SCHEMA), ("new", TRUE), ("price", PRICE), ("text", STRING_SCHEMA))
)


def target(database: str) -> PlainTarget:
    keys = {"insert.mode": "upsert", "pk.mode": "record_key", CLASS: "a.B"}
    plain_target = ConfluentJdbcSink({"name": "sink", "connection.url": URLS[database], **keys})._target
    assert isinstance(plain_target, PlainTarget)
    return plain_target


def layout(plain_target: PlainTarget) -> RowLayout:
    return layout_of(plain_target.settings, KEY, VALUE)


@pytest.mark.parametrize(
    ("database", "columns"),
    [
        ("h2", '"id" VARCHAR NOT NULL, "n" INTEGER NOT NULL, "new" BOOLEAN DEFAULT TRUE, "price" DECIMAL(100,2), '
               '"text" VARCHAR NOT NULL'),
        ("derby", '"id" VARCHAR(256) NOT NULL, "n" INTEGER NOT NULL, "new" BOOLEAN DEFAULT TRUE, '
                  '"price" DECIMAL(31,2), "text" VARCHAR(32672) NOT NULL'),
        ("hsqldb", '"id" VARCHAR(32768) NOT NULL, "n" INTEGER NOT NULL, "new" BOOLEAN DEFAULT TRUE, '
                   '"price" DECIMAL(100,2), "text" LONGVARCHAR NOT NULL'),
        ("sqlserver", '"id" NVARCHAR(450) NOT NULL, "n" INT NOT NULL, "new" BIT DEFAULT 1, "price" DECIMAL(38,2), '
                      '"text" NVARCHAR(MAX) NOT NULL'),
        ("oracle", '"id" VARCHAR2(255) NOT NULL, "n" NUMBER(10) NOT NULL, "new" NUMBER(1) DEFAULT 1, '
                   '"price" NUMBER(38,2), "text" CLOB NOT NULL'),
        ("other", '"id" VARCHAR(256) NOT NULL, "n" INTEGER NOT NULL, "new" BOOLEAN DEFAULT TRUE, '
                  '"price" DECIMAL(31,2), "text" VARCHAR(4000) NOT NULL'),
    ],
)  # fmt: skip
def test_tables(database: str, columns: str) -> None:
    plain_target = target(database)
    expected = f'CREATE TABLE "s"."t" ({columns}, PRIMARY KEY ("id"))'
    assert plain_target.create_statement(("s", "t"), layout(plain_target)) == expected


@pytest.mark.parametrize(("database", "words"), [("h2", "ADD COLUMN"), ("sqlserver", "ADD"), ("oracle", "ADD")])
def test_further_columns(database: str, words: str) -> None:
    plain_target = target(database)
    (added,) = [column for column in layout(plain_target).columns if column.name == "price"]
    assert plain_target.add_statement(("t",), added).startswith(f'ALTER TABLE "t" {words} "price" ')


def test_upserts_are_updates_and_inserts() -> None:
    plain_target = target("other")
    names = ("id", "n", "new", "price", "text")
    assert plain_target.merge(("t",), layout(plain_target)) is None
    assert plain_target.insert(("t",), layout(plain_target)) == (
        'INSERT INTO "t" ("id", "n", "new", "price", "text") VALUES (?, ?, ?, ?, ?)',
        names,
    )
    sql, taken = plain_target.update(("t",), layout(plain_target))
    assert sql == 'UPDATE "t" SET "n" = ?, "new" = ?, "price" = ?, "text" = ? WHERE "id" = ?'
    assert tuple(taken) == ("n", "new", "price", "text", "id")
    assert plain_target.delete(("t",), layout(plain_target)) == ('DELETE FROM "t" WHERE "id" = ?', ("id",))


def test_h2_merges() -> None:
    plain_target = target("h2")
    assert plain_target.merge(("t",), layout(plain_target)) == (
        'MERGE INTO "t" ("id", "n", "new", "price", "text") KEY ("id") VALUES (?, ?, ?, ?, ?)',
        ("id", "n", "new", "price", "text"),
    )


@pytest.mark.parametrize("database", URLS)
def test_every_type_has_a_column(database: str) -> None:
    assert set(target(database).types) == set(PlainTarget.types)
    assert {BOOLEAN_SCHEMA.type.name, BYTES_SCHEMA.type.name} <= set(PlainTarget.types)


def test_jars_are_where_they_were_found_or_where_spark_has_put_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jar, shared = tmp_path / "a.jar", tmp_path / "shared"
    monkeypatch.setattr(SparkFiles, "get", lambda name: str(shared / name))
    with pytest.raises(ConfigError, match=r"a\.jar is not a file on the machine of a Spark executor"):
        jar_here(jar)
    shared.mkdir()
    (shared / "a.jar").touch()
    assert jar_here(jar) == shared / "a.jar"
    jar.touch()
    assert jar_here(jar) == jar
