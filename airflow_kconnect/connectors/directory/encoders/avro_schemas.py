"""The Avro schemas of container files: of columns, and of files that are there."""

from __future__ import annotations

from typing import BinaryIO

import pyarrow as pa

from airflow_kconnect.connect.data import DATE, DECIMAL, TIMESTAMP, ConnectSchema, Field, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.avro.config import AvroSettings
from airflow_kconnect.converters.avro.payloads.binding import bind
from airflow_kconnect.converters.avro.payloads.plans import Node
from airflow_kconnect.converters.avro.schemas import names
from airflow_kconnect.converters.avro.schemas.from_connect import avro_schema_text
from airflow_kconnect.converters.avro.schemas.parsing import parse_schema
from airflow_kconnect.converters.avro.schemas.to_connect import connect_schema
from airflow_kconnect.registry.schema import RegisteredSchema

_SETTINGS = AvroSettings(connect_meta_data=False)
_PLAIN = {
    pa.bool_(): SchemaType.BOOLEAN,
    pa.int8(): SchemaType.INT8,
    pa.int16(): SchemaType.INT16,
    pa.int32(): SchemaType.INT32,
    pa.int64(): SchemaType.INT64,
    pa.float32(): SchemaType.FLOAT32,
    pa.float64(): SchemaType.FLOAT64,
    pa.string(): SchemaType.STRING,
    pa.binary(): SchemaType.BYTES,
}


def container_schema(row: pa.DataType, name: str | None) -> tuple[str, Node]:
    """The text of the schema for rows of a type, and the plan by which they are written.

    :raises DataError: a member has a name that Avro does not allow.
    """
    schema = ConnectSchema(SchemaType.STRUCT, fields=_fields(row, ""), name=name)
    text = avro_schema_text(schema, _SETTINGS)
    return text, bind(schema, parse_schema(RegisteredSchema("AVRO", text)), _SETTINGS)


def schema_of_file(file: BinaryIO) -> ConnectSchema:
    """The schema that a container file says it has.

    :raises ValueError: it is none.
    """
    if file.read(4) != b"Obj\x01":
        raise ValueError("it does not begin as one")
    found: dict[bytes, bytes] = {}
    while count := _read_long(file):
        if count < 0:
            count, _ = -count, _read_long(file)
        for _ in range(count):
            key = _read_sized(file)
            found[key] = _read_sized(file)
    if b"avro.schema" not in found:
        raise ValueError("it has no schema")
    try:
        document = parse_schema(RegisteredSchema("AVRO", found[b"avro.schema"].decode()))
        return connect_schema(document.root, _SETTINGS)
    except DataError as error:
        raise ValueError(str(error)) from error


def _fields(row: pa.DataType, path: str) -> tuple[Field, ...]:
    return tuple(Field(each.name, _schema(each.type, _path(path, each.name))) for each in row)


def _path(path: str, name: str) -> str:
    if not names.is_valid_name(name):
        raise DataError(
            f"field `{name}` has a name that Avro does not allow: rename it with ReplaceField, or write another format"
        )
    return f"{path}.{name}" if path else name


def _schema(type_: pa.DataType, path: str, *, optional: bool = True) -> ConnectSchema:
    if pa.types.is_struct(type_):
        return ConnectSchema(SchemaType.STRUCT, optional, fields=_fields(type_, path))
    if pa.types.is_list(type_):
        return ConnectSchema(SchemaType.ARRAY, optional, value_schema=_schema(type_.value_type, f"{path}.element"))
    if pa.types.is_map(type_):
        keys = _schema(type_.key_type, f"{path}.key", optional=False)
        # Without a name, all maps whose keys are not texts would have entries of one name.
        name = None if keys.type is SchemaType.STRING else f"{names.NAMESPACE}.{path}.{names.MAP_ENTRY}"
        values = _schema(type_.item_type, f"{path}.value")
        return ConnectSchema(SchemaType.MAP, optional, key_schema=keys, value_schema=values, name=name)
    if pa.types.is_decimal128(type_):
        digits = {"scale": str(type_.scale), names.PRECISION: str(type_.precision)}
        return ConnectSchema(SchemaType.BYTES, optional, name=DECIMAL, parameters=digits)
    if pa.types.is_date32(type_):
        return ConnectSchema(SchemaType.INT32, optional, name=DATE)
    if pa.types.is_timestamp(type_) and type_.unit == "us":
        return ConnectSchema(SchemaType.INT64, optional, name=TIMESTAMP)
    if type_ not in _PLAIN:
        raise DataError(f"field `{path}` is {type_}, for which Avro has no type: write another format")
    return ConnectSchema(_PLAIN[type_], optional)


def _read_long(file: BinaryIO) -> int:
    number, shift = 0, 0
    while True:
        byte = file.read(1)
        if not byte or shift > 63:
            raise ValueError("it ends in its header")
        number |= (byte[0] & 0x7F) << shift
        shift += 7
        if byte[0] < 0x80:
            return (number >> 1) ^ -(number & 1)


def _read_sized(file: BinaryIO) -> bytes:
    size = _read_long(file)
    data = file.read(max(size, 0))
    if len(data) != size:
        raise ValueError("it ends in its header")
    return data
