"""Avro files with the schemas of records, as Connect has them; and the schema of several shapes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa

from airflow_kconnect.connect.data import ConnectSchema, Field, SchemaType, Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.directory.encoders.avro import CODECS, AvroEncoder
from airflow_kconnect.converters.avro.config import AvroSettings
from airflow_kconnect.converters.avro.payloads.binding import bind
from airflow_kconnect.converters.avro.schemas.from_connect import avro_schema_text
from airflow_kconnect.converters.avro.schemas.parsing import parse_schema
from airflow_kconnect.places.base import Output
from airflow_kconnect.registry.schema import RegisteredSchema

_CODECS = {theirs: ours for ours, theirs in CODECS.items()}
_TEXT = ConnectSchema(SchemaType.STRING, optional=True)
_WIDTHS = (SchemaType.INT8, SchemaType.INT16, SchemaType.INT32, SchemaType.INT64)
_FLOATS = (SchemaType.FLOAT32, SchemaType.FLOAT64)


class AvroRows:
    """Writes structs as records; of a schema that is none, their only member. What is kept is less than a block."""

    def __init__(self, file: Output, schema: ConnectSchema, codec: str) -> None:
        settings = AvroSettings()
        text = avro_schema_text(schema, settings)
        plan = bind(schema, parse_schema(RegisteredSchema("AVRO", text)), settings)
        self._encoder = AvroEncoder(file, _CODECS[codec], made=(text, plan))
        self._is_record = schema.type is SchemaType.STRUCT

    def write(self, rows: pa.Array) -> None:
        self._encoder.write(rows if self._is_record else rows.field(0))

    def finish(self) -> None:
        self._encoder.finish()


def schema_of(shapes: Sequence[Shape], *, alone: str, may_be_null: bool) -> ConnectSchema:
    """The schema that holds the values of all shapes: of structs that with the fields of all.

    :param alone: the field of other values among structs.
    :param may_be_null: there may be no data, whatever the shapes say.
    :raises DataError: there is none.
    """
    schemas = [shape.schema or _TEXT for shape in shapes] or [_TEXT]
    records = [schema for schema in schemas if schema.type is SchemaType.STRUCT]
    if records:
        # In the order of shapes: columns and fields belong together by their places.
        schemas = [schema if schema in records else _around(schema, alone, records[0]) for schema in schemas]
    found = _united(schemas, f"the {alone}", "")
    if not may_be_null:
        return found
    if found.type is SchemaType.STRUCT:
        return replace(found, fields=tuple(Field(each.name, each.schema.as_optional()) for each in found.fields))
    return found.as_optional()


def _around(schema: ConnectSchema, name: str, record: ConnectSchema) -> ConnectSchema:
    return replace(record, fields=(Field(name, schema.as_optional()),))


def _united(schemas: Sequence[ConnectSchema], what: str, path: str) -> ConnectSchema:
    """:param path: names of fields that lead to them."""
    first = schemas[-1]
    if all(schema == first for schema in schemas):
        return first
    optional = any(schema.optional for schema in schemas)
    if all(schema.type is SchemaType.STRUCT for schema in schemas):
        return replace(first, fields=_members(schemas, what, path), optional=optional)
    for widths in (_WIDTHS, _FLOATS):
        if all(schema.type in widths and schema.name is None for schema in schemas):
            widest = max(schemas, key=lambda schema: widths.index(schema.type))
            return replace(widest, optional=optional, default=None)
    inner = first.value_schema
    same = all(replace(schema, optional=optional, default=None, value_schema=None) ==
               replace(first, optional=optional, default=None, value_schema=None) for schema in schemas)  # fmt: skip
    if not same:
        kinds = ", ".join(sorted({schema.name or schema.type for schema in schemas}))
        where = f"field `{path}` of {what}" if path else what
        raise DataError(
            f"{where} is {kinds} in different records, which one Avro file cannot hold: set `format.class` to "
            "JsonFormat, or cast it with a transformation"
        )
    if inner is not None:
        inner = _united([schema.value_schema for schema in schemas if schema.value_schema is not None], what, path)
    return replace(first, optional=optional, default=None, value_schema=inner)


def _members(schemas: Sequence[ConnectSchema], what: str, path: str) -> tuple[Field, ...]:
    names = dict.fromkeys(field.name for schema in schemas for field in schema.fields)
    members = []
    for name in names:
        found = [field.schema for schema in schemas if (field := schema.field(name)) is not None]
        member = _united(found, what, f"{path}.{name}" if path else name)
        members.append(Field(name, member if len(found) == len(schemas) else replace(member, optional=True)))
    return tuple(members)
