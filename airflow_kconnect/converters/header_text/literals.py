"""Numbers and instants in the text of header values, as in ``org.apache.kafka.connect.data.Values``."""

from __future__ import annotations

import math
import re
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from airflow_kconnect.connect.data import (
    DATE,
    DATE_SCHEMA,
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    TIME,
    TIME_SCHEMA,
    TIMESTAMP,
    TIMESTAMP_SCHEMA,
    ConnectSchema,
    SchemaType,
    decimal_schema,
)
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.floats import single_of
from airflow_kconnect.converters.json.values import DAY_MS, EPOCH
from airflow_kconnect.converters.types import logical_name

Typed = tuple[ConnectSchema, Any]

FLOAT32_SCHEMA = ConnectSchema(SchemaType.FLOAT32)

_INTEGERS = (
    (8, ConnectSchema(SchemaType.INT8)),
    (16, ConnectSchema(SchemaType.INT16)),
    (32, INT32_SCHEMA),
    (64, INT64_SCHEMA),
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,9})?")
# SimpleDateFormat is lenient: fields may have any width, and what follows them is ignored.
_FIELD = r"[ \t]*(-?\d+)"
_DATE = rf"{_FIELD}-{_FIELD}-{_FIELD}"
_TIME = rf"{_FIELD}:{_FIELD}:{_FIELD}\.{_FIELD}Z"
_TEMPORALS = {
    len("yyyy-MM-dd"): (DATE_SCHEMA, re.compile(_DATE)),
    len("HH:mm:ss.SSSZ"): (TIME_SCHEMA, re.compile(_TIME)),
    len("yyyy-MM-ddTHH:mm:ss.SSSZ"): (TIMESTAMP_SCHEMA, re.compile(f"{_DATE}T{_TIME}")),
}


def number_of(text: str) -> Typed | None:
    """A number of the narrowest type, or None: integers by their value, others FLOAT32 unless that overflows."""
    if not _NUMBER.fullmatch(text):
        return None
    number = Decimal(text)
    if number == 0 or (1 <= number.copy_abs() <= Decimal("1e19") and number == number.to_integral_value()):
        for bits, schema in _INTEGERS:
            if -(1 << bits - 1) <= number < 1 << bits - 1:
                return schema, int(number)
    exponent = number.as_tuple().exponent
    single, double = single_of(float(number)), float(number)
    if exponent != 0 and math.isfinite(double):
        return (FLOAT32_SCHEMA, single) if math.isfinite(single) else (FLOAT64_SCHEMA, double)
    return decimal_schema(-int(exponent)), number


def temporal_of(text: str) -> Typed | None:
    """A date, time or timestamp, or None; its length decides which one."""
    text = text.replace("\\:", ":")
    schema, pattern = _TEMPORALS.get(len(text), (None, None))
    match = pattern.match(text) if pattern else None
    if schema is None or match is None:
        return None
    fields = [int(field) for field in match.groups()]
    clock = 0 if schema is DATE_SCHEMA else _milliseconds_of_day(*fields[-4:])
    try:
        days = 0 if schema is TIME_SCHEMA else (_lenient_date(*fields[:3]) - EPOCH.date()).days
        return schema, of_milliseconds(schema, days * DAY_MS + clock)
    except (OverflowError, ValueError):
        return None


def _milliseconds_of_day(hours: int, minutes: int, seconds: int, ms: int) -> int:
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms


def _lenient_date(year: int, month: int, day: int) -> date:
    carry, index = divmod(month - 1, 12)
    return date(year + carry, index + 1, 1) + timedelta(days=day - 1)


def of_milliseconds(schema: ConnectSchema, ms: int) -> Any:
    """The value of a Date, Time or Timestamp schema. :raises OverflowError: the date is outside of Python's range."""
    match schema.name:
        case name if name == DATE:
            return EPOCH.date() + timedelta(days=ms // DAY_MS)
        case name if name == TIMESTAMP:
            return EPOCH + timedelta(milliseconds=ms)
        case _:
            return ms


def milliseconds(schema: ConnectSchema | None, value: Any) -> int | None:
    """The instant of a value, by its schema or else by its Python type; None if it is not an instant.

    :raises DataError: it has no time zone.
    """
    match value:
        case datetime() if value.tzinfo is None:
            raise DataError(f"A timestamp without time zone: {value}")
        case datetime():
            return (value - EPOCH) // timedelta(milliseconds=1)
        case date():
            return (value - EPOCH.date()).days * DAY_MS
        case int() if schema is not None and logical_name(schema) == TIME:
            return value
        case _:
            return None


def temporal_text(ms: int) -> str:
    """Connect looks at the instant, not at the schema: anything before the second day is a time."""
    instant = EPOCH + timedelta(milliseconds=ms)
    time = f"{instant:%H:%M:%S}.{ms % 1000:03}Z"
    if ms < DAY_MS:
        return time
    return f"{instant:%Y-%m-%d}" if ms % DAY_MS == 0 else f"{instant:%Y-%m-%d}T{time}"
