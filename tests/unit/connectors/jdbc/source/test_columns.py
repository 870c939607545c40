"""Types of columns as schemas of Connect."""

from __future__ import annotations

import pytest

from airflow_kconnect.connectors.jdbc.databases.resolving import dialect_of
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
from airflow_kconnect.connectors.jdbc.source.columns import Granularity, Kind, kind_of, numeric_kind, schema_of
from airflow_kconnect.connectors.jdbc.source.tables import Column, Table, changes


def _number(precision: int, scale: int) -> Column:
    return Column("n", "numeric", 2, precision, scale)


@pytest.mark.parametrize(
    ("mapping", "precision", "scale", "expected"),
    [
        ("none", 5, 0, Kind.DECIMAL),
        ("none", 38, 10, Kind.DECIMAL),
        ("none", 39, 10, None),
        ("none", 0, 0, None),
        ("none", 5, -2, None),
        ("none", 3, 5, None),
        ("precision_only", 2, 0, Kind.INT8),
        ("precision_only", 4, 0, Kind.INT16),
        ("precision_only", 9, 0, Kind.INT32),
        ("precision_only", 18, 0, Kind.INT64),
        ("precision_only", 19, 0, Kind.DECIMAL),
        ("precision_only", 5, 2, Kind.DECIMAL),
        ("best_fit", 9, 0, Kind.INT32),
        ("best_fit", 5, -2, Kind.INT32),
        ("best_fit", 18, 2, Kind.FLOAT64),
        ("best_fit", 20, 2, Kind.DECIMAL),
        ("best_fit_eager_double", 20, 2, Kind.FLOAT64),
        ("best_fit_eager_double", 20, 0, Kind.DECIMAL),
    ],
)
def test_numeric_mapping(mapping: str, precision: int, scale: int, expected: Kind | None) -> None:
    assert numeric_kind(_number(precision, scale), mapping) is expected


@pytest.mark.parametrize(
    ("jdbc_type", "signed", "expected"),
    [(-6, True, Kind.INT8), (-6, False, Kind.INT16), (4, True, Kind.INT32), (4, False, Kind.INT64),
     (-5, False, Kind.INT64), (-7, True, Kind.INT8), (7, True, Kind.FLOAT32), (6, True, Kind.FLOAT64),
     (2003, True, None), (1111, True, None)],
)  # fmt: skip
def test_kinds_by_jdbc_type(jdbc_type: int, signed: bool, expected: Kind | None) -> None:
    assert kind_of(Column("c", "any", jdbc_type, signed=signed), "none") is expected


def test_nullable_columns_are_optional_and_have_no_default() -> None:
    columns = [Column("c", "int", 4, nullable=nullable) for nullable in (True, False)]
    schemas = [schema_of(Kind.INT32, column, Granularity()) for column in columns]
    assert [(schema.optional, schema.default) for schema in schemas] == [(True, None), (False, None)]


@pytest.mark.parametrize(
    ("type_name", "signed", "expected"),
    [("tinyint", False, Kind.INT16), ("int", False, Kind.INT64), ("bigint", False, Kind.INT64),
     ("datetime", True, Kind.WALL), ("timestamp", True, Kind.INSTANT), ("year", True, Kind.DATE),
     ("INT UNSIGNED", True, Kind.INT64), ("geometry", True, None)],
)  # fmt: skip
def test_kinds_of_mysql(type_name: str, signed: bool, expected: Kind | None) -> None:
    dialect = dialect_of(JdbcUrl.parse("jdbc:mysql://host/db"))
    assert dialect.kind(Column("c", type_name, 3, signed=signed), "none") is expected


@pytest.mark.parametrize(
    ("type_name", "expected"),
    [("INTEGER", Kind.INT64), ("varchar", Kind.STRING), ("TIMESTAMP", Kind.WALL), ("NUMERIC", Kind.FLOAT64),
     ("BLOB", Kind.BYTES), ("", Kind.STRING), ("POINT", Kind.INT64), ("GEOMETRY", None)],
)  # fmt: skip
def test_kinds_of_sqlite(type_name: str, expected: Kind | None) -> None:
    dialect = dialect_of(JdbcUrl.parse("jdbc:sqlite:/a.db"))
    assert dialect.kind(Column("c", type_name, 2), "none") is expected


def test_changes_of_a_table_are_reported_by_column() -> None:
    before = {"id": "int4 not null", "a": "int4", "b": "text"}
    after = {"id": "int4 not null", "a": "int8", "c": "date"}
    assert changes(before, after) == [
        "column c date was added",
        "column b text was dropped",
        "column a was int4 and is int8",
    ]


def test_column_is_found_by_case_only_if_that_is_unambiguous() -> None:
    table = Table(None, (Column("Id", "int", 4), Column("a", "int", 4), Column("A", "int", 4)))
    names = [column and column.name for column in map(table.column, ("id", "a", "A", "b"))]
    assert names == ["Id", "a", "A", None]
