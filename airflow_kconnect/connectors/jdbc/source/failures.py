"""What a failed job says of the values that it read: most of its failures are worth a retry, these are not."""

from __future__ import annotations

import re
from collections.abc import Sequence

from airflow_kconnect.connect.errors import ConnectError, DataError, RetriableError
from airflow_kconnect.connectors.jdbc.source.chosen_table import Source
from airflow_kconnect.connectors.jdbc.source.columns import Kind
from airflow_kconnect.connectors.jdbc.source.misfits import CURE, misfit_of

_NAN = re.compile(r"Bad value for type (?:BigDecimal|long|int) : (NaN|-?Infinity)|cannot convert (NaN|infinity) to")
_OF_DECIMALS = re.compile(r"BigDecimal|NUMERIC_VALUE_OUT_OF_RANGE|Decimal precision", re.IGNORECASE)
_CLASSES = ("SQLDataException", "SQLSyntaxErrorException", "SQLFeatureNotSupportedException", "ArithmeticException")
_HOPELESS = (
    "Bad value for type",
    "out of range",
    "out of valid range",
    "division by zero",
    "invalid input syntax",
    r"(?:relation|column|function|table) .* does not exist",
    "permission denied",
    "cannot be represented",
    "Packet for query is too large",
)
_UNREADABLE = re.compile(
    rf"\b(?:{'|'.join(_CLASSES)}): (?P<by_class>.*)"
    rf"|\b\w*(?:Exception|Error): (?:ERROR: )?(?P<by_text>.*(?:{'|'.join(_HOPELESS)}).*)"
    # Spark's own names of errors.
    r"|\[(?:NUMERIC_VALUE_OUT_OF_RANGE|CAST_OVERFLOW|ARITHMETIC_OVERFLOW|DATETIME_OVERFLOW)[\w.]*\] +(?P<by_name>.*)"
)
# Of a JDBC driver, or of Spark's reader of its results.
_OF_A_DRIVER = re.compile(r"\b\w*SQL\w*Exception\b|java\.(?:lang|time)\.\w+Exception")
_PASSING = re.compile(r"SQL(?:Transient|Recoverable|Timeout|NonTransientConnection)\w*Exception|onnection")
_NAMED_MAX = 5


def explained(failure: str, label: str, sources: Sequence[Source]) -> ConnectError | None:
    """What a failed job's text means; None: it says nothing of values.

    :param label: names the connector and its database.
    :param sources: the tables that the job has read.
    """
    where = f"{label}: reading {_tables(sources)}"
    if text := misfit_of(failure):
        return DataError(f"{label}: {text}")
    if match := _NAN.search(failure):
        return DataError(
            f"{where} failed: a column of the type numeric{_decimals(sources)} has the value {match[1] or match[2]},"
            " which Connect's Decimal does not have: exclude the rows by a view or `query`, or read the column as"
            " another type there"
        )
    if match := _UNREADABLE.search(failure):
        columns = _decimals(sources) if _OF_DECIMALS.search(failure) else ""
        return DataError(f"{where} failed, and would fail again: {match[match.lastgroup or 0]}{columns}: {CURE}")
    if _OF_A_DRIVER.search(failure) and not _PASSING.search(failure):
        return RetriableError(
            f"{where}: {failure}. If each retry fails so, a value cannot be read: find its column, and {CURE}"
        )
    return None


def _tables(sources: Sequence[Source]) -> str:
    if len(sources) > _NAMED_MAX:
        return f"one of {len(sources)} tables"
    return " or ".join(source.text for source in sources) or "the tables"


def _decimals(sources: Sequence[Source]) -> str:
    """The columns that it can be."""
    names = [f"{s.text}.{reading.name}" for s in sources for reading in s.readings if reading.kind is Kind.DECIMAL]
    return f" ({' or '.join(names)})" if 0 < len(names) <= _NAMED_MAX else ""
