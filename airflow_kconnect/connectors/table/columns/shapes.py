"""Which shapes the records of a table have: a frame has columns for those of all topics."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from airflow_kconnect.connect.data import Shape
from airflow_kconnect.connect.frame import RecordFrame, Union

if TYPE_CHECKING:
    from pyspark.sql import Column

_OTHER_SHAPE = "KCONNECT_OTHER_SHAPE"

PartShape = tuple[str, Shape]
"""``key`` or ``value``, and one of its shapes."""


class ShapeBook:
    """What is known so far about the shapes of each table's records."""

    def __init__(self) -> None:
        self._found: dict[str, list[PartShape]] = {}

    def add(self, table: str, found: Iterable[PartShape]) -> None:
        """Records of a table have these shapes, too."""
        known = self._found.setdefault(table, [])
        known += [shape for shape in found if shape not in known]

    def of(self, table: str) -> list[PartShape]:
        """The shapes of a table's records."""
        return self._found.get(table, [])

    def lacks(self, frame: RecordFrame, tables: Collection[str]) -> bool:
        """Whether it is not known which of the tables a shape is from."""
        found = [shape for table in tables for shape in self.of(table)]
        return any(shape not in found for shape in shapes_of(frame))


def shapes_of(frame: RecordFrame) -> list[PartShape]:
    """All shapes of keys and values that rows of a frame may have."""
    return [(part, shape) for part in ("key", "value") for shape in getattr(frame, part).shapes]


def only(frame: RecordFrame, wanted: Collection[PartShape], *, strict: bool) -> RecordFrame:
    """The frame without the columns of other shapes.

    :param strict: a good row of another shape fails the job: see `is_other_shape`. If not, such rows have no value.
    """
    from pyspark.sql import functions as F

    found: list[Column] = []
    for part in ("key", "value"):
        frame, other = _only(frame, part, [shape for own, shape in wanted if own == part])
        if other is not None:
            found.append(other)
    if not strict or not found:
        return frame
    is_other = found[0] if len(found) == 1 else found[0] | found[1]
    failing = F.when(is_other & F.col("error").isNull(), F.raise_error(F.lit(_OTHER_SHAPE)).cast("string"))
    return frame.with_columns({"error": F.coalesce(failing, F.col("error"))})


def is_other_shape(error: Exception) -> bool:
    """Whether a job has failed because of a row that has none of the expected shapes."""
    return _OTHER_SHAPE in str(error)


def _only(frame: RecordFrame, part: str, wanted: Collection[Shape]) -> tuple[RecordFrame, Column | None]:
    """The frame with fewer shapes of a part, and which rows have another one."""
    from pyspark.sql import functions as F

    union: Union = getattr(frame, part)
    kept = [n for n, shape in enumerate(union.shapes) if shape in wanted]
    if union.tag is None or len(kept) == len(union.shapes):
        return frame, None
    name, old = f"{part}_own_tag", F.col(union.tag)
    tag = F.coalesce(*(F.when(old == n, number) for number, n in enumerate(kept))) if kept else F.lit(None)
    frame = frame.with_columns({name: tag.cast("int")})
    own = Union(tuple(union.shapes[n] for n in kept), tuple(union.columns[n] for n in kept), name)
    frame = replace(frame, key=own) if part == "key" else replace(frame, value=own)
    return frame, old.isNotNull() & ~old.isin(kept)
