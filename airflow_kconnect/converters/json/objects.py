"""Parses schemaless objects in batches, as structs of the members that are expected in them, where they are read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from airflow_kconnect.connect.data import ConnectSchema, SchemaType
from airflow_kconnect.connect.frame import ExpectedObjects
from airflow_kconnect.converters.json.batches import PayloadParser, read_objects
from airflow_kconnect.converters.json.envelopes import Pattern
from airflow_kconnect.converters.types import arrow_type, logical_name

if TYPE_CHECKING:
    import pyarrow as pa

# Not 32-bit floats, which Arrow rounds differently, and not what JSON has no values for.
_READ = frozenset(SchemaType) - {SchemaType.FLOAT32, SchemaType.BYTES, SchemaType.MAP}


def object_parser(expected: ExpectedObjects) -> ObjectParser | None:
    """The parser of such objects; None if they contain something that Arrow reads differently, or not at all."""
    if not expected.schema.fields or not _is_read(expected.schema):
        return None
    return ObjectParser((Pattern(b"", b""),), expected)


@dataclass(frozen=True)
class ObjectParser(PayloadParser):
    """For objects without a schema. Arrow rejects a batch with a value of another type, as VARIANT has it.

    :param expected: what is parsed.
    """

    expected: ExpectedObjects
    brackets = b"{", b"}"

    @property
    def type(self) -> pa.DataType:
        return arrow_type(self.expected.schema)

    def _parsed(self, payloads: pa.Array) -> pa.Array | None:
        import pyarrow as pa

        fields = [(field.name, field.type) for field in self.type]
        try:
            members = read_objects(payloads, fields, other_members="error" if self.expected.strict else "ignore")
        except ValueError:  # also Arrow's errors
            return None
        if members is None or any(members[name].null_count for name in self.expected.required):
            return None
        columns = [_with_positive_zeros(members[name]) for name, _ in fields]
        return pa.StructArray.from_arrays(columns, fields=list(self.type))


def _with_positive_zeros(values: pa.Array) -> pa.Array:
    """As in BigDecimal, there is no negative zero."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(values.type):
        return pc.add(values, 0.0)
    if pa.types.is_struct(values.type):
        members = [_with_positive_zeros(values.field(n)) for n in range(values.type.num_fields)]
        return pa.StructArray.from_arrays(members, fields=list(values.type), mask=values.is_null())
    if pa.types.is_list(values.type):
        items = _with_positive_zeros(values.values)
        return pa.ListArray.from_arrays(values.offsets, items, type=values.type, mask=values.is_null())
    return values


def _is_read(schema: ConnectSchema) -> bool:
    inner = [field.schema for field in schema.fields] + ([schema.value_schema] if schema.value_schema else [])
    has_content = schema.type is not SchemaType.STRUCT or bool(schema.fields)
    return schema.type in _READ and logical_name(schema) is None and has_content and all(map(_is_read, inner))
