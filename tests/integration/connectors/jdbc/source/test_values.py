"""Values at the ends of each database's types: each arrives as it is, or the run fails and names the column.

The rows of a table go through Spark's reader, without Kafka.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from airflow_kconnect.connect.errors import DataError
from tests.integration.connectors.jdbc.conftest import Poll, SourceConfig
from tests.support.databases import mariadb as mariadb_support
from tests.support.databases.mariadb import MariaDatabase
from tests.support.databases.servers import Database, DuckDbDatabase, SqliteDatabase

Create = Callable[[str], Database]
Read = Callable[..., list[dict[str, Any]]]


class Value(NamedTuple):
    """A value of a column in SQL, and what a record has in its place: dates in days, timestamps in microseconds."""

    type: str
    sql: str
    read: Any


_UUID = "123e4567-e89b-12d3-a456-426655440000"
_LAST = 9_223_372_036_854_775_000
_YEAR_0 = -719_528

_POSTGRES = [
    Value("smallint", "-32768", -(2**15)),
    Value("bigint", "-9223372036854775808", -(2**63)),
    Value("numeric(38,10)", "-9999999999999999999999999999.9999999999", "-9999999999999999999999999999.9999999999"),
    Value("float8", "'NaN'", "NaN"),
    Value("float8", "'-Infinity'", "-Infinity"),
    Value("char(4)", "'ab'", "ab  "),
    Value("varchar(9)", "'ab  '", "ab  "),
    Value("uuid", f"'{_UUID.upper()}'", _UUID),
    Value("time", "'23:59:59.999999'", 86_399_999),
    Value("timetz", "'24:00:00-05'", 18_000_000),
    Value("date", "'infinity'", 2**31 - 1),
    Value("date", "'-infinity'", -(2**31) + 1),
    Value("date", "'5874897-12-31'", 2_145_042_905),
    Value("date", "'4714-11-24 BC'", -2_440_588),
    Value("timestamp", "'294247-01-10 04:00:53.999999'", 9_223_372_036_853_999_999),
    Value("timestamptz", "'294247-01-10 05:00:53.999999+01'", 9_223_372_036_853_999_999),
    Value("timestamptz", "'infinity'", _LAST),
    Value("timestamp", "'-infinity'", -_LAST),
    Value("timestamp", "'4714-11-24 00:00:00 BC'", -210_866_803_200_000_000),
    Value("numeric(12,2) GENERATED ALWAYS AS (1.25) STORED", "DEFAULT", "1.25"),
]
_MARIADB = [
    Value("tinyint", "-128", -128),
    Value("smallint", "-1", -1),
    Value("bit(1)", "b'1'", 1),
    Value("float", "1.5", 1.5),
    Value("double", "1e300", "1.0E300"),
    Value("longtext", "'ünï'", "ünï"),
    Value("varbinary(10)", "x'00ff'", b"\0\xff"),
    Value("tinyint unsigned", "255", 255),
    Value("int unsigned", "4294967295", 2**32 - 1),
    Value("bigint unsigned", "9223372036854775807", 2**63 - 1),
    Value("bigint", "-9223372036854775808", -(2**63)),
    Value("decimal(38,10)", "-9999999999999999999999999999.9999999999", "-9999999999999999999999999999.9999999999"),
    Value("enum('active', 'inactive')", "'active'", "active"),
    Value("enum('active', 'inactive')", "''", ""),
    Value("set('a', 'b', 'c')", "'a,c'", "a,c"),
    Value("char(9)", "'ab'", "ab"),
    Value("varchar(9)", "'ab  '", "ab  "),
    Value("uuid", f"'{_UUID}'", _UUID),
    Value("inet6", "'2001:db8::ff00'", "2001:db8::ff00"),
    Value("inet4", "'10.0.0.1'", "10.0.0.1"),
    Value("json", "'{\"a\": 1}'", '{"a": 1}'),
    Value("time(6)", "'23:59:59.999999'", 86_399_999),
    Value("year", "0", _YEAR_0),
    Value("year", "1901", -25_202),
    Value("year", "2155", 67_570),
    Value("date", "'0000-00-00'", _YEAR_0),
    Value("date", "'9999-12-31'", 2_932_896),
    Value("date", "'1969-12-31'", -1),
    Value("datetime(6)", "'2024-01-01 00:00:00.123456'", 1_704_067_200_123_456),
    Value("datetime(6)", "'0000-00-00'", _YEAR_0 * 86_400_000_000),
    Value("datetime(6)", "'9999-12-31 23:59:59.999999'", 253_402_300_799_999_999),
    Value("int generated always as (1 + 1) stored", "default", 2),
    Value("int generated always as (1 + 1) virtual", "default", 2),
]
_SQLITE = [
    Value("boolean", "1", True),
    Value("real", "0.1", "0.1"),
    Value("text", "'ünï'", "ünï"),
    Value("blob", "x'00ff'", b"\0\xff"),
    Value("date", "'1969-12-31'", -1),
    Value("timestamp", "'1969-12-31 23:59:59.999'", -1000),
    Value("datetime", "1704067200123", 1_704_067_200_123_000),
    Value("timestamp", "2440587.5", 0),
    Value("int", "9223372036854775807", 2**63 - 1),
    Value("numeric(5,2)", "12345.678", "12345.68"),
    Value("numeric(5,2)", "1.5", "1.50"),
    Value("int generated always as (2) stored", "", 2),
    Value("int generated always as (2) virtual", "", 2),
    Value("time", "'23:59:59.999'", 86_399_999),
    Value("time", "86400001", 1),
    Value("date", "'0000-01-01'", _YEAR_0),
    Value("timestamp", "'9999-12-31 23:59:59.999'", 253_402_300_799_999_000),
    Value("uuid", f"'{_UUID}'", _UUID),
]
_DUCKDB = [
    Value("boolean", "true", True),
    Value("tinyint", "-128", -128),
    Value("float", "1.5", 1.5),
    Value("double", "0.1", "0.1"),
    Value("varchar", "'ünï'", "ünï"),
    Value("blob", "'\\x00\\xFF'::blob", b"\0\xff"),
    Value("date", "'1969-12-31'", -1),
    Value("timestamp", "'1969-12-31 23:59:59.999'", -1000),
    Value("timestamptz", "'2024-01-01 00:00:00.123456+00'", 1_704_067_200_123_456),
    Value("utinyint", "255", 255),
    Value("uinteger", "4294967295", 2**32 - 1),
    Value("ubigint", "18446744073709551615", str(2**64 - 1)),
    Value("hugeint", "-170141183460469231731687303715884105728", str(-(2**127))),
    Value("decimal(38,10)", "-9999999999999999999999999999.9999999999", "-9999999999999999999999999999.9999999999"),
    Value("uuid", f"'{_UUID}'", _UUID),
    Value("enum ('active', 'inactive')", "'active'", "active"),
    Value("int generated always as (2) virtual", "", 2),
    Value("time", "'23:59:59.999999'", 86_399_999),
    Value("date", "'infinity'", 2**31 - 1),
    Value("date", "'-infinity'", -(2**31) + 1),
    Value("timestamp", "'infinity'", _LAST),
    Value("timestamp", "'-infinity'", -_LAST),
    Value("timestamptz", "'infinity'", _LAST),
    Value("timestamp", "'294247-01-10 04:00:54.775806'", 9_223_372_036_854_775_806),
]
_READ = {"postgres": _POSTGRES, "sqlite": _SQLITE, "duckdb": _DUCKDB}
_TIME = "is not a time of day"
_REFUSED: list[Any] = [
    ("postgres", Value("time", "'24:00:00'", _TIME)),
    ("postgres", Value("timestamptz", "'294276-12-31 23:59:59+00'", "is not a timestamp up to 294247")),
    ("postgres", Value("numeric(5,2)", "'NaN'", "has the value NaN")),
    ("sqlite", Value("time", "'24:00:00'", _TIME)),
    ("sqlite", Value("time", "'noon'", _TIME)),
    ("sqlite", Value("date", "'31.12.2024'", "is not a date")),
    ("sqlite", Value("timestamp", "'tomorrow'", "is not a timestamp")),
    ("sqlite", Value("numeric(5,2)", "1e40", "would fail again")),
    ("sqlite", Value("numeric(5,2)", "'x'", "would fail again")),
    ("duckdb", Value("time", "'24:00:00'", _TIME)),
]
_DRIVERS: list[str] = []
if mariadb_support.available():
    _DRIVERS = ["mariadb", "mysql"]
    _READ |= dict.fromkeys(_DRIVERS, _MARIADB)
    _MISFITS = [
        Value("time", "'24:00:00'", _TIME),
        Value("time", "'838:59:59'", _TIME),
        Value("time(1)", "'-00:00:00.5'", _TIME),
        Value("bigint unsigned", "18446744073709551615", "is too large for INT64"),
        Value("date", "'2024-05-00'", "is not a date"),
        Value("datetime", "'2024-00-01'", "is not a timestamp"),
    ]
    _REFUSED += [pytest.param("mariadb", value) for value in _MISFITS]
    _REFUSED += [pytest.param("mysql", value, marks=pytest.mark.exhaustive) for value in _MISFITS]


@pytest.fixture
def read(poll: Poll, jdbc_source: SourceConfig) -> Read:
    """The values of the table `t`, as `Value` has them, or what the run would raise."""

    def go(database: Database, before_reading: str = "", **more: str) -> list[dict[str, Any]]:
        tables = {} if "query" in more else {"table.whitelist": "t"}
        if isinstance(database, MariaDatabase):
            tables["catalog.pattern"] = database.name
        config = jdbc_source(database, **{"mode": "bulk", **tables, **more})
        return poll(config, before_reading=lambda: before_reading and database.execute(before_reading)).rows

    return go


@pytest.fixture
def each_kind(request: pytest.FixtureRequest, tmp_path: Path) -> Create:
    """An empty database of a kind; `mysql` is MariaDB with MySQL's driver."""

    def create(kind: str) -> Database:
        if kind == "sqlite":
            return SqliteDatabase.create(tmp_path)
        if kind == "duckdb":
            return DuckDbDatabase.create(tmp_path)
        server = request.getfixturevalue("postgres" if kind == "postgres" else "mariadb")
        database: Database = server.create_database()
        return replace(database, url=database.url.replace("mariadb", "mysql", 1)) if kind == "mysql" else database

    return create


def _created(database: Database, values: list[Value]) -> None:
    if isinstance(database, MariaDatabase):
        database.execute("set global sql_mode = ''")
    columns = ", ".join(f"v{n} {value.type}" for n, value in enumerate(values))
    given = [n for n, value in enumerate(values) if value.sql and value.sql.lower() != "default"]
    database.execute(f"create table t (id int primary key, {columns})")
    for id_ in (1, 2):
        names = ", ".join(["id", *(f"v{n}" for n in given)])
        row = ", ".join([str(id_), *(values[n].sql if id_ == 1 else "null" for n in given)])
        database.execute(f"insert into t ({names}) values ({row})")


@pytest.mark.parametrize("kind", _READ)
def test_a_value_is_read_as_it_is(kind: str, each_kind: Create, read: Read) -> None:
    values, database = _READ[kind], each_kind(kind)
    _created(database, values)
    expected = {f"v{n} {value.type} {value.sql}": value.read for n, value in enumerate(values)}
    for how in ({}, {"query": "select * from t", "topic.prefix": "t"}):
        first, nulls = read(database, **how)
        assert dict(zip(expected, list(first.values())[1:], strict=True)) == expected
        assert {nulls[f"v{n}"] for n, value in enumerate(values) if "generated" not in value.type.lower()} == {None}


def test_granularity_of_timestamps(each_kind: Create, read: Read) -> None:
    database = each_kind("postgres")
    database.execute("create table t (at timestamp); insert into t values ('2024-01-01 00:00:00.123456')")
    expected: dict[str, Any] = {
        "micros_long": 1704067200123456,
        "nanos_long": 1704067200123456000,
        "micros_string": "1704067200123456",
        "nanos_string": "1704067200123456000",
        "micros_iso_datetime_string": "2024-01-01T00:00:00.123456",
        "nanos_iso_datetime_string": "2024-01-01T00:00:00.123456000",
    }
    found = {name: read(database, **{"timestamp.granularity": name}) for name in expected}
    assert found == {name: [{"at": value}] for name, value in expected.items()}


@pytest.mark.parametrize(("kind", "value"), _REFUSED, ids=lambda v: " ".join(v[:2]) if isinstance(v, tuple) else v)
def test_a_value_that_does_not_fit_is_an_error_that_names_its_column(
    kind: str, value: Value, each_kind: Create, read: Read
) -> None:
    database = each_kind(kind)
    _created(database, [value])
    with pytest.raises(DataError, match=rf"t\.v0\b.*{value.read}|{value.read}.*t\.v0\b"):
        read(database)


if mariadb_support.available():

    def test_an_instant_of_mysql_does_not_depend_on_the_zone_of_the_server(each_kind: Create, read: Read) -> None:
        database = each_kind("mariadb")
        database.execute("set global time_zone = '+02:00'")
        try:
            _created(database, [Value("timestamp(6) null", "'2024-01-01 02:00:00.5'", "")])
            rows = read(database)
        finally:
            database.execute("set global time_zone = '+00:00'")
        assert rows[0]["v0"] == 1_704_067_200_500_000

    @pytest.mark.parametrize("kind", _DRIVERS)
    def test_a_shape_is_read_as_its_text(kind: str, each_kind: Create, read: Read) -> None:
        database = each_kind(kind)
        _created(database, [Value("geometry", "ST_GeomFromText('POINT(1 2)')", ""), Value("point", "point(1, 2)", "")])
        rows = read(database, **{"unsupported.columns": "string"})
        assert rows[0] == {"id": 1, "v0": "POINT(1 2)", "v1": "POINT(1 2)"}


def test_a_table_that_spark_cannot_describe_is_named(each_kind: Create, read: Read) -> None:
    database = each_kind("sqlite")
    _created(database, [Value("int", "1", 1)])
    with pytest.raises(DataError, match=r"describing t for Spark failed.*no such table"):
        read(database, "drop table t")
