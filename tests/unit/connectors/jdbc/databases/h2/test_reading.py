"""How H2's columns are read: those that its driver tells no type for, or a wrong one."""

from __future__ import annotations

import pytest

from airflow_kconnect.connectors.jdbc.databases.h2.reading import H2
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
from airflow_kconnect.connectors.jdbc.source.columns import NUMERIC, Kind
from airflow_kconnect.connectors.jdbc.source.tables import Column

DIALECT = H2(JdbcUrl.parse("jdbc:h2:tcp://h/d"))


@pytest.mark.parametrize(
    "column",
    [Column("c", "UUID", -2, 16), Column("c", "JSON", 1111), Column("c", "ENUM('a', 'b')", 1111, 1)],
    ids=lambda column: column.type_name,
)
def test_texts_without_a_type_of_jdbc_are_strings(column: Column) -> None:
    assert DIALECT.kind(column, "none") is Kind.STRING
    assert DIALECT.select(column, Kind.STRING) == ('CAST("c" AS VARCHAR)', None)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (Column("c", "BINARY", -2, 16), Kind.BYTES),
        (Column("c", "NUMERIC", NUMERIC, 20), Kind.DECIMAL),
        (Column("c", "DECFLOAT", NUMERIC, 20), None),
        (Column("c", "INTERVAL DAY TO SECOND", 1111, 2, 6), None),
    ],
    ids=lambda value: value.type_name if isinstance(value, Column) else "",
)
def test_others_are_what_the_driver_says(column: Column, kind: Kind | None) -> None:
    assert DIALECT.kind(column, "none") is kind
