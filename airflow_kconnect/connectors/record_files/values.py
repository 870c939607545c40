"""Values as the columns of a frame have them, and texts as values of a type; what does not fit is found by halves."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from airflow_kconnect.connect.errors import DataError

_QUOTED, ROW = 60, 2000
"""At most that many characters of a value, or of a row, are in a text: it is all that a dead letter has."""

Errors = dict[int, str]
"""By row: why it is bad."""


def fitted(values: pa.Array, type_: pa.DataType) -> pa.Array:
    """Values in the type of a frame's column, which can hold all of them; times lose what is below milliseconds.

    :raises DataError: one cannot be held after all.
    """
    if values.type == type_:
        return values
    if pa.types.is_dictionary(values.type):
        return fitted(values.dictionary_decode(), type_)
    if pa.types.is_time(values.type):
        units = 1 if values.type.unit in ("s", "ms") else 1000 if values.type.unit == "us" else 1_000_000
        whole = values.cast(pa.time32("ms")).cast(pa.int32()) if units == 1 else values.cast(pa.int64())
        return whole if units == 1 else pc.divide(whole, units).cast(pa.int32())
    if pa.types.is_struct(values.type) and pa.types.is_struct(type_):
        members = [fitted(values.field(n), type_.field(n).type) for n in range(type_.num_fields)]
        return pa.StructArray.from_arrays(members, fields=list(type_), mask=values.is_null())
    if pa.types.is_fixed_size_list(values.type):
        return fitted(values.cast(pa.list_(values.type.value_type)), type_)
    if pa.types.is_list(type_):
        ends = pc.cumulative_sum(pc.fill_null(pc.list_value_length(values), 0)).cast(pa.int32())
        offsets, items = pa.concat_arrays([pa.array([0], pa.int32()), ends]), fitted(values.flatten(), type_.value_type)
        return pa.ListArray.from_arrays(offsets, items, type=type_, mask=values.is_null())
    try:
        return values.cast(type_, safe=not pa.types.is_timestamp(values.type))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"a value of type {values.type} cannot be read as {type_}: {_first_line(error)}") from error


def isolated(
    values: pa.Array,
    parse: Callable[[pa.Array], pa.Array],
    type_: pa.DataType,
    why: Callable[[pa.Array, Exception], str],
) -> tuple[pa.Array, Errors]:
    """Parse all values at once; if that fails, in halves, until those that are bad are alone: they become null.

    :param why: what is wrong with the only value of an array, after an error.
    """
    try:
        return parse(values), {}
    except ValueError as error:  # Arrow's are some of these
        if len(values) == 1:
            return pa.nulls(1, type_), {0: why(values, error)}
    half = len(values) // 2
    first, errors = isolated(values[:half], parse, type_, why)
    second, more = isolated(values[half:], parse, type_, why)
    return pa.concat_arrays([first, second]), errors | {half + row: text for row, text in more.items()}


def parsed(
    texts: pa.Array, type_: pa.DataType, name: str, charset_key: str = "file.charset"
) -> tuple[pa.Array, Errors]:
    """Texts (BINARY, in UTF-8) as values of a type.

    :param name: of the column, for errors. :param charset_key: of the configuration, which says their encoding.
    """

    def parse(given: pa.Array) -> pa.Array:
        return typed(given.cast(pa.string()), type_)

    def why(given: pa.Array, error: Exception) -> str:
        return f"`{name}` is {quoted(given[0].as_py())}, expected {_called(type_, charset_key)}"

    return isolated(texts, parse, type_, why)


def typed(texts: pa.Array, type_: pa.DataType) -> pa.Array:
    """Texts as values of a type; what is of the type stays. :raises ValueError: one is none."""
    if texts.type == type_ or not pa.types.is_string(texts.type):
        return texts
    texts = pc.utf8_trim_whitespace(texts)
    texts = pc.if_else(pc.equal(texts, ""), None, texts)  # in quotes, where another program quotes all values
    if pa.types.is_timestamp(type_):
        return _instants(texts, type_)
    return _days(texts) if pa.types.is_date32(type_) else texts.cast(type_)


def _instants(texts: pa.Array, type_: pa.DataType) -> pa.Array:
    """With their zone, or in UTC."""
    try:
        return texts.cast(type_)
    except pa.ArrowInvalid:
        return texts.cast(pa.timestamp(type_.unit)).cast(type_)


def _days(texts: pa.Array) -> pa.Array:
    """Dates, or timestamps that are the beginning of a day."""
    try:
        return texts.cast(pa.date32())
    except pa.ArrowInvalid:
        instants = texts.cast(pa.timestamp("us"))
    days = instants.cast(pa.date32())
    if not days.cast(instants.type).equals(instants):
        raise ValueError("a timestamp is not the beginning of a day")
    return days


def quoted(value: bytes | str | None, most: int = _QUOTED) -> str:
    """A value for an error's text, cut if it is long."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return repr(text if len(text) <= most else f"{text[:most]}...")


def _called(type_: pa.DataType, charset_key: str) -> str:
    if pa.types.is_decimal(type_):
        return f"a decimal with at most {type_.scale} digits after the point"
    if pa.types.is_string(type_):
        return f"UTF-8 (see `{charset_key}`)"
    return {pa.timestamp("us", tz="UTC"): "a timestamp (ISO 8601)", pa.date32(): "a date (ISO 8601)"}.get(
        type_, str(type_)
    )


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
