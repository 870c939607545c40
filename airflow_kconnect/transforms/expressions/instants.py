"""Converts times between all forms that Connect knows, as Catalyst expressions that never throw."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from pyspark.sql import Column
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import DATE, TIME, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.converters.json.values import DAY_MS
from airflow_kconnect.converters.types import logical_name
from airflow_kconnect.transforms.base import with_exception_column
from airflow_kconnect.transforms.expressions.date_patterns import DatePattern
from airflow_kconnect.transforms.expressions.date_texts import read, written
from airflow_kconnect.transforms.expressions.schemaless import as_type, by_kind, java_class

_CONNECT_EXCEPTION = "org.apache.kafka.connect.errors.ConnectException"
_NULL_POINTER = "java.lang.NullPointerException"
_LOGICAL = {DATE: "Date", TIME: "Time", TIMESTAMP: "Timestamp"}
_INFERRED = ("java.lang.Long", "java.lang.String", "java.util.Date")
_RANGE = "Timestamp is out of range"
_LAST_LONG = 2**63 - 1


class Converted(NamedTuple):
    """The result of a conversion.

    :param column: null for null, and where there is an error.
    :param error: STRING, null if there is no error.
    """

    column: Column
    error: Column


class _Instant(NamedTuple):
    """A time as Java sees it.

    :param ms: LONG of the milliseconds of a ``java.util.Date``; null if the value is not a time.
    :param problem: STRING, why it is not a time.
    """

    ms: Column
    problem: Column


@dataclass(frozen=True)
class Conversion:
    """TimestampConverter's conversion.

    :param target: ``string``, ``unix``, ``Date``, ``Time`` or ``Timestamp``.
    :param schema: of the result.
    :param pattern: for texts that are parsed or formatted, if there is one.
    :param precision: unit of numbers, such as ``seconds``.
    """

    target: str
    schema: ConnectSchema
    pattern: DatePattern | None
    precision: str

    def value(self, schema: ConnectSchema, column: Column) -> Converted:
        """Convert values of a schema. A schema that is not a kind of time is an error even for nulls."""
        ms, problem = self._instant(schema, column)
        is_known = schema.name in _LOGICAL or schema.type in (SchemaType.STRING, SchemaType.INT64)
        wrong = column.isNotNull() & self._is_missing(ms) if is_known else F.lit(True)
        return Converted(self._as_target(ms), F.when(wrong, problem))

    def variant(self, value: Column) -> Converted:
        """Convert VARIANTs to VARIANTs; where Java would have a ``java.util.Date``, they hold a timestamp."""
        ms = by_kind(value, lambda schema: self._inferred(schema, value).ms)
        problem = by_kind(value, lambda schema: self._inferred(schema, value).problem)
        converted = self._as_target(ms)
        if self.target in ("Date", "Time"):
            of_day = F.pmod(ms, F.lit(DAY_MS))
            converted = _timestamp(of_day if self.target == "Time" else F.try_subtract(ms, of_day))
        return Converted(converted.cast("variant"), F.when(self._is_missing(ms), problem))

    def _inferred(self, schema: ConnectSchema, value: Column) -> _Instant:
        class_name = java_class(schema)
        if class_name in _INFERRED:
            return self._instant(schema, as_type(value, schema))
        return _none(F.lit(f"TimestampConverter does not support class {class_name} objects as timestamps"))

    def _instant(self, schema: ConnectSchema, column: Column) -> _Instant:
        if schema.name in _LOGICAL:
            return _instant_of_logical(schema, column)
        if schema.type is SchemaType.STRING:
            return self._instant_of_text(column)
        if schema.type is SchemaType.INT64:
            return _Instant(_ms_of_unix(column, self.precision), F.lit(_RANGE))
        shown = schema.type.name if schema.name is None else f"{schema.name}:{schema.type.name}"
        text = f"Schema Schema{{{shown}}} does not correspond to a known timestamp type format"
        return _none(with_exception_column(_CONNECT_EXCEPTION, text))

    def _instant_of_text(self, text: Column) -> _Instant:
        if self.pattern is None:
            return _none(with_exception_column(_NULL_POINTER, "TimestampConverter has no format to read texts with"))
        pattern = F.lit(f") does not match pattern ({self.pattern.text})")
        problem = F.concat(F.lit("Could not parse timestamp: value ("), text, pattern)
        return _none(problem) if self.pattern.unreadable else _Instant(read(self.pattern, text), problem)

    def _is_missing(self, ms: Column) -> Column:
        """Whether there can be no result; the range of Spark's timestamps is smaller than Java's."""
        return (ms if self.target in ("unix", "Time") else _timestamp(ms)).isNull()

    def _as_target(self, ms: Column) -> Column:
        match self.target:
            case "string":
                assert self.pattern is not None
                return written(self.pattern, _timestamp(ms))
            case "unix":
                return _unix_of_ms(ms, self.precision)
            case "Date":
                return _timestamp(ms).cast("date")
            case "Time":
                return F.pmod(ms, F.lit(DAY_MS)).cast("int")
            case _:
                return _timestamp(ms)


def _none(problem: Column) -> _Instant:
    return _Instant(F.lit(None).cast("bigint"), problem)


def _instant_of_logical(schema: ConnectSchema, column: Column) -> _Instant:
    match logical_name(schema):
        case name if name == TIMESTAMP:
            ms = F.unix_millis(column)
        case name if name == DATE:
            ms = F.unix_date(column).cast("bigint") * DAY_MS
        case name if name == TIME:
            ms = column.cast("bigint")
        case _:
            expected, actual = _LOGICAL[schema.name or ""], java_class(schema)
            return _none(F.lit(f"Expected {expected} to be a java.util.Date, but found class {actual}"))
    return _Instant(ms, F.lit(_RANGE))


def _ms_of_unix(unix: Column, precision: str) -> Column:
    match precision:
        case "seconds":
            return _times(unix, 1000)
        case "microseconds":
            return _divided(unix, 1000)
        case "nanoseconds":
            return _divided(unix, 1_000_000)
        case _:
            return unix


def _unix_of_ms(ms: Column, precision: str) -> Column:
    match precision:
        case "seconds":
            return _divided(ms, 1000)
        case "microseconds":
            return _times(ms, 1000)
        case "nanoseconds":
            return _times(ms, 1_000_000)
        case _:
            return ms


def _times(number: Column, factor: int) -> Column:
    """The product, or the closest LONG, as in Java's TimeUnit."""
    far = F.when(number > 0, F.lit(_LAST_LONG)).when(number < 0, F.lit(-_LAST_LONG - 1))
    return F.coalesce(F.try_multiply(number, F.lit(factor)), far)


def _divided(number: Column, divisor: int) -> Column:
    """The quotient, rounded towards zero."""
    return F.call_function("div", number, F.lit(divisor))


def _timestamp(ms: Column) -> Column:
    """TIMESTAMP; null where Spark's microseconds overflow."""
    return F.timestamp_micros(F.try_multiply(ms, F.lit(1000)))
