"""Values as parameters of JDBC's statements."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP
from airflow_kconnect.connectors.jdbc.databases.plain.binding import binder
from airflow_kconnect.connectors.jdbc.driver import jvm


class Statement:
    """Remembers what was set, as texts of Java."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda number, value: self.calls.append((name, str(value)))


def bound(kind: str, value: Any, *, column: int = 2004, texts: bool = False) -> tuple[str, str]:
    jvm.start()
    statement = Statement()
    binder(kind, column, moments_are_texts=texts, small_numbers_are_texts=texts)(statement, 1, value)
    return statement.calls[0]


@pytest.mark.parametrize(
    ("kind", "value", "call"),
    [
        ("INT8", -128, ("setLong", "-128")),
        ("FLOAT32", 0.25, ("setDouble", "0.25")),
        ("BOOLEAN", 1, ("setBoolean", "True")),
        ("STRING", "ü", ("setString", "ü")),
        ("BYTES", b"\0", ("setBytes", "b'\\x00'")),
        (DECIMAL, "-1.500", ("setBigDecimal", "-1.500")),
        (DATE, "2021-03-04", ("setObject", "2021-03-04")),
        (TIME, "01:02:03.004", ("setObject", "01:02:03.004")),
        (TIMESTAMP, "2021-03-04 05:06:07.89", ("setObject", "2021-03-04T05:06:07.890")),
        (TIMESTAMP, "+10000-01-01 00:00:00", ("setObject", "+10000-01-01T00:00")),
        (TIMESTAMP, "0001-01-01 00:00:00", ("setObject", "0001-01-01T00:00")),
        ("BYTES", None, ("setNull", "2004")),
    ],
)
def test_each_kind_has_a_setter(kind: str, value: Any, call: tuple[str, str]) -> None:
    assert bound(kind, value) == call


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (TIME, "01:02:03.000", "01:02:03"),
        (TIME, "01:02:03.004", "01:02:03.004"),
        (TIMESTAMP, "2021-03-04 05:06:07.89", "2021-03-04 05:06:07.89"),
    ],
)
def test_moments_as_texts(kind: str, value: str, text: str) -> None:
    assert bound(kind, value, texts=True) == ("setString", text)


@pytest.mark.parametrize(
    ("kind", "column", "value", "call"),
    [
        ("INT32", -6, 200, ("setString", "200")),
        ("FLOAT64", 5, 1e300, ("setString", "1e+300")),
        (DECIMAL, 5, "70000.0", ("setString", "70000.0")),
        ("INT32", 5, None, ("setNull", "5")),
        ("BOOLEAN", 5, True, ("setBoolean", "True")),
        ("INT64", 4, 200, ("setLong", "200")),
    ],
)
def test_numbers_of_small_columns_as_texts(kind: str, column: int, value: Any, call: tuple[str, str]) -> None:
    assert bound(kind, value, column=column, texts=True) == call
