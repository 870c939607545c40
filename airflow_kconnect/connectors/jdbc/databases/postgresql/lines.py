"""Batches as lines of PostgreSQL's COPY: Arrow makes the texts of a whole column at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from airflow_kconnect.connectors.file.output import text_buffer
from airflow_kconnect.connectors.jdbc.sink.layouts import DELETED, UPSERTED

if TYPE_CHECKING:
    import pyarrow as pa

PLAIN_SCALE = 6
"""Decimals with more digits after the point have exponents in Arrow's texts."""
_NULL = "\\N"
# The backslash comes first: it is part of the other escapes.
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_DAY_US = 86_400_000_000
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""Days since 1970 of the years 1 to 9999."""
_CYCLE_DAYS, _CYCLE_YEARS = 146_097, 400
"""After this many years the calendar repeats itself."""


@dataclass(frozen=True)
class Lines:
    """Rows of one layout, in order.

    :param offsets: of their records. :param operations: what is to be done with each, or with all.
    :param texts: their lines.
    """

    offsets: pa.Array
    operations: pa.Array | str
    texts: pa.Array

    @classmethod
    def of(cls, rows: pa.RecordBatch, part: int, width: int) -> Lines:
        """The lines of rows as `sink.rendering.columns` makes them.

        :param width: how many columns their layout has.
        """
        import pyarrow.compute as pc

        cells = [_cell(rows, f"{part}_{n}") for n in range(width)]
        joined = pc.binary_join_element_wise(*cells, "\t", null_handling="replace", null_replacement=_NULL)
        texts = pc.binary_join_element_wise(joined, "", "\n")
        may_delete = "deleted" in rows.schema.names
        operations = pc.if_else(rows.column("deleted"), DELETED, UPSERTED) if may_delete else UPSERTED
        # A copy: the column itself would keep the whole batch in memory.
        return cls(pc.add(rows.column("kafka_offset"), 0), operations, texts)

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def size(self) -> int:
        """Bytes of the texts."""
        return text_buffer(self.texts).nbytes

    def slice(self, start: int, count: int | None = None) -> Lines:
        operations = self.operations if isinstance(self.operations, str) else self.operations.slice(start, count)
        return Lines(self.offsets.slice(start, count), operations, self.texts.slice(start, count))

    def marked(self) -> pa.Array:
        """Lines with two more columns in front: the record's offset, and what is to be done."""
        import pyarrow as pa
        import pyarrow.compute as pc

        return pc.binary_join_element_wise(self.offsets.cast(pa.string()), self.operations, self.texts, "\t")


def _cell(rows: pa.RecordBatch, name: str) -> pa.Array:
    """STRING, as a line has it; null where the value is."""
    import pyarrow as pa

    values = rows.column(f"cell_{name}")
    if pa.types.is_timestamp(values.type):
        # Columns without zone skip what follows the time.
        offsets = rows.column(f"offset_{name}") if f"offset_{name}" in rows.schema.names else "+00"
        return _moments(values.cast(pa.timestamp("us")), _DAY_US, offsets)
    if pa.types.is_date(values.type):
        return _moments(values, 1, "")
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return _escaped(values).cast(pa.string())
    return values.cast(pa.string())


def _escaped(texts: pa.Array) -> pa.Array:
    import numpy as np
    import pyarrow.compute as pc

    if texts.null_count == len(texts):
        return texts
    data = np.frombuffer(text_buffer(texts), np.uint8)
    if not ((data < ord(" ")) | (data == ord("\\"))).any():
        return texts
    for char, escape in _ESCAPES.items():
        texts = pc.replace_substring(texts, char, escape)
    return texts


def _moments(values: pa.Array, per_day: int, offsets: pa.Array | str) -> pa.Array:
    """Dates or timestamps; years before Christ and of more than four digits as PostgreSQL writes them.

    :param per_day: units of the values in a day. :param offsets: from UTC, appended to the time.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    numbers = values.view(pa.int32() if per_day == 1 else pa.int64()).cast(pa.int64())
    edges = pc.min_max(numbers).as_py()
    if edges["min"] is None or (_FIRST_DAY * per_day <= edges["min"] and edges["max"] < (_LAST_DAY + 1) * per_day):
        return pc.binary_join_element_wise(_iso(values), offsets, "")
    # Years of Arrow have five digits at most.
    cycles = _floor_divided(numbers, _CYCLE_DAYS * per_day)
    inner = pc.subtract(numbers, pc.multiply(cycles, _CYCLE_DAYS * per_day))
    inner = inner.cast(pa.int32()).cast(values.type) if per_day == 1 else inner.cast(values.type)
    year = pc.add(pc.year(inner), pc.multiply(cycles, _CYCLE_YEARS))
    # Year 0 is 1 BC.
    is_bc = pc.less(year, 1)
    shown = pc.utf8_lpad(pc.if_else(is_bc, pc.subtract(1, year), year).cast(pa.string()), 4, "0")
    rest = pc.utf8_slice_codeunits(_iso(inner), 4)
    return pc.binary_join_element_wise(shown, rest, offsets, pc.if_else(is_bc, " BC", ""), "")


def _iso(values: pa.Array) -> pa.Array:
    """Texts without trailing zeros in a fraction."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = values.cast(pa.string())
    return texts if pa.types.is_date(values.type) else pc.ascii_rtrim(pc.ascii_rtrim(texts, "0"), ".")


def _floor_divided(numbers: pa.Array, divisor: int) -> pa.Array:
    import pyarrow.compute as pc

    quotients = pc.divide(numbers, divisor)
    return pc.if_else(
        pc.less(pc.subtract(numbers, pc.multiply(quotients, divisor)), 0), pc.subtract(quotients, 1), quotients
    )
