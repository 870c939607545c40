"""Writes columns of Arrow into messages, field by field."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, ConnectSchema, Field, SchemaType
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.json.values import DAY_MS
from airflow_kconnect.converters.protobuf import fields, names
from airflow_kconnect.converters.protobuf.config import ProtobufSettings
from airflow_kconnect.converters.protobuf.read_columns import GLUE_DIGITS
from airflow_kconnect.converters.registered import sums
from airflow_kconnect.converters.registered.slices import entries_of, list_offsets
from airflow_kconnect.converters.types import arrow_type, logical_name
from airflow_kconnect.converters.unscaled import unscaled_bytes

if TYPE_CHECKING:
    import pyarrow as pa

Write = Callable[[list[Any], "pa.Array"], None]
"""Sets something in each message from the same row of a column; a message is None where the row is null."""

_INTEGERS = (SchemaType.INT8, SchemaType.INT16, SchemaType.INT32)
_INT32_KINDS = ("int32", "sint32", "sfixed32")
_INT64_KINDS = ("int64", "sint64", "sfixed64")
_UNSIGNED_BITS = {"uint32": 32, "fixed32": 32, "uint64": 64, "fixed64": 64}
_KINDS: dict[SchemaType, tuple[str, ...]] = {
    **dict.fromkeys(_INTEGERS, (*_INT32_KINDS, *_INT64_KINDS, "enum")),
    SchemaType.INT64: (*_INT64_KINDS, *_UNSIGNED_BITS),
    SchemaType.FLOAT32: ("float", "double"),
    SchemaType.FLOAT64: ("double",),
    SchemaType.BOOLEAN: ("bool",),
    SchemaType.STRING: ("string", "enum"),
    SchemaType.BYTES: ("bytes",),
}


def column_writer(descriptor: Any, schema: ConnectSchema, settings: ProtobufSettings) -> Write:
    """Writes data of a shape into messages of a type; fields are found by their names.

    What the writer raises for values that a message cannot have: `DataError`, ``ValueError``, ``TypeError``.

    :raises DataError: messages of that type cannot hold data of that shape.
    """
    if schema.type is SchemaType.STRUCT:
        return _struct(descriptor, schema, settings)
    if descriptor.full_name not in names.WRAPPERS:
        raise DataError(f"A {schema.type} cannot be written as message {descriptor.full_name}")
    return _scalar(descriptor.fields_by_name["value"], schema)


# Structs and unions


def _struct(descriptor: Any, schema: ConnectSchema, settings: ProtobufSettings) -> Write:
    writers = [_member(descriptor, member, settings) for member in schema.fields]
    defaults = [None if settings.ignore_default_for_nullables else default_of(m.schema) for m in schema.fields]

    def struct(messages: list[Any], column: pa.Array) -> None:
        for write, default, values in zip(writers, defaults, column.flatten(), strict=True):
            present = values if default is None else with_default(values, default, column)
            write(messages, present)

    return struct


def default_of(schema: ConnectSchema) -> pa.Scalar | None:
    """What is written instead of null; None if null is."""
    import pyarrow as pa

    return None if schema.default is None else pa.scalar(schema.default, arrow_type(schema))


def with_default(values: pa.Array, default: pa.Scalar, parents: pa.Array) -> pa.Array:
    """Values with the default where there is none, but the struct around them."""
    import pyarrow.compute as pc

    return pc.if_else(pc.and_(values.is_null(), parents.is_valid()), default, values)


def _member(descriptor: Any, member: Field, settings: ProtobufSettings) -> Write:
    if names.is_union(member.schema):
        return _union(descriptor, member, settings)
    name = names.scrubbed(member.name) if settings.scrub_invalid_names else member.name
    field = descriptor.fields_by_name.get(name)
    if field is None:
        raise DataError(f"Cannot find field with name {name} in message {descriptor.full_name}")
    try:
        return _field(field, member.schema, settings)
    except _Mismatch as error:
        raise DataError(f"Field {name} of message {descriptor.full_name}: {error}") from error


def _union(descriptor: Any, member: Field, settings: ProtobufSettings) -> Write:
    writers = [_member(descriptor, inner, settings) for inner in member.schema.fields]

    def union(messages: list[Any], column: pa.Array) -> None:
        members = column.flatten()
        chosen = [any(given) for given in zip(*(values.is_valid().to_pylist() for values in members), strict=True)]
        if chosen != column.is_valid().to_pylist() and not settings.as_amazon:
            raise DataError(f"Cannot find non-null field in {member.name}")
        # The first that is not null is the one that is written: each replaces those written before it.
        for write, values in reversed(list(zip(writers, members, strict=True))):
            write(messages, values)

    return union


# Fields


class _Mismatch(DataError):
    """A field cannot hold data of a schema."""


def _field(field: Any, schema: ConnectSchema, settings: ProtobufSettings) -> Write:
    repeated = fields.is_repeated(field)
    if schema.type is SchemaType.MAP and fields.is_map(field):
        return _map(field, schema, settings)
    if schema.type is SchemaType.ARRAY and repeated and schema.value_schema is not None:
        return _array(field, schema.value_schema, settings)
    if repeated or schema.type in (SchemaType.ARRAY, SchemaType.MAP):
        raise _Mismatch(f"it is {'' if repeated else 'not '}repeated, but the data are of type {schema.type}")
    if fields.kind(field) == "message":
        return _single_message(field.name, _message(field.message_type, schema, settings))
    return _scalar(field, schema)


def _scalar(field: Any, schema: ConnectSchema) -> Write:
    name, values_of = field.name, _values(field, schema)

    def scalar(messages: list[Any], column: pa.Array) -> None:
        for message, value in zip(messages, values_of(column), strict=True):
            if value is not None:
                setattr(message, name, value)

    return scalar


def _values(field: Any, schema: ConnectSchema) -> Callable[[pa.Array], list[Any]]:
    """The values of a column as a field has them."""
    kind = fields.kind(field)
    if kind not in _KINDS.get(schema.type, ()) or logical_name(schema) is not None:
        raise _Mismatch(f"it has type {kind}, but the data are of type {logical_name(schema) or schema.type}")
    if kind == "enum" and schema.type is SchemaType.STRING:
        return _enum_numbers(field.enum_type, schema)
    if kind in _UNSIGNED_BITS:
        mask = (1 << _UNSIGNED_BITS[kind]) - 1
        return lambda column: [None if value is None else value & mask for value in column.to_pylist()]
    return _plain


def _plain(column: pa.Array) -> list[Any]:
    values: list[Any] = column.to_pylist()
    return values


def numbers_of_enum(enum: Any, schema: ConnectSchema) -> dict[str, int]:
    """The numbers of names: those of the enum, and those that the schema of the data has besides."""
    known: dict[str, int] = {value.name: value.number for value in enum.values}
    for parameter in (names.ENUM, sums.ENUM):
        for name, number in (schema.parameters or {}).items():
            if name.startswith(f"{parameter}."):
                known.setdefault(name.removeprefix(f"{parameter}."), int(number))
    return known


def _enum_numbers(enum: Any, schema: ConnectSchema) -> Callable[[pa.Array], list[Any]]:
    known: dict[str | None, int | None] = {None: None}
    known.update(numbers_of_enum(enum, schema))

    def numbers(column: pa.Array) -> list[Any]:
        values = column.to_pylist()
        try:
            return [known[value] for value in values]
        except KeyError as error:
            raise DataError(f"{error} is not a value of enum {enum.full_name}") from None

    return numbers


# Messages


def _single_message(name: str, write: Write) -> Write:
    def single(messages: list[Any], column: pa.Array) -> None:
        inner: list[Any] = []
        for message, valid in zip(messages, column.is_valid().to_pylist(), strict=True):
            inner.append(getattr(message, name) if valid else None)
            if valid:
                inner[-1].SetInParent()
        write(inner, column)

    return single


def _message(descriptor: Any, schema: ConnectSchema, settings: ProtobufSettings) -> Write:
    logical = logical_name(schema)
    if logical is not None and descriptor.full_name == names.MESSAGES_OF_LOGICAL_TYPES[logical]:
        return _LOGICAL.get(logical, _timestamps)
    if logical == DECIMAL and descriptor.full_name == names.GLUE_DECIMAL:
        return _decimals_in_billionths
    if schema.type is SchemaType.STRUCT and not names.is_union(schema):
        return _struct(descriptor, schema, settings)
    if descriptor.full_name in names.WRAPPERS:
        return _scalar(descriptor.fields_by_name["value"], schema)
    raise _Mismatch(f"it has type {descriptor.full_name}, but the data are of type {logical or schema.type}")


def _timestamps(messages: list[Any], column: pa.Array) -> None:
    import pyarrow as pa

    for message, micros in zip(messages, column.cast(pa.int64()).to_pylist(), strict=True):
        if micros is not None:
            message.seconds, rest = divmod(micros, 1_000_000)
            message.nanos = rest // 1_000 * 1_000_000


def _dates(messages: list[Any], column: pa.Array) -> None:
    for message, value in zip(messages, column.to_pylist(), strict=True):
        if value is not None:
            day: date = value.date() if isinstance(value, datetime) else value
            message.year, message.month, message.day = day.year, day.month, day.day


def _times(messages: list[Any], column: pa.Array) -> None:
    for message, millis in zip(messages, column.to_pylist(), strict=True):
        if millis is None:
            continue
        if not 0 <= millis < DAY_MS:
            raise DataError("Time values must use number of millis greater than 0 and less than 86400000")
        seconds, rest = divmod(millis, 1_000)
        minutes, message.seconds = divmod(seconds, 60)
        message.hours, message.minutes = divmod(minutes, 60)
        message.nanos = rest * 1_000_000


def _decimals(messages: list[Any], column: pa.Array) -> None:
    value: Decimal | None
    for message, value in zip(messages, column.to_pylist(), strict=True):
        if value is None:
            continue
        sign, digits, exponent = value.as_tuple()
        unscaled = int("".join(map(str, digits))) * (-1 if sign else 1)
        message.value = unscaled_bytes(unscaled)
        message.precision = len(str(abs(unscaled)))
        message.scale = -int(exponent)


def _decimals_in_billionths(messages: list[Any], column: pa.Array) -> None:
    """Amazon's own writer keeps 32 bits of the units, and the first digits of the fraction."""
    value: Decimal | None
    for message, value in zip(messages, column.to_pylist(), strict=True):
        if value is None:
            continue
        units = int(value)
        fraction = (value - units).scaleb(GLUE_DIGITS)
        if fraction != int(fraction):
            raise DataError(
                f"Decimal has more than {GLUE_DIGITS} digits after the point, which Amazon's message cannot hold"
            )
        message.units, message.fraction = units, int(fraction)
        _, digits, exponent = value.as_tuple()
        message.precision, message.scale = len(str(int("".join(map(str, digits))))), -int(exponent)


_LOGICAL: dict[str, Write] = {DATE: _dates, TIME: _times, DECIMAL: _decimals}


# Arrays and maps


def _array(field: Any, schema: ConnectSchema, settings: ProtobufSettings) -> Write:
    name = field.name
    if fields.kind(field) == "message":
        write = _message(field.message_type, schema, settings)
        return lambda messages, column: _add_messages(messages, column, name, write)
    values_of = _values(field, schema)

    def scalars(messages: list[Any], column: pa.Array) -> None:
        offsets = list_offsets(column).tolist()
        values = values_of(column.flatten())
        if None in values:
            raise DataError(f"Field {name} has a null among its values, which a repeated field cannot have")
        for index, message in enumerate(messages):
            if offsets[index + 1] > offsets[index]:
                getattr(message, name).extend(values[offsets[index] : offsets[index + 1]])

    return scalars


def _add_messages(messages: list[Any], column: pa.Array, name: str, write: Write) -> None:
    offsets, items = list_offsets(column).tolist(), column.flatten()
    if items.null_count:
        raise DataError(f"Field {name} has a null among its values, which a repeated field cannot have")
    write(_added(messages, offsets, name), items)


def _added(messages: list[Any], offsets: list[int], name: str) -> list[Any]:
    """New messages in a repeated field of each message."""
    added: list[Any] = []
    for index, message in enumerate(messages):
        for _ in range(offsets[index + 1] - offsets[index]):
            added.append(getattr(message, name).add())
    return added


def _map(field: Any, schema: ConnectSchema, settings: ProtobufSettings) -> Write:
    assert schema.key_schema is not None and schema.value_schema is not None
    entry, name = field.message_type, field.name
    key, value = entry.fields_by_name["key"], entry.fields_by_name["value"]
    of_map = _pairs_of_map(field, schema, settings) if fields.is_protobuf_map(field) else None
    write_key = _field(key, schema.key_schema, settings)
    write_value = _field(value, schema.value_schema, settings)

    def map_(messages: list[Any], column: pa.Array) -> None:
        lists, keys, values = entries_of(column)
        offsets = list_offsets(lists).tolist()
        if of_map is not None:
            of_map(messages, offsets, keys, values)
            return
        entries = _added(messages, offsets, name)
        write_key(entries, keys)
        write_value(entries, values)

    return map_


def _pairs_of_map(
    field: Any, schema: ConnectSchema, settings: ProtobufSettings
) -> Callable[[list[Any], list[int], pa.Array, pa.Array], None]:
    assert schema.key_schema is not None and schema.value_schema is not None
    name, entry = field.name, field.message_type
    keys_of = _values(entry.fields_by_name["key"], schema.key_schema)
    value = entry.fields_by_name["value"]
    if fields.kind(value) != "message":
        values_of = _values(value, schema.value_schema)
        default = value.default_value

        def scalars(messages: list[Any], offsets: list[int], keys: pa.Array, values: pa.Array) -> None:
            pairs = list(zip(keys_of(keys), values_of(values), strict=True))
            for index, message in enumerate(messages):
                for key, item in pairs[offsets[index] : offsets[index + 1]]:
                    getattr(message, name)[key] = default if item is None else item

        return scalars
    write = _message(value.message_type, schema.value_schema, settings)

    def inner_messages(messages: list[Any], offsets: list[int], keys: pa.Array, values: pa.Array) -> None:
        map_keys = keys_of(keys)
        inner: list[Any] = []
        for index, message in enumerate(messages):
            inner.extend(getattr(message, name)[key] for key in map_keys[offsets[index] : offsets[index + 1]])
        write(inner, values)

    return inner_messages
