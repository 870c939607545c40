"""Writes batches of data as JSON texts, column by column: what `write` writes one by one, in a part of the time."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.data import DATE, DECIMAL, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.converters.floats import float_text, single_of
from airflow_kconnect.converters.json.values import DAY_MS, NUMERIC
from airflow_kconnect.converters.json_schema import names
from airflow_kconnect.converters.json_schema.config import JsonSchemaSettings
from airflow_kconnect.converters.json_schema.write import NOTHING, Write, member_writer, writer
from airflow_kconnect.converters.registered.numbers import decimal_column
from airflow_kconnect.converters.registered.slices import entries_of, list_offsets
from airflow_kconnect.converters.types import is_misnamed, logical_name
from airflow_kconnect.java_text.json import canonical_json

if TYPE_CHECKING:
    import pyarrow as pa

_ESCAPED = r'[\x00-\x1f"\\\x{10000}-\x{10FFFF}]'
_INTEGERS = (SchemaType.INT8, SchemaType.INT16, SchemaType.INT32, SchemaType.INT64)


class _Unsure(Exception):
    """A value that has to be looked at alone."""


def write_columns(schema: ConnectSchema, data: pa.Array, settings: JsonSchemaSettings) -> pa.Array | None:
    """The payloads (BINARY) of data; None if there is data that `write` may refuse or that it writes differently.

    :param data: in the `arrow_type` of the schema.
    """
    import pyarrow as pa

    if not _is_known(schema):
        return None
    try:
        texts = _texts(schema, data, settings)
    except (_Unsure, ValueError, OverflowError):  # also Arrow's errors
        return None
    return None if texts.null_count else texts.cast(pa.binary())


def _is_known(schema: ConnectSchema) -> bool:
    inner = [member.schema for member in schema.fields]
    inner += [part for part in (schema.key_schema, schema.value_schema) if part is not None]
    return not (is_misnamed(schema) or names.is_union(schema)) and all(map(_is_known, inner))


def _texts(
    schema: ConnectSchema,
    column: pa.Array,
    settings: JsonSchemaSettings,
    of: Callable[[ConnectSchema, JsonSchemaSettings], Write] = writer,
) -> pa.Array:
    """The JSON texts (STRING) of a column; null where a value is left out.

    :param of: what would write the values one by one.
    """
    import pyarrow.compute as pc

    texts = _of_values(schema, column, settings)
    if not column.null_count:
        return texts
    null = of(schema, settings)(None)
    texts = pc.if_else(column.is_valid(), texts, None)
    return texts if null is NOTHING else pc.fill_null(texts, canonical_json(null))


def _of_values(schema: ConnectSchema, column: pa.Array, settings: JsonSchemaSettings) -> pa.Array:
    """The texts; what is in rows without a value does not matter."""
    import pyarrow as pa

    name = logical_name(schema)
    if name is not None:
        return _logical(name, column, settings)
    match schema.type:
        case SchemaType.STRUCT:
            return _struct(schema, column, settings)
        case SchemaType.ARRAY:
            assert schema.value_schema is not None
            return _lists(column, _inner(schema.value_schema, column.flatten(), settings), "[", "]")
        case SchemaType.MAP:
            return _map(schema, column, settings)
        case SchemaType.STRING:
            return _strings(column)
        case SchemaType.BYTES:
            return _each(column, _base64)
        case SchemaType.FLOAT32:
            return _each(column, lambda value: _double(single_of(value), single=True))
        case SchemaType.FLOAT64:
            return _each(column, lambda value: _double(value, single=False))
    assert schema.type in (*_INTEGERS, SchemaType.BOOLEAN)
    return column.cast(pa.string())


def _each(column: pa.Array, text: Callable[[Any], str]) -> pa.Array:
    import pyarrow as pa

    return pa.array([None if value is None else text(value) for value in column.to_pylist()], pa.string())


def _base64(data: bytes) -> str:
    return f'"{base64.b64encode(data).decode()}"'


def _double(value: float, *, single: bool) -> str:
    if 1e-3 <= abs(value) < 1e7:
        return repr(value)
    return canonical_json(value) if math.isfinite(value) else f'"{float_text(value, single=single)}"'


def _strings(column: pa.Array) -> pa.Array:
    import pyarrow.compute as pc

    special = pc.fill_null(pc.match_substring_regex(column, _ESCAPED), False)
    quoted = _joined('"', column, '"')
    if not pc.any(special).as_py():
        return quoted
    return pc.replace_with_mask(quoted, special, _each(column.filter(special), canonical_json))


# Logical types


def _logical(name: str, column: pa.Array, settings: JsonSchemaSettings) -> pa.Array:
    import pyarrow as pa
    import pyarrow.compute as pc

    if name == DECIMAL:
        return _each(column, str) if settings.decimal_format == NUMERIC else _each(decimal_column(column), _base64)
    if name == DATE:
        return column.cast(pa.int32()).cast(pa.string())
    if name == TIMESTAMP:
        return _millis(column.cast(pa.int64())).cast(pa.string())
    if pc.any(pc.or_(pc.less(column, 0), pc.greater_equal(column, DAY_MS))).as_py():
        raise _Unsure
    return column.cast(pa.string())


def _millis(micros: pa.Array) -> pa.Array:
    """Of microseconds, rounded down."""
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = pc.fill_null(micros, 0).to_numpy() // 1000
    return pc.if_else(micros.is_valid(), pa.array(numbers), None)


# Structs, arrays and maps


def _struct(schema: ConnectSchema, column: pa.Array, settings: JsonSchemaSettings) -> pa.Array:
    import pyarrow.compute as pc

    members = zip(schema.fields, column.flatten(), strict=True)
    texts = [
        (canonical_json(member.name), _texts(member.schema, values, settings, member_writer))
        for member, values in members
    ]
    if not any(values.null_count for _, values in texts):
        parts: list[Any] = ["{"]
        for number, (name, values) in enumerate(texts):
            parts += [f"{',' if number else ''}{name}:", values]
        return _repeated(len(column), _joined(*parts, "}"))
    # Some are left out, and with them their commas.
    named = [pc.fill_null(_joined(f",{name}:", values), "") for name, values in texts]
    return _joined("{", pc.utf8_slice_codeunits(_joined(*named), 1), "}")


def _repeated(count: int, texts: Any) -> pa.Array:
    """Texts as a column, also if a struct has no members."""
    import pyarrow as pa

    return pa.array([texts.as_py()] * count, pa.string()) if isinstance(texts, pa.Scalar) else texts


def _joined(*parts: Any) -> Any:
    """The texts of columns and constants in each row; null where one is null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    return pc.binary_join_element_wise(*(pa.scalar(p) if isinstance(p, str) else p for p in parts), pa.scalar(""))


def _inner(schema: ConnectSchema, column: pa.Array, settings: JsonSchemaSettings) -> pa.Array:
    """Of elements and entries, which cannot be left out."""
    import pyarrow.compute as pc

    return pc.fill_null(_texts(schema, column, settings), "null")


def _lists(column: pa.Array, items: pa.Array, start: str, end: str) -> pa.Array:
    """The texts of lists, from those of their flattened items."""
    import pyarrow as pa
    import pyarrow.compute as pc

    offsets = pa.array(list_offsets(column), pa.int32())
    return _joined(start, pc.binary_join(pa.ListArray.from_arrays(offsets, items), ","), end)


def _map(schema: ConnectSchema, column: pa.Array, settings: JsonSchemaSettings) -> pa.Array:
    assert schema.key_schema is not None and schema.value_schema is not None
    lists, keys, values = entries_of(column)
    key_texts, value_texts = _inner(schema.key_schema, keys, settings), _inner(schema.value_schema, values, settings)
    if names.has_string_keys(schema):
        return _lists(lists, _joined(key_texts, ":", value_texts), "{", "}")
    parts = (f'{{"{names.KEY}":', key_texts, f',"{names.VALUE}":', value_texts, "}")
    return _lists(lists, _joined(*parts), "[", "]")
