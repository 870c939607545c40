"""Encodes batches as messages column by column: the bytes that Protobuf's library writes, in a part of the time.

For types without maps and oneofs; others, and data that may be bad, are left to `write_columns`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.converters.json.values import DAY_MS
from airflow_kconnect.converters.protobuf import fields, names, wire
from airflow_kconnect.converters.protobuf.config import ProtobufSettings
from airflow_kconnect.converters.protobuf.write_columns import default_of, numbers_of_enum, with_default
from airflow_kconnect.converters.registered.slices import joined
from airflow_kconnect.converters.types import logical_name

if TYPE_CHECKING:
    import pyarrow as pa

Encode = Callable[["pa.Array"], "pa.Array"]
"""BINARY without nulls: of a struct's column the messages, of a field's column its bytes with tags."""


class Unsure(Exception):
    """The type, or a value, has to be written by Protobuf's library."""


def message_encoder(descriptor: Any, schema: ConnectSchema, settings: ProtobufSettings) -> Encode:
    """Encodes data of a struct; rows that are null have no bytes.

    What it raises for values that have to be looked at alone: `Unsure`, and Arrow's errors.

    :raises Unsure: there is no way for messages of this type.
    """
    if schema.type is not SchemaType.STRUCT or names.is_union(schema):
        raise Unsure
    members = []
    for index, member in enumerate(schema.fields):
        name = names.scrubbed(member.name) if settings.scrub_invalid_names else member.name
        field = descriptor.fields_by_name.get(name)
        if field is None or fields.oneof_of(field) is not None:
            raise Unsure
        default = None if settings.ignore_default_for_nullables else default_of(member.schema)
        members.append((field.number, index, default, _field(field, member.schema, settings)))
    members.sort(key=lambda entry: entry[0])

    def encode(column: pa.Array) -> pa.Array:
        columns, parts = column.flatten(), []
        for _, index, default, write in members:
            values = columns[index]
            parts.append(write(values if default is None else with_default(values, default, column)))
        return joined(parts, len(column))

    return encode


def _field(field: Any, schema: ConnectSchema, settings: ProtobufSettings) -> Encode:
    if schema.type is SchemaType.MAP:
        raise Unsure
    if schema.type is SchemaType.ARRAY and schema.value_schema is not None:
        return _repeated(field, schema.value_schema, settings)
    if fields.kind(field) == "message":
        inner = _message(field.message_type, schema, settings)
        return _present(wire.tag(field), lambda values: wire.with_lengths(inner(values)))
    prepare, scalars, prefix = _prepared(field, schema), wire.scalars(fields.kind(field)), wire.tag(field)
    return _present(prefix, scalars, prepare, keeps_defaults=field.has_presence)


def _present(
    prefix: bytes, data: wire.Bytes, prepare: Encode = lambda column: column, *, keeps_defaults: bool = True
) -> Encode:
    """The values that are written."""
    import numpy as np

    def encode(column: pa.Array) -> pa.Array:
        given = column.is_valid().to_numpy(zero_copy_only=False)
        values = prepare(column.drop_null() if column.null_count else column)
        if not keeps_defaults:
            written = ~wire.is_default(values)
            values = values if written.all() else values.filter(written)
            written_rows = np.zeros(len(column), bool)
            written_rows[given] = written
            given = written_rows
        return wire.in_rows(wire.after(prefix, data(values)), given)

    return encode


def _prepared(field: Any, schema: ConnectSchema) -> Encode:
    """Values as numbers where they are names of an enum."""
    if fields.kind(field) != "enum":
        return lambda column: column
    if schema.type is not SchemaType.STRING:
        raise Unsure
    known = numbers_of_enum(field.enum_type, schema)

    def numbers(column: pa.Array) -> pa.Array:
        import pyarrow as pa

        encoded = column.dictionary_encode()
        values = [known.get(name) for name in encoded.dictionary.to_pylist()]
        if None in values:
            raise Unsure
        return pa.array(values, pa.int64()).take(encoded.indices)

    return numbers


def _repeated(field: Any, schema: ConnectSchema, settings: ProtobufSettings) -> Encode:
    packed = getattr(field, "is_packed", None)
    if packed is None or schema.type in (SchemaType.ARRAY, SchemaType.MAP):
        raise Unsure
    prefix = wire.tag(field, packed=packed)
    if fields.kind(field) == "message":
        inner = _message(field.message_type, schema, settings)
        items: Encode = lambda values: wire.with_lengths(inner(values))  # noqa: E731
    else:
        prepare, scalars = _prepared(field, schema), wire.scalars(fields.kind(field))
        items = lambda values: scalars(prepare(values))  # noqa: E731

    def encode(column: pa.Array) -> pa.Array:
        import pyarrow.compute as pc

        values = column.flatten()
        if values.null_count:
            raise Unsure
        counts = pc.fill_null(pc.list_value_length(column), 0).to_numpy()
        if not packed:
            return wire.of_lists(wire.after(prefix, items(values)), counts)
        rows = wire.of_lists(items(values), counts).filter(counts > 0)
        return wire.in_rows(wire.after(prefix, wire.with_lengths(rows)), counts > 0)

    return encode


# Messages


def _message(descriptor: Any, schema: ConnectSchema, settings: ProtobufSettings) -> Encode:
    """The messages of a column without nulls."""
    logical = logical_name(schema)
    if logical is not None and descriptor.full_name == names.MESSAGES_OF_LOGICAL_TYPES[logical]:
        return _logical(descriptor, logical)
    if schema.type is SchemaType.STRUCT:
        return message_encoder(descriptor, schema, settings)
    if descriptor.full_name in names.WRAPPERS:
        return _field(descriptor.fields_by_name["value"], schema, settings)
    raise Unsure


def _logical(descriptor: Any, name: str) -> Encode:
    """Messages of the fields that a function makes of the values."""
    split = {TIMESTAMP: _timestamp, DATE: _date, TIME: _time, DECIMAL: _decimal}[name]
    writers = {field.name: _number(field) for field in descriptor.fields}
    order = [field.name for field in sorted(descriptor.fields, key=lambda field: field.number)]

    def encode(column: pa.Array) -> pa.Array:
        parts = split(column)
        return joined([writers[name](parts[name]) for name in order], len(column))

    return encode


def _number(field: Any) -> Encode:
    return _present(wire.tag(field), wire.scalars(fields.kind(field)), keeps_defaults=field.has_presence)


def _timestamp(column: pa.Array) -> dict[str, pa.Array]:
    import numpy as np
    import pyarrow as pa

    micros = column.cast(pa.int64()).to_numpy()
    seconds, rest = np.divmod(micros, 1_000_000)
    return {"seconds": pa.array(seconds), "nanos": pa.array(rest // 1_000 * 1_000_000)}


def _date(column: pa.Array) -> dict[str, pa.Array]:
    import pyarrow.compute as pc

    parts = {"year": pc.year(column), "month": pc.month(column), "day": pc.day(column)}
    years = pc.min_max(parts["year"]).as_py()
    if len(column) and not 1 <= years["min"] <= years["max"] <= 9999:
        raise Unsure
    return parts


def _time(column: pa.Array) -> dict[str, pa.Array]:
    import numpy as np
    import pyarrow as pa

    millis = column.to_numpy()
    if ((millis < 0) | (millis >= DAY_MS)).any():
        raise Unsure
    seconds, rest = np.divmod(millis, 1_000)
    minutes, seconds = np.divmod(seconds, 60)
    hours, minutes = np.divmod(minutes, 60)
    parts = {"hours": hours, "minutes": minutes, "seconds": seconds, "nanos": rest * 1_000_000}
    return {name: pa.array(values) for name, values in parts.items()}


def _decimal(column: pa.Array) -> dict[str, pa.Array]:
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    from airflow_kconnect.converters.registered.numbers import decimal_column

    texts = pc.cast(pc.abs(column).cast(pa.decimal128(38, column.type.scale)), pa.string())
    digits = pc.replace_substring_regex(texts, r"[-.]|E.*", "")
    counts = pc.utf8_length(pc.utf8_ltrim(digits, "0")).to_numpy()
    return {
        "value": decimal_column(column),
        "precision": pa.array(np.maximum(counts, 1)),
        "scale": pa.array(np.full(len(column), column.type.scale)),
    }
