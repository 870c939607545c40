"""Values of cells as the parameters of JDBC's statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, SchemaType

Bind = Callable[[Any, int, Any], None]
"""Sets a parameter of a `java.sql.PreparedStatement`, by its number from 1 on."""

_REAL = ("FLOAT32", "FLOAT64")
_NUMBERS = ("INT8", "INT16", "INT32", "INT64", *_REAL, DECIMAL)
_MOMENTS = {DATE: "LocalDate", TIME: "LocalTime", TIMESTAMP: "LocalDateTime"}
# java.sql.Types
_TINYINT, _SMALLINT = -6, 5


def binder(kind: str, null: int, *, moments_are_texts: bool, small_numbers_are_texts: bool = False) -> Bind:
    """What sets parameters of a kind, see `kind_of`, as `driver_value` renders them.

    :param null: type of nulls, of `java.sql.Types`: the column's own, as some databases take no others.
    :param moments_are_texts: the driver does not know the types of `java.time`, but the database reads texts.
    :param small_numbers_are_texts: the same for numbers in columns of one or two bytes.
    """
    set_given = _setter(kind, moments_are_texts)
    if small_numbers_are_texts and null in (_TINYINT, _SMALLINT) and kind in _NUMBERS:
        set_given = _number_text

    def bind(statement: Any, number: int, value: Any) -> None:
        if value is None:
            statement.setNull(number, null)
        else:
            set_given(statement, number, value)

    return bind


def set_value(statement: Any, number: int, value: str | int) -> None:
    """Set a parameter to a text or a whole number."""
    if isinstance(value, int):
        statement.setLong(number, value)
    else:
        statement.setString(number, value)


def _setter(kind: str, moments_are_texts: bool) -> Bind:
    if kind in _MOMENTS:
        return _moment_text if moments_are_texts else _moment(kind)
    match kind:
        case SchemaType.BOOLEAN.name:
            return lambda statement, number, value: statement.setBoolean(number, bool(value))
        case SchemaType.BYTES.name:
            return lambda statement, number, value: statement.setBytes(number, value)
        case _ if kind == DECIMAL:
            return _decimal
        case _ if kind in _REAL:
            return lambda statement, number, value: statement.setDouble(number, value)
    return set_value


def _decimal(statement: Any, number: int, value: str) -> None:
    from jpype import JClass

    statement.setBigDecimal(number, JClass("java.math.BigDecimal")(value))


def _number_text(statement: Any, number: int, value: Any) -> None:
    statement.setString(number, str(value))


def _moment_text(statement: Any, number: int, value: str) -> None:
    # A time column without fractions takes times that have none.
    statement.setString(number, value.removesuffix(".000"))


def _moment(kind: str) -> Bind:
    from jpype import JClass

    parse: Any = JClass(f"java.time.{_MOMENTS[kind]}").parse

    def bind(statement: Any, number: int, value: str) -> None:
        statement.setObject(number, parse(value.replace(" ", "T")))

    return bind
