"""JDBC sinks: every value comes back from the database as it went in, or is refused by name."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    DATE,
    DECIMAL,
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    TIME,
    TIMESTAMP,
    ConnectSchema,
    SchemaType,
    struct,
)
from airflow_kconnect.connectors.jdbc.databases.postgresql.cells import copy_value
from airflow_kconnect.connectors.jdbc.databases.postgresql.lines import Lines
from airflow_kconnect.connectors.jdbc.sink.config import confluent_keys, settings_of
from airflow_kconnect.connectors.jdbc.sink.layouts import TableColumn
from tests.support.databases.jdbc_sink import Record, Sink
from tests.support.databases.postgres import PostgresServer
from tests.support.databases.servers import Database

DECIMAL_SCHEMA = ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": "6"})
DATE_SCHEMA = ConnectSchema(SchemaType.INT32, name=DATE)
TIME_SCHEMA = ConnectSchema(SchemaType.INT32, name=TIME)
TIMESTAMP_SCHEMA = ConnectSchema(SchemaType.INT64, name=TIMESTAMP)

VALUE = struct(
    ("text", STRING_SCHEMA.as_optional()),
    ("data", BYTES_SCHEMA.as_optional()),
    ("number", DECIMAL_SCHEMA.as_optional()),
    ("real", FLOAT64_SCHEMA.as_optional()),
    ("float", ConnectSchema(SchemaType.FLOAT32, optional=True)),
    ("long", INT64_SCHEMA.as_optional()),
    ("byte", ConnectSchema(SchemaType.INT8, optional=True)),
    ("truth", BOOLEAN_SCHEMA.as_optional()),
    ("day", DATE_SCHEMA.as_optional()),
    ("time", TIME_SCHEMA.as_optional()),
    ("moment", TIMESTAMP_SCHEMA.as_optional()),
)
MIDNIGHT = datetime(1970, 1, 1)
MS = timedelta(milliseconds=1)

_texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
_escapes = st.text(st.sampled_from("\\\n\r\tNn\"'.{},x;"), max_size=8)
_moments = st.integers(-62_135_596_800_000, 253_402_300_799_999).map(
    lambda ms: (MIDNIGHT + ms * MS).replace(tzinfo=UTC)
)
_rows = st.tuples(
    st.none() | _texts | _escapes,
    st.none() | st.binary(max_size=20),
    st.none() | st.decimals(-(10**31), 10**31, places=6),
    st.none() | st.floats(),
    st.none() | st.floats(width=32),
    st.none() | st.integers(-(2**63), 2**63 - 1),
    st.none() | st.integers(-128, 127),
    st.none() | st.booleans(),
    st.none() | st.dates(),
    st.none() | st.integers(0, 86_399_999),
    st.none() | _moments,
)


def read_back(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row as psycopg reads it."""
    *plain, time, moment = row
    as_time = None if time is None else (MIDNIGHT + time * MS).time()
    return (*plain, as_time, None if moment is None else moment.replace(tzinfo=None))


def as_read(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row of the table; psycopg takes the shortest text of a REAL for one of twice the digits."""
    single = None if row[4] is None else numpy.float32(row[4]).item()
    return (*row[:4], single, *row[5:])


def same(one: Any, other: Any) -> bool:
    """Equality for which NaN is itself, as are -0.0 and 0.0 different."""
    if isinstance(one, float) and isinstance(other, float):
        return (math.isnan(one) and math.isnan(other)) or (
            one == other and math.copysign(1, one) == math.copysign(1, other)
        )
    return bool(one == other)


@settings(max_examples=4, suppress_health_check=list(HealthCheck))
@given(rows=st.lists(_rows, min_size=50, max_size=200), mode=st.sampled_from(["insert", "upsert"]))
def test_postgresql_keeps_every_value(
    spark: SparkSession, postgres: PostgresServer, rows: list[tuple[Any, ...]], mode: str
) -> None:
    database = postgres.create_database()
    keys = {"pk.mode": "kafka", "insert.mode": mode, "auto.create": "true", "offsets.table": ""}
    sink = Sink(spark, {**database.config, **keys})
    sink.run(*(Record(row, VALUE) for row in rows))
    if mode == "upsert":
        # Now that the keys are there, the rows are merged.
        names = ", ".join(f'"{field.name}" = NULL' for field in VALUE.fields)
        database.execute(f"UPDATE t SET {names}")
        sink.run(*(Record(row, VALUE) for row in rows))
    assert sink.errors == []
    names = ", ".join(f'"{field.name}"' for field in VALUE.fields)
    found = database.execute(f"SELECT {names} FROM t ORDER BY __connect_offset")
    for wanted, got in zip(map(read_back, rows), map(as_read, found), strict=True):
        assert all(map(same, wanted, got)), (wanted, got)


_FURTHER = [pytest.param(zone, marks=pytest.mark.exhaustive) for zone in ("Europe/Berlin", "Asia/Kathmandu")]
ZONES = ["UTC", "America/St_Johns", *_FURTHER]


def postgres_settings(zone: str, **more: str) -> Any:
    props = {"connection.url": "jdbc:postgresql://localhost/x", "db.timezone": zone, **more}
    return settings_of("sink", confluent_keys().parse(props))


@pytest.mark.parametrize("zone", ZONES)
def test_moments_of_all_years_are_the_same_instants(spark: SparkSession, postgres: PostgresServer, zone: str) -> None:
    day = 86_400_000
    instants = [
        *(0, -1, 1, 951_782_400_123, -62_135_596_800_001, -62_135_596_800_000, -62_167_219_200_000),
        *(253_402_300_800_000, 8_000_000_000_000_000, -210_000_000 * 1_000_000, 1_603_591_200_000, 1_603_587_600_000),
        *(n * 997 * day + 12_345 for n in range(-2_000, 3_000, 37)),
    ]
    column = TableColumn("moment", TIMESTAMP_SCHEMA, "value", "moment", False)
    df = spark.createDataFrame([(ms,) for ms in instants], "ms long")
    cell = copy_value(column, F.timestamp_millis("ms"), postgres_settings(zone))
    assert cell.problem is not None
    offset = {} if cell.offset is None else {"offset_0_0": cell.offset}
    (batch,) = (
        df.select(cell.column.alias("cell_0_0"), cell.problem.alias("bad"), *named(offset))
        .toArrow()
        .combine_chunks()
        .to_batches()
    )
    assert batch.column("bad").to_pylist() == [None] * len(instants)
    texts = cell_texts(batch)
    sql = "SELECT (extract(epoch FROM t::timestamptz) * 1000)::bigint FROM unnest(%s::text[]) AS t"
    assert [found for (found,) in postgres.execute(sql, (texts,))] == instants
    local = "SELECT (extract(epoch FROM t::timestamp AT TIME ZONE %s) * 1000)::bigint FROM unnest(%s::text[]) AS t"
    if zone == "UTC":
        assert [found for (found,) in postgres.execute(local, (zone, texts))] == instants


def named(columns: dict[str, Column]) -> list[Column]:
    return [column.alias(name) for name, column in columns.items()]


def cell_texts(batch: pa.RecordBatch) -> list[str]:
    """The cells of the first column, as lines have them."""
    rows = batch.append_column("kafka_offset", pa.array(range(batch.num_rows), pa.int64()))
    return [line.removesuffix("\n") for line in Lines.of(rows, 0, 1).texts.to_pylist()]


def test_moments_before_postgresqls_are_refused_by_name(spark: SparkSession) -> None:
    column = TableColumn("moment", TIMESTAMP_SCHEMA, "value", "moment", False)
    problem = copy_value(column, F.timestamp_millis("ms"), postgres_settings("UTC")).problem
    assert problem is not None
    df = spark.createDataFrame([(-250_000_000_000_000,)], "ms long")
    assert df.select(problem).collect()[0][0] == "field `moment` is before 4712 BC, which PostgreSQL cannot store"


@pytest.mark.parametrize("scale", [0, 7, 38, *(pytest.param(n, marks=pytest.mark.exhaustive) for n in (2, 6))])
def test_decimals_have_no_exponents(spark: SparkSession, scale: int) -> None:
    schema = ConnectSchema(SchemaType.BYTES, name=DECIMAL, parameters={"scale": str(scale)})
    digits = [(0, "0"), (0, "1"), (1, "1"), (0, "1" + "0" * 37), (1, "9" * 38)]
    numbers = [Decimal((sign, tuple(map(int, number)), -scale)) for sign, number in digits]
    df = spark.createDataFrame([(number,) for number in numbers], f"number decimal(38,{scale})")
    cell = copy_value(TableColumn("n", schema, "value", "n", False), F.col("number"), postgres_settings("UTC"))
    (batch,) = df.select(cell.column.alias("cell_0_0")).toArrow().combine_chunks().to_batches()
    assert cell_texts(batch) == [f"{number:f}" for number in numbers]


@pytest.mark.every_database
def test_zone_of_the_database(spark: SparkSession, each_database: Database) -> None:
    """Timestamps and times in the zone; the midnight of dates too, unless `date.timezone` is UTC."""
    schema = struct(("day", DATE_SCHEMA), ("time", TIME_SCHEMA), ("moment", TIMESTAMP_SCHEMA))
    if each_database.url.startswith("jdbc:sqlite"):
        return  # it has the instants themselves
    if each_database.url.startswith(("jdbc:mysql", "jdbc:mariadb")):
        return  # its server knows zones by name only when their tables were loaded
    record = Record((date(2020, 7, 1), 0, datetime(2020, 7, 1, 12, tzinfo=UTC)), schema)
    base = {**each_database.config, "auto.create": "true", "db.timezone": "America/New_York"}
    Sink(spark, base).run(record)
    Sink(spark, {**base, "date.timezone": "UTC"}).run(record, first=1)
    found = each_database.execute('SELECT "day", moment, "time" FROM t ORDER BY "day"')
    local = datetime(2020, 7, 1, 8)
    assert [row[:2] for row in found] == [(date(2020, 6, 30), local), (date(2020, 7, 1), local)]
    assert [row[2].isoformat() for row in found] == ["19:00:00", "19:00:00"]


@pytest.mark.parametrize(
    ("precision", "factor"), [("microseconds", 1), ("nanoseconds", 1000)], ids=["microseconds", "nanoseconds"]
)
def test_fields_that_hold_timestamps_as_numbers(
    spark: SparkSession, each_database: Database, precision: str, factor: int
) -> None:
    schema = struct(("id", INT32_SCHEMA), ("number", INT64_SCHEMA), ("digits", STRING_SCHEMA))
    micros = 1_600_000_000_123_456
    keys = {"auto.create": "true", "timestamp.fields.list": "number,digits", "timestamp.precision.mode": precision}
    sink = Sink(spark, {**each_database.config, **keys})
    sink.run(Record((1, micros * factor, str(micros * factor)), schema), Record((2, 0, "noon"), schema))
    assert len(sink.errors) == 1
    assert "field `digits` is not a number" in sink.errors[0]
    ((_, number, digits),) = each_database.execute("SELECT * FROM t")
    assert number == digits
    assert str(number).startswith(("2020-09-13 12:26:40.123", "1600000000123"))


@pytest.mark.every_database
def test_values_of_every_type(spark: SparkSession, each_database: Database) -> None:
    moment = datetime(2021, 3, 4, 5, 6, 7, 890_000, tzinfo=UTC)
    row = (
        "ü\\\n'x",
        b"\0\xff\\",
        Decimal("12345.678900"),
        1.5,
        0.25,
        -(2**63),
        -128,
        True,
        date(2021, 3, 4),
        3_723_004,
    )
    sink = Sink(spark, {**each_database.config, "auto.create": "true"})
    sink.run(Record((*row, moment), VALUE), Record((None,) * 11, VALUE))
    full, empty = each_database.execute("SELECT * FROM t ORDER BY text IS NULL")
    assert empty == (None,) * 11
    assert full[:2] == row[:2]
    assert Decimal(str(full[2])) == row[2]
    assert full[3:7] == row[3:7]
    assert full[7] == 1
    shown = [str(value) for value in full[8:]]
    if each_database.url.startswith("jdbc:sqlite"):
        assert shown == ["1614816000000", "3723004", "1614834367890"]
    else:
        assert shown == ["2021-03-04", "1:02:03.004000", "2021-03-04 05:06:07.890000"] or shown == [
            "2021-03-04",
            "01:02:03.004000",
            "2021-03-04 05:06:07.890000",
        ]


def test_numbers_that_a_database_does_not_have(spark: SparkSession, each_database: Database) -> None:
    schema = struct(("id", INT32_SCHEMA), ("real", FLOAT64_SCHEMA))
    numbers = [0.0, math.nan, math.inf, -math.inf]
    sink = Sink(spark, {**each_database.config, "auto.create": "true"})
    sink.run(*(Record((id_, number), schema) for id_, number in enumerate(numbers)))
    name = "`real`" if "maria" in each_database.url else '"real"'
    found = [number for (number,) in each_database.execute(f"SELECT {name} FROM t ORDER BY id")]
    if "postgres" in each_database.url or "duckdb" in each_database.url:
        assert all(map(same, found, numbers))
    else:
        assert found == [0.0]
        assert ["field `real` is not a finite number" in error for error in sink.errors] == [True] * 3
