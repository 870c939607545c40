"""Rows for PostgreSQL's writer out of payloads that were parsed where they were read, by Arrow alone.

They are the rows that `sink.rendering.columns` would make. A batch with anything that Catalyst would refuse or replace
is left to it as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from airflow_kconnect.connect.connector.sink import BatchRenderer, ParsedPart
from airflow_kconnect.connect.data import DATE, DECIMAL, TIME, TIMESTAMP, ConnectSchema, SchemaType, Shape
from airflow_kconnect.connectors.file.output import text_buffer
from airflow_kconnect.connectors.jdbc.databases.postgresql.lines import PLAIN_SCALE
from airflow_kconnect.connectors.jdbc.sink.config import UTC, SinkSettings
from airflow_kconnect.connectors.jdbc.sink.layouts import RowLayout, TableColumn, layout_of
from airflow_kconnect.converters.types import decimal_scale, logical_name

if TYPE_CHECKING:
    import pyarrow as pa

_DAY_MS = 86_400_000
_FIRST_DAY = -2_440_184
"""1 January 4712 BC: PostgreSQL cannot store what is before."""
_LAST_MS = (2**63 - 1) // 1000


@dataclass(frozen=True)
class _Member:
    """A field of a payload.

    :param kind: name of its logical type, or of its plain one.
    :param may_be_null: a null stays one.
    """

    kind: str
    may_be_null: bool

    @classmethod
    def of(cls, schema: ConnectSchema) -> _Member:
        return cls(logical_name(schema) or schema.type.name, schema.optional and schema.default is None)


@dataclass(frozen=True)
class _Part:
    """The rows of a key's and a value's shape: where the columns of their layout are from."""

    number: int
    keys: tuple[_Member, ...]
    values: tuple[_Member, ...]
    sources: tuple[tuple[bool, int, bool], ...]
    """For each column: whether it is from the key, which field it is, and whether it belongs to the primary key."""


class PlainRows(BatchRenderer):
    """Pickled into the tasks.

    :param parts: by the numbers of the key's and the value's shape.
    """

    def __init__(self, parts: Mapping[tuple[int, int], _Part]) -> None:
        self._parts = parts

    def render(self, offsets: pa.Array, key: ParsedPart | None, value: ParsedPart) -> pa.RecordBatch | None:
        import pyarrow as pa

        part = self._parts.get((key[0] if key else 0, value[0]))
        if part is None:
            return None
        keys = _cells(part.keys, key[1]) if key else []
        values = _cells(part.values, value[1])
        if keys is None or values is None:
            return None
        cells = [(keys if of_key else values)[n] for of_key, n, _ in part.sources]
        if any(cell.null_count for cell, (_, _, primary) in zip(cells, part.sources, strict=True) if primary):
            return None
        count = len(offsets)
        own = {
            "topic": pa.nulls(count, pa.string()),
            "part": pa.repeat(pa.scalar(part.number, pa.int32()), count),
            "kafka_offset": offsets,
            "error": pa.nulls(count, pa.string()),
        }
        return pa.record_batch(own | {f"cell_{part.number}_{n}": cell for n, cell in enumerate(cells)})


def plain_rows(
    settings: SinkSettings, keys: Sequence[Shape], values: Sequence[Shape]
) -> tuple[PlainRows, tuple[RowLayout, ...]] | None:
    """The renderer of the rows, and their layouts; None if Catalyst must render them all.

    :param keys: shapes that keys may have; none if keys are not read.
    """
    parts: dict[tuple[int, int], _Part] = {}
    layouts: list[RowLayout] = []
    for k, key in enumerate(keys or (None,)):
        for v, value in enumerate(values):
            layout = layout_of(settings, key, value)
            if not _is_plain(settings, layout, key, value):
                continue
            if layout not in layouts:
                layouts.append(layout)
            members = [
                tuple(_Member.of(f.schema) for f in s.schema.fields) if s and s.schema else () for s in (key, value)
            ]
            sources = tuple((c.source == "key", _field_index(c, key, value), c.is_key) for c in layout.columns)
            parts[k, v] = _Part(layouts.index(layout), members[0], members[1], sources)
    return (PlainRows(parts), tuple(layouts)) if parts else None


def _field_index(column: TableColumn, key: Shape | None, value: Shape) -> int:
    shape = key if column.source == "key" else value
    assert shape is not None and shape.schema is not None
    return [field.name for field in shape.schema.fields].index(column.field or "")


def _is_plain(settings: SinkSettings, layout: RowLayout, key: Shape | None, value: Shape) -> bool:
    """Whether all columns are fields of structs that need nothing but Arrow."""
    if layout.problem is not None or settings.time_zone not in UTC or settings.date_zone not in UTC:
        return False
    shapes = [shape for shape in (key, value) if shape is not None]
    return all(column.field is not None for column in layout.columns) and all(
        shape.schema is not None
        and shape.schema.type is SchemaType.STRUCT
        and all(_is_plain_member(settings, field.name, field.schema) for field in shape.schema.fields)
        for shape in shapes
    )


def _is_plain_member(settings: SinkSettings, name: str, schema: ConnectSchema) -> bool:
    if not schema.type.is_primitive:
        return False
    if logical_name(schema) == DECIMAL:
        return decimal_scale(schema) <= PLAIN_SCALE
    return schema.type is not SchemaType.BYTES and name not in settings.instants


def _cells(members: Sequence[_Member], parsed: pa.Array) -> list[pa.Array] | None:
    """The fields as the writer takes them; None if Catalyst has to look at them."""
    cells = []
    for member, values in zip(members, parsed.flatten(), strict=True):
        if values.null_count and not member.may_be_null:
            return None
        cell = _RULES[member.kind](values) if member.kind in _RULES else values
        if cell is None:
            return None
        cells.append(cell)
    return cells


def _text(values: pa.Array) -> pa.Array | None:
    import numpy as np

    if values.null_count == len(values):
        return values
    return values if np.frombuffer(text_buffer(values), np.uint8).all() else None


def _date(values: pa.Array) -> pa.Array | None:
    import pyarrow as pa

    days = values.view(pa.int32())
    return days.view(pa.date32()) if _are_between(days, _FIRST_DAY, 2**31) else None


def _time(values: pa.Array) -> pa.Array | None:
    import pyarrow as pa

    return values.view(pa.time32("ms")).cast(pa.string()) if _are_between(values, 0, _DAY_MS - 1) else None


def _timestamp(values: pa.Array) -> pa.Array | None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_timestamp(values.type):
        instants = values.cast(pa.timestamp("us")).view(pa.int64())
        return instants.view(pa.timestamp("us")) if _are_between(instants, _FIRST_DAY * _DAY_MS * 1000, 2**63) else None
    if not _are_between(values, _FIRST_DAY * _DAY_MS, _LAST_MS):
        return None
    return pc.multiply(values, 1000).view(pa.timestamp("us"))


def _are_between(values: pa.Array, first: int, last: int) -> bool:
    import pyarrow.compute as pc

    edges = pc.min_max(values).as_py()
    return edges["min"] is None or (first <= edges["min"] and edges["max"] <= last)


_RULES: Mapping[str, Callable[[pa.Array], pa.Array | None]] = {
    SchemaType.STRING.name: _text,
    DATE: _date,
    TIME: _time,
    TIMESTAMP: _timestamp,
}
"""What happens to the values of a kind; None of a batch that Catalyst has to look at. Others stay as they are."""
