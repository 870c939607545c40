"""JSON lines out of payloads that were parsed where they were read, by Arrow alone.

They are the lines of `rendering.json_lines`. A batch with anything that would differ is left to it as a whole.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, repeat
from typing import TYPE_CHECKING

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType, Shape
from airflow_kconnect.connectors.directory.json_text import escaped
from airflow_kconnect.connectors.file.pieces import (
    NeedsCatalystError,
    entries_of,
    joined,
    lists,
    milliseconds,
    nullable,
    or_catalyst,
)
from airflow_kconnect.connectors.file.plain_rendering import PlainRenderer, plain_schemas
from airflow_kconnect.converters.java_columns import double_texts, iso_dates, iso_instants
from airflow_kconnect.converters.types import is_misnamed, logical_name

if TYPE_CHECKING:
    import pyarrow as pa

    from airflow_kconnect.connectors.file.pieces import Pieces

_KEYS = (SchemaType.STRING, SchemaType.INT8, SchemaType.INT16, SchemaType.INT32, SchemaType.INT64)


class PlainJson(PlainRenderer):
    """See `PlainRenderer`."""

    def columns(self, schema: ConnectSchema | None, column: pa.Array) -> dict[str, pa.Array]:
        return {"string": column} if _is_string(schema) else {"line": _lines(schema, column)}


def plain_json(shapes: Sequence[Shape]) -> PlainJson | None:
    """The renderer for values of these shapes; None if Catalyst has to render them all."""
    schemas = plain_schemas(shapes, _is_plain)
    return PlainJson(schemas) if schemas else None


def _is_plain(schema: ConnectSchema) -> bool:
    """Whether Arrow can make the text of most values."""
    if is_misnamed(schema) or schema.type is SchemaType.FLOAT32:
        return False
    keys = schema.key_schema
    if keys is not None and (keys.type not in _KEYS or logical_name(keys) is not None):
        return False
    inner = [*(member.schema for member in schema.fields), schema.value_schema]
    return all(_is_plain(each) for each in inner if each is not None)


def _is_string(schema: ConnectSchema | None) -> bool:
    return schema is not None and schema.type is SchemaType.STRING


def _lines(schema: ConnectSchema | None, column: pa.Array) -> pa.Array:
    texts = column.fill_null("null") if schema is None else _or_null(schema, column)
    return joined([*([texts] if schema is None else texts), "\n"], len(column))


def _or_null(schema: ConnectSchema, column: pa.Array) -> Pieces:
    """The JSON of values and of nulls."""
    if not column.null_count:
        return _pieces(schema, column)
    return [nullable("", column, partial(_pieces, schema)).fill_null("null")]


def _pieces(schema: ConnectSchema, column: pa.Array) -> Pieces:
    """The JSON of each value.

    :param column: without nulls.
    :raises NeedsCatalystError: see there.
    """
    match schema.type:
        case SchemaType.STRUCT:
            return ["{", *chain.from_iterable(_members(schema, column)), "}"]
        case SchemaType.ARRAY if schema.value_schema is not None:
            items = column.flatten()
            return ["[", lists(column, joined(_or_null(schema.value_schema, items), len(items)), ","), "]"]
        case SchemaType.MAP:
            return ["{", lists(column, _entries(schema, column), ","), "}"]
        case SchemaType.STRING:
            return ['"', escaped(column), '"']
        case _:
            return _leaf(schema, column)


def _members(schema: ConnectSchema, column: pa.Array) -> Iterator[Pieces]:
    for before, member, values in zip(chain([""], repeat(",")), schema.fields, column.flatten(), strict=False):
        if values.null_count and (not member.schema.optional or member.schema.default is not None):
            raise NeedsCatalystError
        yield [f'{before}"{_name(member.name)}":', *_or_null(member.schema, values)]


def _name(text: str) -> str:
    import pyarrow as pa

    name: str = escaped(pa.array([text]))[0].as_py()
    return name


def _entries(schema: ConnectSchema, column: pa.Array) -> pa.Array:
    """The texts of the entries of all maps."""
    import pyarrow as pa

    assert schema.value_schema is not None
    keys, values = entries_of(column)
    return joined(['"', escaped(keys.cast(pa.string())), '":', *_or_null(schema.value_schema, values)], len(keys))


def _leaf(schema: ConnectSchema, column: pa.Array) -> Pieces:
    import pyarrow as pa

    match logical_name(schema):
        case name if name == DATE:
            return ['"', or_catalyst(iso_dates(milliseconds(schema, column))), '"']
        case name if name == TIMESTAMP:
            return ['"', or_catalyst(iso_instants(milliseconds(schema, column))), '"']
        case name if name in (TIME, DECIMAL):
            return [column.cast(pa.string())]
    if schema.type is SchemaType.BYTES:
        texts = [b2a_base64(data, newline=False) for data in column.to_pylist()]
        return ['"', pa.array(texts, pa.binary()).cast(pa.string()), '"']
    if schema.type is SchemaType.FLOAT64:
        return [_doubles(column)]
    return [column.cast(pa.string())]


def _doubles(column: pa.Array) -> pa.Array:
    import pyarrow.compute as pc

    if pc.all(pc.is_finite(column)).as_py() is False:
        raise NeedsCatalystError
    return or_catalyst(double_texts(column))
