"""Lines of PostgreSQL's COPY: what they say is what the columns hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connectors.jdbc.databases.postgresql.lines import Lines

_DAY_US = 86_400_000_000
_ESCAPED = {"\\": "\\", "n": "\n", "r": "\r", "t": "\t"}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_escapes = st.text(st.sampled_from("\\\n\r\tNn\"'.{},x;ü"), max_size=8)


def batch(*columns: pa.Array, **more: pa.Array) -> pa.RecordBatch:
    """Rows of part 0 at offsets from 100."""
    cells = {f"cell_0_{n}": column for n, column in enumerate(columns)}
    return pa.record_batch({**cells, **more, "kafka_offset": pa.array(range(100, 100 + len(columns[0])), pa.int64())})


def texts(column: pa.Array, **more: pa.Array) -> list[str | None]:
    """What COPY reads from the lines of a column."""
    lines = Lines.of(batch(column, **more), 0, 1).texts.to_pylist()
    assert all(line.endswith("\n") for line in lines)
    return [_unescaped(line[:-1]) for line in lines]


def _unescaped(cell: str) -> str | None:
    """As https://www.postgresql.org/docs/current/sql-copy.html has it."""
    assert not {"\n", "\r", "\t"} & set(cell)
    if cell == "\\N":
        return None
    chars, text = iter(cell), ""
    for char in chars:
        text += _ESCAPED[next(chars)] if char == "\\" else char
    return text


def moment_text(year: int, rest: str, after: str = "") -> str:
    return f"{year:04}-{rest}{after}" if year > 0 else f"{1 - year:04}-{rest}{after} BC"


def since_year(value: datetime) -> str:
    """Month to second; a fraction without zeros at its end."""
    return f"{value:%m-%d %H:%M:%S}" + f".{value.microsecond:06}".rstrip("0").rstrip(".")


@given(st.lists(st.none() | _texts | _escapes, min_size=1))
def test_texts(values: list[str | None]) -> None:
    assert texts(pa.array(values, pa.string())) == values


@pytest.mark.parametrize("type_", [pa.string(), pa.large_string()], ids=str)
def test_texts_that_are_parts_of_a_larger_column(type_: pa.DataType) -> None:
    column = pa.array(["a\tb", "plain", None, "", "\\N", "z"], type_).slice(1, 4)
    assert texts(column) == ["plain", None, "", "\\N"]


@pytest.mark.parametrize(
    ("type_", "values", "read"),
    [
        (pa.int8(), [0, -128, None, 127], int),
        (pa.int64(), [-(2**63), None, 2**63 - 1], int),
        (pa.bool_(), [True, False, None], {"true": True, "false": False}.get),
        (pa.decimal128(38, 6), [Decimal("-0.000001"), None, Decimal(10) ** 31], Decimal),
    ],
    ids=["byte", "long", "boolean", "decimal"],
)
def test_numbers(type_: pa.DataType, values: list[Any], read: Callable[[str], Any]) -> None:
    written = [None if text is None else read(text) for text in texts(pa.array(values, type_))]
    assert written == values


@given(st.lists(st.none() | st.floats(), min_size=1))
def test_doubles(values: list[float | None]) -> None:
    written = [None if text is None else float(text) for text in texts(pa.array(values, pa.float64()))]
    assert str([_bits(value) for value in written]) == str([_bits(value) for value in values])


@given(st.lists(st.none() | st.floats(width=32), min_size=1))
def test_floats(values: list[float | None]) -> None:
    shortest = [None if text is None else float(text) for text in texts(pa.array(values, pa.float32()))]
    written = pa.array(shortest, pa.float32()).to_pylist()
    assert str([_bits(value) for value in written]) == str([_bits(value) for value in values])


def _bits(value: float | None) -> Any:
    """NaN is itself, and -0.0 is another number than 0.0."""
    return value if value is None or math.isnan(value) else (value, math.copysign(1, value))


@given(st.lists(st.none() | st.datetimes(timezones=st.just(UTC)), min_size=1))
def test_timestamps_of_four_digit_years(values: list[datetime | None]) -> None:
    expected = [value and moment_text(value.year, since_year(value), "+00") for value in values]
    assert texts(pa.array(values, pa.timestamp("us", "UTC"))) == expected


@given(st.lists(st.none() | st.dates(), min_size=1))
def test_dates_of_four_digit_years(values: list[date | None]) -> None:
    assert texts(pa.array(values, pa.date32())) == [
        value and moment_text(value.year, f"{value:%m-%d}") for value in values
    ]


@given(st.integers(-14, 720), st.datetimes(datetime(2000, 1, 1), datetime(2399, 12, 31)))
def test_timestamps_of_all_years(cycles: int, moment: datetime) -> None:
    """The calendar repeats every 400 years."""
    micros = (moment.replace(tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1) + cycles * 146_097 * _DAY_US
    year = moment.year + 400 * cycles
    column = pa.array([micros, None, 0], pa.timestamp("us", "UTC"))
    assert texts(column) == [
        moment_text(year, since_year(moment), "+00"),
        None,
        "1970-01-01 00:00:00+00",
    ]


@given(st.integers(-14, 5_000), st.dates(date(2000, 1, 1), date(2399, 12, 31)))
def test_dates_of_all_years(cycles: int, day: date) -> None:
    days = (day - date(1970, 1, 1)).days + cycles * 146_097
    assert texts(pa.array([days], pa.int32()).cast(pa.date32())) == [
        moment_text(day.year + 400 * cycles, f"{day:%m-%d}")
    ]


def test_moments_of_other_zones_have_their_offset() -> None:
    column = pa.array([0, -62_167_219_200_000_000], pa.timestamp("us", "UTC"))
    offsets = pa.array(["+01:00:00", "-00:30:12"])
    assert texts(column, offset_0_0=offsets) == [
        "1970-01-01 00:00:00+01:00:00",
        "0001-01-01 00:00:00-00:30:12 BC",
    ]


def test_columns_of_nothing_but_nulls() -> None:
    columns = [pa.nulls(2, type_) for type_ in (pa.string(), pa.timestamp("us", "UTC"), pa.date32(), pa.float64())]
    assert Lines.of(batch(*columns), 0, 4).texts.to_pylist() == ["\\N\t\\N\t\\N\t\\N\n"] * 2


def test_marked_lines_begin_with_offset_and_operation() -> None:
    lines = Lines.of(batch(pa.array([7, 8])), 0, 1)
    assert lines.marked().to_pylist() == ["100\tu\t7\n", "101\tu\t8\n"]


def test_deletions_are_marked() -> None:
    lines = Lines.of(batch(pa.array([7, 8]), deleted=pa.array([False, True])), 0, 1)
    assert lines.slice(1).marked().to_pylist() == ["101\td\t8\n"]


def test_size_is_that_of_the_slice() -> None:
    assert Lines.of(batch(pa.array(["ab", "c", "d"])), 0, 1).slice(1, 2).size == 4
