"""Which failures of jobs come of values, and what their texts say."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.connectors.jdbc.source.chosen_table import Source
from airflow_kconnect.connectors.jdbc.source.columns import Granularity, Kind, reading_of
from airflow_kconnect.connectors.jdbc.source.cursors import Cursor
from airflow_kconnect.connectors.jdbc.source.failures import explained
from airflow_kconnect.connectors.jdbc.source.tables import Column, Table, TableName


def _source(name: str) -> Source:
    column = Column("price", "numeric", 2, 5, 2)
    readings = (
        reading_of(column, Kind.DECIMAL, "price", None, Granularity()),
        reading_of(Column("n", "int", 4), Kind.INT32, "n", None, Granularity()),
    )
    cursor = Cursor(timestamp=None, id=None, id_name=None, literal=str, exact=False, id_is_offset=False)
    return Source(Table(TableName(None, "public", name), ()), name, (), name, readings, (), cursor)


@pytest.mark.parametrize(
    ("failure", "expected"),
    [
        ("the Spark job failed: org.postgresql.util.PSQLException: Bad value for type BigDecimal : NaN", "value NaN"),
        ("PSQLException: ERROR: cannot convert NaN to bigint", "value NaN"),
        ("org.postgresql.util.PSQLException: ERROR: bigint out of range", "would fail again: bigint out of range"),
        ('PSQLException: ERROR: column "x" does not exist', 'column "x" does not exist'),
        ("java.sql.SQLDataException: value '18446744073709551615' cannot be decoded as Long", "cannot be decoded as"),
        ("java.sql.SQLDataException: integer overflow", "integer overflow"),
        ("[NUMERIC_VALUE_OUT_OF_RANGE.WITHOUT_SUGGESTION]  The 1.0E+40 is too large", "(public.t.price)"),
        ("[USER_RAISED_EXCEPTION] t.at has a value that is not a date: correct it SQLSTATE: P0001", "t.at has a value"),
    ],
)
def test_a_value_that_cannot_be_read_is_no_reason_to_retry(failure: str, expected: str) -> None:
    error = explained(failure, "connector c: db", [_source("t")])
    assert isinstance(error, DataError)
    assert expected in str(error)


def test_the_table_is_named_and_what_to_do() -> None:
    error = explained("java.sql.SQLDataException: integer overflow", "connector c: db", [_source("t"), _source("u")])
    assert str(error) == (
        "connector c: db: reading public.t or public.u failed, and would fail again: integer overflow: correct it,"
        " leave its row out or select the column as a text, by a view or `query`"
    )


@pytest.mark.parametrize(
    "failure",
    [
        'PSQLException: ERROR: snapshot "00-1" does not exist',
        "the Spark job failed: java.lang.IllegalStateException: what now?",
    ],
)
def test_an_unknown_failure_of_a_driver_is_tried_again_and_says_what_to_do_if_that_does_not_help(failure: str) -> None:
    error = explained(failure, "connector c: db", [_source("t")])
    assert isinstance(error, RetriableError)
    assert f"reading public.t: {failure}. If each retry fails so, a value cannot be read" in str(error)


@pytest.mark.parametrize(
    "failure",
    [
        "org.postgresql.util.PSQLException: This connection has been closed.",
        "java.sql.SQLTransientConnectionException: the server is gone",
        "the Spark job failed: a Python worker ended at its start: no module named x",
        "Cannot reach Kafka",
    ],
)
def test_what_has_nothing_to_do_with_values_is_left_as_it_is(failure: str) -> None:
    assert explained(failure, "connector c: db", [_source("t")]) is None
