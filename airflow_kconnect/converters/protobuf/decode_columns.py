"""Decodes batches of messages column by column: what `read_columns` reads, in a part of the time.

Fields of a message usually come in the order of their numbers, each at most once. So each field is looked for in all
messages at once, where the field before has ended. Messages that are different are left to Protobuf's library, and so
are all messages of types with repeated fields and oneofs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.converters.protobuf import fields, names, wire
from airflow_kconnect.converters.protobuf.config import ProtobufSettings
from airflow_kconnect.converters.protobuf.encode_columns import Unsure
from airflow_kconnect.converters.protobuf.read_columns import SECONDS
from airflow_kconnect.converters.registered.cursor import LONGEST_VARINT, Cursor
from airflow_kconnect.converters.registered.slices import scattered
from airflow_kconnect.converters.types import arrow_type, decimal_scale, logical_name

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

Decode = Callable[["pa.Array"], tuple["pa.Array", "NDArray[np.bool_]"]]
"""Of messages (BINARY without nulls) the data, and which messages were left."""
Values = Callable[[Cursor, "Integers"], "pa.Array"]
"""The values of a field that begin at the cursor in some rows."""

_LONG_BYTES = 8
_NO_BYTES = b"\0"
"""A message of that length."""


def message_decoder(descriptor: Any, schema: ConnectSchema, settings: ProtobufSettings) -> Decode:
    """Decodes messages of a type into structs.

    What it raises if it can read nothing of a batch: Arrow's errors.

    :raises Unsure: there is no way for messages of this type.
    """
    if schema.type is not SchemaType.STRUCT or settings.generate_struct_for_nulls or fields.oneofs(descriptor):
        raise Unsure
    if {member.name for member in schema.fields} != {field.name for field in descriptor.fields}:
        raise Unsure
    type_ = arrow_type(schema)
    members = {}
    for index, member in enumerate(schema.fields):
        field = descriptor.fields_by_name[member.name]
        values = _field(field, member.schema, settings)
        members[field.number] = index, field, values, _absent(field, member.schema, settings, values)
    order = [members[number] for number in sorted(members)]

    def decode(messages: pa.Array) -> tuple[pa.Array, NDArray[np.bool_]]:
        import numpy as np
        import pyarrow as pa

        cursor = Cursor(messages)
        columns: list[Any] = [None] * len(order)
        for index, field, values, absent in order:
            rows = _rows_with(cursor, wire.tag(field))
            columns[index] = _in_rows(values(cursor, rows), rows, len(messages), absent)
        cursor.leave(np.flatnonzero(cursor.at != cursor.end))
        if not columns:
            return pa.array([{}] * len(messages), type_), cursor.left
        return pa.StructArray.from_arrays(columns, fields=list(type_)), cursor.left

    return decode


def _rows_with(cursor: Cursor, tag: bytes) -> Integers:
    """The messages in which a field comes next; their positions move past its tag."""
    import numpy as np

    here = cursor.at + len(tag) <= cursor.end
    for offset, byte in enumerate(tag):
        here &= cursor.data[np.minimum(cursor.at + offset, len(cursor.data) - 1)] == byte
    rows = np.flatnonzero(here)
    cursor.at[rows] += len(tag)
    return rows


def _in_rows(values: pa.Array, rows: Integers, count: int, absent: pa.Scalar) -> pa.Array:
    """Values of some rows as a column of all rows."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if len(rows) == count:
        return values
    given = np.zeros(count, bool)
    given[rows] = True
    column = scattered(values, given)
    return column if not absent.is_valid else pc.if_else(pa.array(given), column, absent)


def _absent(field: Any, schema: ConnectSchema, settings: ProtobufSettings, values: Values) -> pa.Scalar:
    """What a field that is not set is read as."""
    import numpy as np
    import pyarrow as pa

    type_ = arrow_type(schema)
    if fields.is_nullable(field, settings):
        return pa.scalar(None, type_)
    if fields.kind(field) == "message":
        return values(Cursor(pa.array([_NO_BYTES], pa.binary())), np.array([0]))[0]
    default = field.default_value
    if fields.kind(field) == "enum" and schema.type is SchemaType.STRING:
        default = field.enum_type.values_by_number[default].name
    if fields.kind(field) in ("uint64", "fixed64") and default >= 2**63:
        default -= 2**64
    return pa.scalar(default, type_)


def _field(field: Any, schema: ConnectSchema, settings: ProtobufSettings) -> Values:
    kind, logical = fields.kind(field), logical_name(schema)
    if fields.is_repeated(field):
        raise Unsure
    if kind == "message":
        return _message(field.message_type, schema, settings, logical)
    if kind in ("string", "bytes"):
        return lambda cursor, rows: _slices(cursor, rows).cast(arrow_type(schema))
    if kind == "enum" and schema.type is SchemaType.STRING:
        return _enum(field.enum_type)
    return _numbers(kind, schema)


def _slices(cursor: Cursor, rows: Integers) -> pa.Array:
    import numpy as np

    return cursor.slices(*cursor.skip(rows, _varints(cursor, rows).astype(np.int64)))


# Numbers


def _varints(cursor: Cursor, rows: Integers) -> NDArray[np.uint64]:
    import numpy as np

    before = cursor.at[rows]
    values = cursor.unsigned(rows)
    after = cursor.at[rows]
    # More than 64 bits are an error for Protobuf's library.
    odd = (after - before == LONGEST_VARINT) & (cursor.data[np.maximum(after - 1, 0)] > 1)
    if odd.any():
        cursor.leave(rows[odd])
    return values


def _numbers(kind: str, schema: ConnectSchema) -> Values:
    """Integers keep the lower bits, as in Java."""
    import pyarrow as pa

    type_ = arrow_type(schema)

    def numbers(cursor: Cursor, rows: Integers) -> pa.Array:
        values = _read(kind, cursor, rows)
        narrow = {SchemaType.INT8: "i1", SchemaType.INT16: "i2"}.get(schema.type)
        return pa.array(values if narrow is None else values.astype(narrow)).cast(type_)

    return numbers


def _read(kind: str, cursor: Cursor, rows: Integers) -> NDArray[Any]:
    import numpy as np

    if kind in wire.FIXED:
        of = np.dtype(wire.FIXED[kind]).newbyteorder("<")
        start, _ = cursor.skip(rows, of.itemsize)
        values: NDArray[Any] = np.ascontiguousarray(cursor.matrix(start, of.itemsize)).view(of).reshape(-1)
        return values.view("i8") if kind == "fixed64" else values
    varints = _varints(cursor, rows)
    match kind:
        case "bool":
            return varints.astype(np.bool_)
        case "uint32":
            return varints.astype(np.uint32)
        case "int32" | "enum":
            return varints.astype(np.uint32).view(np.int32)
        case "sint32":
            half = varints.astype(np.uint32)
            return (half >> np.uint32(1)).view(np.int32) ^ -(half & np.uint32(1)).view(np.int32)
        case "sint64":
            return (varints >> np.uint64(1)).view(np.int64) ^ -(varints & np.uint64(1)).view(np.int64)
    return varints.view(np.int64)


def _enum(enum: Any) -> Values:
    """The names; messages with other numbers are left."""
    import numpy as np
    import pyarrow as pa

    # Of names with the same number Protobuf's library knows which counts.
    by_number = {number: enum.values_by_number[number].name for number in enum.values_by_number}
    numbers = np.array(sorted(by_number))
    texts = pa.array([by_number[number] for number in numbers.tolist()])

    def enums(cursor: Cursor, rows: Integers) -> pa.Array:
        values = _read("enum", cursor, rows)
        indices = np.minimum(np.searchsorted(numbers, values), len(numbers) - 1)
        cursor.leave(rows[numbers[indices] != values])
        return texts.take(pa.array(indices))

    return enums


# Messages


def _message(descriptor: Any, schema: ConnectSchema, settings: ProtobufSettings, logical: str | None) -> Values:
    if logical is not None:
        return _logical(descriptor, schema, logical)
    if schema.type is SchemaType.STRUCT:
        decode = message_decoder(descriptor, schema, settings)
    else:
        raise Unsure

    def messages(cursor: Cursor, rows: Integers) -> pa.Array:
        column, left = decode(_slices(cursor, rows))
        cursor.leave(rows[left])
        return column

    return messages


def _logical(descriptor: Any, schema: ConnectSchema, name: str) -> Values:
    """Messages of a few fields, of which a function makes the values and says which it cannot read."""
    import numpy as np
    import pyarrow as pa

    type_ = arrow_type(schema)
    order = sorted(descriptor.fields, key=lambda field: field.number)
    if descriptor.full_name == names.GLUE_DECIMAL:
        raise Unsure
    if name == DECIMAL:
        scale = decimal_scale(schema)
        convert: Callable[[dict[str, Any]], tuple[Any, NDArray[np.bool_]]] = lambda members: _decimals(members, scale)  # noqa: E731
    else:
        convert = {TIMESTAMP: _timestamps, DATE: _dates, TIME: _times}[name]

    def values(cursor: Cursor, rows: Integers) -> pa.Array:
        inner = Cursor(_slices(cursor, rows))
        members: dict[str, Any] = {}
        for field in order:
            here = _rows_with(inner, wire.tag(field))
            if fields.kind(field) == "bytes":
                members[field.name] = _in_rows(_slices(inner, here), here, len(rows), pa.scalar(b"")).to_pylist()
                continue
            numbers = np.zeros(len(rows), np.int64)
            numbers[here] = _read(fields.kind(field), inner, here)
            members[field.name] = numbers
        made, odd = convert(members)
        cursor.leave(rows[inner.left | (inner.at != inner.end) | odd])
        return made.cast(type_)

    return values


def _timestamps(members: dict[str, Any]) -> tuple[pa.Array, NDArray[np.bool_]]:
    import numpy as np
    import pyarrow as pa

    seconds, nanos = members["seconds"], members["nanos"]
    odd = (seconds < SECONDS[0]) | (seconds > SECONDS[1]) | (nanos < 0) | (nanos > 999_999_999)
    micros = np.where(odd, 0, seconds) * 1_000_000 + nanos // 1_000_000 * 1_000
    return pa.array(micros), odd


def _dates(members: dict[str, Any]) -> tuple[pa.Array, NDArray[np.bool_]]:
    import numpy as np
    import pyarrow as pa

    year, month, day = members["year"], members["month"], members["day"]
    odd = (year < 1) | (year > 9999) | (month < 1) | (month > 12) | (day < 1) | (day > 31)
    months = np.where(odd, 0, (year - 1970) * 12 + month - 1).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + np.where(odd, 0, day - 1)
    odd |= days.astype("datetime64[M]") != months
    return pa.array(days.astype(np.int64).astype(np.int32)), odd


def _times(members: dict[str, Any]) -> tuple[pa.Array, NDArray[np.bool_]]:
    import numpy as np
    import pyarrow as pa

    limits = {"hours": 24, "minutes": 60, "seconds": 60, "nanos": 1_000_000_000}
    odd = np.any([(members[name] < 0) | (members[name] >= limit) for name, limit in limits.items()], axis=0)
    millis = ((members["hours"] * 60 + members["minutes"]) * 60 + members["seconds"]) * 1_000 + members[
        "nanos"
    ] // 1_000_000
    return pa.array(np.where(odd, 0, millis).astype(np.int32)), odd


def _decimals(members: dict[str, Any], scale: int) -> tuple[pa.Array, NDArray[np.bool_]]:
    """Of the scale of the column and at most eight bytes."""
    import numpy as np

    from airflow_kconnect.converters.registered.numbers import decimals_of

    sizes = np.array([len(value) for value in members["value"]])
    odd = (members["scale"] != scale) | (sizes > _LONG_BYTES)
    numbers = [
        0 if skip else int.from_bytes(value, "big", signed=True)
        for value, skip in zip(members["value"], odd.tolist(), strict=True)
    ]
    return decimals_of(np.array(numbers, np.int64), scale), odd
