"""Reads columns of Arrow from parsed messages, field by field."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Context, Decimal
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.protobuf import fields, names
from airflow_kconnect.converters.protobuf.config import ProtobufSettings
from airflow_kconnect.converters.protobuf.pool import message_class
from airflow_kconnect.converters.types import MAX_PRECISION, arrow_type, decimal_scale, logical_name

if TYPE_CHECKING:
    import pyarrow as pa

Read = Callable[[list[Any]], "pa.Array"]
"""Makes a column of values as messages have them; None is null."""

_UNSIGNED = ("uint64", "fixed64")
SECONDS = (-62_135_596_800, 253_402_300_799)
"""Since the epoch, of the years 1 to 9999."""
_NANOS_MAX = 999_999_999
GLUE_DIGITS = 9
"""After the point of Amazon's decimals."""
_EXACT = Context(prec=MAX_PRECISION)


def column_reader(descriptor: Any, schema: ConnectSchema, settings: ProtobufSettings) -> Read:
    """Reads messages of a type.

    :param schema: of `connect_schema` for that type. What the reader raises for values that Connect or Spark does not
        have: `DataError`, ``ValueError``, ``ArithmeticError``.
    """
    if schema.type is SchemaType.STRUCT:
        return _struct(descriptor, schema, settings)
    return _unwrapped(descriptor.fields_by_name["value"], schema)


# Structs and unions


def _struct(descriptor: Any, schema: ConnectSchema, settings: ProtobufSettings) -> Read:
    type_, default = arrow_type(schema), message_class(descriptor)()
    unions = {fields.union_name(oneof, settings): oneof for oneof in fields.oneofs(descriptor)}
    readers: list[Read] = []
    for member in schema.fields:
        if not settings.flatten_unions and member.name in unions:
            readers.append(_union(unions[member.name], member.schema, settings))
        else:
            field = descriptor.fields_by_name[member.name]
            get, read = _getter(field, settings), _reader(field, member.schema, settings)
            readers.append(_of_field(get, read))

    def struct(messages: list[Any]) -> pa.Array:
        present = [default if message is None else message for message in messages]
        nulls = [message is None for message in messages]
        return _struct_array([read(present) for read in readers], type_, nulls)

    return struct


def _of_field(get: Callable[[list[Any]], list[Any]], read: Read) -> Read:
    return lambda messages: read(get(messages))


def _getter(field: Any, settings: ProtobufSettings) -> Callable[[list[Any]], list[Any]]:
    """Gets a field's values from messages."""
    name, get = field.name, attrgetter(field.name)
    if fields.oneof_of(field) or (not fields.is_repeated(field) and fields.is_nullable(field, settings)):
        return lambda messages: [get(message) if message.HasField(name) else None for message in messages]
    return lambda messages: list(map(get, messages))


def _union(oneof: Any, schema: ConnectSchema, settings: ProtobufSettings) -> Read:
    type_, name = arrow_type(schema), oneof.name
    members = [(field.name, attrgetter(field.name)) for field in oneof.fields]
    readers = [
        _reader(field, member.schema, settings) for field, member in zip(oneof.fields, schema.fields, strict=True)
    ]

    def union(messages: list[Any]) -> pa.Array:
        chosen = [message.WhichOneof(name) for message in messages]
        columns = []
        for (member, get), read in zip(members, readers, strict=True):
            columns.append(read([get(m) if c == member else None for m, c in zip(messages, chosen, strict=True)]))
        nulls = [choice is None and not settings.as_amazon for choice in chosen]
        return _struct_array(columns, type_, nulls)

    return union


def _struct_array(columns: list[pa.Array], type_: pa.DataType, nulls: list[bool]) -> pa.Array:
    import pyarrow as pa

    if not columns:
        return pa.array([None if null else {} for null in nulls], type_)
    mask = pa.array(nulls, pa.bool_()) if any(nulls) else None
    return pa.StructArray.from_arrays(columns, fields=list(type_), mask=mask)


# Fields


def _reader(field: Any, schema: ConnectSchema, settings: ProtobufSettings) -> Read:
    if schema.type is SchemaType.MAP:
        return _map(field, schema, settings)
    if schema.type is SchemaType.ARRAY and schema.value_schema is not None:
        return _array(_value(field, schema.value_schema, settings), schema)
    return _value(field, schema, settings)


def _value(field: Any, schema: ConnectSchema, settings: ProtobufSettings) -> Read:
    kind, logical = fields.kind(field), logical_name(schema)
    if kind == "message" and logical is not None:
        return _logical(field.message_type, logical, schema)
    if kind == "message" and schema.type is SchemaType.STRUCT:
        return _struct(field.message_type, schema, settings)
    if kind == "message":
        return _unwrapped(field.message_type.fields_by_name["value"], schema)
    if kind == "enum" and schema.type is SchemaType.STRING:
        return _enum_names(field.enum_type)
    return _primitive(kind, schema)


def _primitive(kind: str, schema: ConnectSchema) -> Read:
    import pyarrow as pa

    type_ = arrow_type(schema)
    if kind in _UNSIGNED:
        return lambda values: pa.array([v if v is None or v < 2**63 else v - 2**64 for v in values], type_)
    bits = {SchemaType.INT8: 8, SchemaType.INT16: 16}.get(schema.type)
    if bits is not None:
        # As in Java, the higher bits are lost.
        half, whole = 1 << (bits - 1), 1 << bits
        return lambda values: pa.array([None if v is None else (v + half) % whole - half for v in values], type_)
    return lambda values: pa.array(values, type_)


def _unwrapped(value: Any, schema: ConnectSchema) -> Read:
    """The values in wrapper messages.

    :param value: the field of the wrapper.
    """
    read = _primitive(fields.kind(value), schema)
    return lambda messages: read([None if message is None else message.value for message in messages])


def _enum_names(enum: Any) -> Read:
    import pyarrow as pa

    known = {number: value.name for number, value in enum.values_by_number.items()}

    def names_of(numbers: list[Any]) -> pa.Array:
        texts = [None if n is None else known.get(n) or f"UNKNOWN_ENUM_VALUE_{enum.name}_{n}" for n in numbers]
        return pa.array(texts, pa.string())

    return names_of


# Arrays and maps


def _array(read: Read, schema: ConnectSchema) -> Read:
    import pyarrow as pa

    type_ = arrow_type(schema)

    def array(values: list[Any]) -> pa.Array:
        items: list[Any] = []
        offsets = [0]
        for value in values:
            items.extend(value)
            offsets.append(len(items))
        return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), read(items), type=type_)

    return array


def _map(field: Any, schema: ConnectSchema, settings: ProtobufSettings) -> Read:
    import pyarrow as pa

    assert schema.key_schema is not None and schema.value_schema is not None
    type_, entry = arrow_type(schema), field.message_type
    key, value = entry.fields_by_name["key"], entry.fields_by_name["value"]
    read_keys, read_values = _value(key, schema.key_schema, settings), _value(value, schema.value_schema, settings)
    pairs = _pairs_of_map if fields.is_protobuf_map(field) else _pairs_of_entries(entry, settings)

    def map_(containers: list[Any]) -> pa.Array:
        keys: list[Any] = []
        values: list[Any] = []
        offsets = [0]
        for container in containers:
            entries = pairs(container)
            keys.extend(entries.keys())
            values.extend(entries.values())
            offsets.append(len(keys))
        if None in keys:
            raise DataError("A map has an entry without a key")
        return pa.MapArray.from_arrays(pa.array(offsets, pa.int32()), read_keys(keys), read_values(values), type=type_)

    return map_


def _pairs_of_map(container: Any) -> dict[Any, Any]:
    return {key: container[key] for key in container}


def _pairs_of_entries(entry: Any, settings: ProtobufSettings) -> Callable[[Any], dict[Any, Any]]:
    """Of repeated messages that look like a map's. As in Java, the last of equal keys wins."""
    keys = _getter(entry.fields_by_name["key"], settings)
    values = _getter(entry.fields_by_name["value"], settings)
    return lambda container: dict(zip(keys(container), values(container), strict=True))


# Messages of logical types


def _logical(descriptor: Any, name: str, schema: ConnectSchema) -> Read:
    import pyarrow as pa

    type_ = arrow_type(schema)
    simple: dict[str, Callable[[Any], Any]] = {TIMESTAMP: _timestamp, DATE: _date, TIME: _time}
    unscaled = _in_billionths if descriptor.full_name == names.GLUE_DECIMAL else _in_bytes
    convert = _decimals(decimal_scale(schema), unscaled) if name == DECIMAL else simple[name]
    return lambda messages: pa.array([None if message is None else convert(message) for message in messages], type_)


def _timestamp(message: Any) -> int:
    """Microseconds since the epoch; as in Connect, those of whole milliseconds."""
    seconds, nanos = message.seconds, message.nanos
    if not (SECONDS[0] <= seconds <= SECONDS[1] and 0 <= nanos <= _NANOS_MAX):
        raise DataError(f"Timestamp is not valid: {seconds} seconds, {nanos} nanos")
    return int(seconds * 1_000_000 + nanos // 1_000_000 * 1_000)


def _date(message: Any) -> date:
    try:
        return date(message.year, message.month, message.day)
    except (ValueError, OverflowError):
        raise DataError(
            f"{names.MESSAGES_OF_LOGICAL_TYPES[DATE]} is not a date: year {message.year}, month {message.month}, "
            f"day {message.day}"
        ) from None


def _time(message: Any) -> int:
    hours, minutes, seconds, nanos = message.hours, message.minutes, message.seconds, message.nanos
    valid = 0 <= hours < 24 and 0 <= minutes < 60 and 0 <= seconds < 60 and 0 <= nanos <= _NANOS_MAX
    if not valid:
        raise DataError(
            f"{names.MESSAGES_OF_LOGICAL_TYPES[TIME]} is not a time of day: {hours}:{minutes}:{seconds}, {nanos} nanos"
        )
    return int(((hours * 60 + minutes) * 60 + seconds) * 1_000 + nanos // 1_000_000)


def _decimals(scale: int, unscaled: Callable[[Any], tuple[int, int]]) -> Callable[[Any], Decimal]:
    return lambda message: _decimal(*unscaled(message), scale)


def _in_bytes(message: Any) -> tuple[int, int]:
    """Unscaled value and scale of a ``confluent.type.Decimal``."""
    return int.from_bytes(message.value, "big", signed=True), message.scale


def _in_billionths(message: Any) -> tuple[int, int]:
    """The same of an ``additionalTypes.Decimal``, whose own scale only says how many digits are to be shown."""
    return message.units * 10**GLUE_DIGITS + message.fraction, GLUE_DIGITS


def _decimal(unscaled: int, own_scale: int, scale: int) -> Decimal:
    """The value in the scale of the column; the message has a scale of its own."""
    shift = scale - own_scale
    if not unscaled:
        return Decimal((0, (0,), -scale))
    if abs(shift) > 2 * MAX_PRECISION:
        raise DataError(f"Decimal has scale {own_scale}, but the schema has {scale}")
    rescaled, rest = (unscaled * 10**shift, 0) if shift >= 0 else divmod(unscaled, 10**-shift)
    if rest:
        raise DataError(f"Decimal has scale {own_scale} and does not fit scale {scale} of the schema")
    digits = abs(rescaled)
    if digits >= 10**MAX_PRECISION:
        raise DataError(f"Decimal has more than {MAX_PRECISION} digits")
    return Decimal(rescaled).scaleb(-scale, _EXACT)
