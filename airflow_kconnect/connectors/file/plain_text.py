"""Lines of text out of payloads that were parsed where they were read, by Arrow alone.

They are the lines of `text.text_lines`. A batch with anything that would differ is left to it as a whole.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType, Shape
from airflow_kconnect.connectors.file.output import text_buffer
from airflow_kconnect.connectors.file.pieces import (
    LONGEST,
    NeedsCatalystError,
    entries_of,
    joined,
    lists,
    milliseconds,
    nullable,
    or_catalyst,
)
from airflow_kconnect.connectors.file.plain_rendering import PlainRenderer, plain_schemas
from airflow_kconnect.converters.java_columns import date_texts, double_texts
from airflow_kconnect.converters.types import is_misnamed

if TYPE_CHECKING:
    import pyarrow as pa

    from airflow_kconnect.connectors.file.pieces import Pieces


class PlainText(PlainRenderer):
    """See `PlainRenderer`."""

    def columns(self, schema: ConnectSchema | None, column: pa.Array) -> dict[str, pa.Array]:
        texts = _schemaless(column) if schema is None else _or_null(schema, column)
        return {"line": joined([*texts, "\n"], len(column))}


def plain_text(shapes: Sequence[Shape]) -> PlainText | None:
    """The renderer for values of these shapes; None if Catalyst has to render them all."""
    schemas = plain_schemas(shapes, _is_plain)
    return PlainText(schemas) if schemas else None


def _is_plain(schema: ConnectSchema) -> bool:
    """Whether Arrow can make the text of most values."""
    if is_misnamed(schema) or schema.type is SchemaType.FLOAT32:
        return False
    inner = [*(member.schema for member in schema.fields), schema.key_schema, schema.value_schema]
    return all(_is_plain(each) for each in inner if each is not None)


def _or_null(schema: ConnectSchema, column: pa.Array) -> Pieces:
    return [_item(schema, column)] if column.null_count else _pieces(schema, column)


def _schemaless(column: pa.Array) -> Pieces:
    """Objects and lists are JSON; texts are what is in the quotes.

    :param column: JSON. :raises NeedsCatalystError: there are texts with escapes, or other values.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    given = column.drop_null()
    if pc.all(pc.match_substring_regex(given, r"^[{\[n]")).as_py() is not False:
        return [column.fill_null("null")]
    if column.null_count or not pc.all(pc.starts_with(given, '"')).as_py() or b"\\" in text_buffer(given).tobytes():
        raise NeedsCatalystError
    return [pc.binary_slice(column.view(pa.binary()), 1, -1).view(pa.string())]


def _pieces(schema: ConnectSchema, column: pa.Array) -> Pieces:
    """The text of each value.

    :param column: without nulls.
    :raises NeedsCatalystError: see there.
    """
    match schema.type:
        case SchemaType.STRUCT:
            return ["Struct{", *_members(schema, column), "}"]
        case SchemaType.ARRAY:
            return ["[", lists(column, _item(schema.value_schema, column.flatten()), ", "), "]"]
        case SchemaType.MAP:
            return ["{", lists(column, _entries(schema, column), ", "), "}"]
        case _:
            return [_leaf(schema, column)]


def _members(schema: ConnectSchema, column: pa.Array) -> Pieces:
    """The members of structs that have a value, with commas in between."""
    uncertain: Pieces = []  # members before the first that all structs have: any of them may come first
    certain: Pieces = []
    for member, values in zip(schema.fields, column.flatten(), strict=True):
        if values.null_count and (not member.schema.optional or member.schema.default is not None):
            raise NeedsCatalystError
        prefix = f",{member.name}="
        if values.null_count:
            texts = nullable(prefix, values, partial(_pieces, member.schema)).fill_null("")
            (certain or uncertain).append(texts)
        else:
            certain += [prefix, *_pieces(member.schema, values)]
    return _without_first_comma(uncertain, certain, len(column))


def _without_first_comma(uncertain: Pieces, certain: Pieces, count: int) -> Pieces:
    import pyarrow as pa
    import pyarrow.compute as pc

    if uncertain:
        texts = joined(uncertain, count)
        commas = pc.if_else(pc.equal(pc.binary_length(texts), 0), "", ",")
        uncertain = [
            pc.binary_slice(texts.view(pa.binary()), 1, LONGEST).view(pa.string()),
            *([commas] if certain else []),
        ]
    return [*uncertain, *(str(piece).removeprefix(",") for piece in certain[:1]), *certain[1:]]


def _item(schema: ConnectSchema | None, column: pa.Array) -> pa.Array:
    """The texts of what is in lists or maps; null is ``null``."""
    assert schema is not None
    return nullable("", column, partial(_pieces, schema)).fill_null("null")


def _entries(schema: ConnectSchema, column: pa.Array) -> pa.Array:
    """The texts of the entries of all maps."""
    keys, values = entries_of(column)
    return joined([_item(schema.key_schema, keys), "=", _item(schema.value_schema, values)], len(keys))


def _leaf(schema: ConnectSchema, column: pa.Array) -> pa.Array:
    import pyarrow as pa

    if schema.name in (DATE, TIME, TIMESTAMP):
        return or_catalyst(date_texts(milliseconds(schema, column) // 1000))
    if schema.type is SchemaType.FLOAT64:
        return or_catalyst(double_texts(column))
    if schema.type is SchemaType.BYTES and schema.name != DECIMAL:
        return pa.array([b2a_base64(data, newline=False) for data in column.to_pylist()], pa.binary()).cast(pa.string())
    return column.cast(pa.string())
