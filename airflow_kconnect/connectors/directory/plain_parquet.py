"""Rows for Parquet files out of payloads that were parsed where they were read, by Arrow alone.

They are the rows of `rendering.parquet_rows`. A batch with anything that would differ is left to it as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from airflow_kconnect.connect.connector.sink import BatchRenderer, ParsedPart
from airflow_kconnect.connect.data import DATE, TIMESTAMP, ConnectSchema, SchemaType, Shape
from airflow_kconnect.converters.types import arrow_type, is_misnamed, logical_name

if TYPE_CHECKING:
    import pyarrow as pa

_LAST_MS = (2**63 - 1) // 1000


@dataclass(frozen=True)
class _Column:
    """A column for the values of a shape.

    :param type: in the files.
    :param may_be_null: a null stays one.
    """

    name: str
    kind: str | None
    type: pa.DataType
    may_be_null: bool

    @classmethod
    def of(cls, name: str, schema: ConnectSchema) -> _Column:
        return cls(name, logical_name(schema), arrow_type(schema), schema.optional and schema.default is None)

    def typed(self, values: pa.Array) -> pa.Array | None:
        """Values of the type, of which dates and instants may be numbers so far; None if Catalyst must look at them."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if values.type == self.type:
            return values
        if self.kind == DATE:
            return values.view(self.type)
        if self.kind != TIMESTAMP or not pa.types.is_integer(values.type):
            return None
        edges = pc.min_max(values).as_py()
        if edges["min"] is not None and not -_LAST_MS <= edges["min"] <= edges["max"] <= _LAST_MS:
            return None
        return pc.multiply(values, 1000).view(self.type)


class PlainParquet(BatchRenderer):
    """Pickled into the tasks.

    :param shapes: by the number of a shape: whether its values are structs, and their columns; none if schemaless.
    :param columns: types of the columns of all shapes.
    """

    takes_nulls = True

    def __init__(
        self, shapes: Mapping[int, tuple[bool, tuple[_Column, ...]]], columns: Mapping[str, pa.DataType]
    ) -> None:
        self._shapes, self._columns = shapes, columns

    def render(self, offsets: pa.Array, key: ParsedPart | None, value: ParsedPart) -> pa.RecordBatch | None:
        import pyarrow as pa

        number, values = value
        if number not in self._shapes:
            return None
        members = _members(*self._shapes[number], values)
        if any(column is None for column in members.values()):
            return None
        arrays = [members.get(name, pa.nulls(len(offsets), type_)) for name, type_ in self._columns.items()]
        row = pa.StructArray.from_arrays(arrays, [*self._columns])
        return pa.record_batch({"row": row, "kafka_offset": offsets, "error": pa.nulls(len(offsets), pa.string())})


def plain_parquet(shapes: Sequence[Shape]) -> PlainParquet | None:
    """The renderer for values of these shapes; None if Catalyst has to render them all."""
    import pyarrow as pa

    columns: dict[str, pa.DataType] = {}
    plain = {}
    for number, schema in enumerate(shape.schema for shape in shapes):
        own = _columns(schema)
        if any(is_misnamed(member) for _, member in own) or (schema is not None and not own):
            return None
        made = tuple(_Column.of(name, member) for name, member in own)
        for name, type_ in [(column.name, column.type) for column in made] or [("value", pa.string())]:
            if columns.setdefault(name, type_) != type_:
                return None
        plain[number] = (schema is not None and schema.type is SchemaType.STRUCT, made)
    return PlainParquet(plain, columns)


def _columns(schema: ConnectSchema | None) -> list[tuple[str, ConnectSchema]]:
    """Those of a struct's fields, else ``value``; none if there is no schema."""
    if schema is None:
        return []
    if schema.type is SchemaType.STRUCT:
        return [(member.name, member.schema) for member in schema.fields]
    return [("value", schema)]


def _members(is_struct: bool, columns: Sequence[_Column], values: pa.Array) -> dict[str, pa.Array | None]:
    """The columns by their names; None if Catalyst has to look at one."""
    import pyarrow.compute as pc

    if not columns:
        # A text would be in quotes: this is JSON's null.
        return {"value": pc.if_else(pc.equal(values, "null"), None, values)}
    if not is_struct:
        return {columns[0].name: columns[0].typed(values)}
    made: dict[str, pa.Array | None] = {}
    for column, cells in zip(columns, values.flatten(), strict=True):
        lacks = cells.null_count > values.null_count and not column.may_be_null
        made[column.name] = None if lacks else column.typed(cells)
    return made
