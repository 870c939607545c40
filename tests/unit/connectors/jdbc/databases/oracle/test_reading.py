"""How Oracle's columns are read and compared, by its documentation: no server has seen these terms."""

from __future__ import annotations

import pytest

from airflow_kconnect.connectors.jdbc.databases.oracle.reading import Oracle
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
from airflow_kconnect.connectors.jdbc.source import columns as types
from airflow_kconnect.connectors.jdbc.source.columns import Kind
from airflow_kconnect.connectors.jdbc.source.tables import Column

DIALECT = Oracle(JdbcUrl.parse("jdbc:oracle:thin:@//h:1521/s"))
DATE = Column("CHANGED", "DATE", types.TIMESTAMP_TYPE)
TIMESTAMP = Column("AT", "TIMESTAMP", types.TIMESTAMP_TYPE, scale=6)
# 2024-01-01 00:00:00.123456789
MOMENT = 1_704_067_200_123_456_789
OF_DATES = "TO_DATE('2024-01-01 00:00:00', 'YYYY-MM-DD HH24:MI:SS')"
OF_TIMESTAMPS = "{ts '2024-01-01 00:00:00.123456789'}"


@pytest.mark.parametrize(
    ("columns", "term", "literal"),
    [
        ([DATE], '"CHANGED"', OF_DATES),
        ([DATE, DATE], 'COALESCE("CHANGED", "CHANGED")', OF_DATES),
        ([TIMESTAMP], '"AT"', OF_TIMESTAMPS),
        ([DATE, TIMESTAMP], 'COALESCE(CAST("CHANGED" AS TIMESTAMP), "AT")', OF_TIMESTAMPS),
    ],
    ids=["date", "dates", "timestamp", "both"],
)
def test_columns_are_compared_with_literals_of_their_own_type(columns: list[Column], term: str, literal: str) -> None:
    assert (DIALECT.cursor_timestamp(columns), DIALECT.literal(columns, MOMENT)) == (term, literal)


@pytest.mark.parametrize("column", [DATE, TIMESTAMP], ids=["date", "timestamp"])
def test_dates_and_timestamps_are_read_as_texts_that_no_setting_of_a_session_changes(column: Column) -> None:
    kind = DIALECT.kind(column, "none")
    text = f"LTRIM(TO_CHAR(CAST(\"{column.name}\" AS TIMESTAMP(9)), 'SYYYY-MM-DD HH24:MI:SS.FF9'))"
    assert kind is Kind.WALL
    assert DIALECT.select(column, kind) == (text, "string")
    assert DIALECT.cursor_nanoseconds(f'"{column.name}"') == text


def test_other_types_are_texts_as_long_as_oracle_has_them() -> None:
    assert DIALECT.text(Column("N", "NUMBER", types.NUMERIC, scale=-127)) == 'CAST("N" AS VARCHAR2(4000))'
