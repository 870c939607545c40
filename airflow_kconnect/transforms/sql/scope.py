"""Resolves the names in SQL expressions: the parts of a record, separately for each combination of shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from typing import TYPE_CHECKING

from airflow_kconnect.connect.data import ConnectSchema, SchemaType, Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.transforms.base import HEADERS, Part, Rows, union_of
from airflow_kconnect.transforms.expressions.fields import member, or_null, rows_by_shape

if TYPE_CHECKING:
    from pyspark.sql import Column

PARTS: tuple[Part, ...] = ("key", "value")


@dataclass(frozen=True)
class PartOfCase:
    """Keys or values of one shape.

    :param holds: whether a row has this shape.
    :param shape: None if the rows have neither schema nor value.
    """

    holds: Column
    shape: Shape | None
    column: Column

    @property
    def is_schemaless(self) -> bool:
        """Whether the data are VARIANTs."""
        return self.shape is not None and self.shape.schemaless

    def column_of(self, path: Sequence[str | int]) -> Column:
        """A member of the data, or the data itself for an empty path.

        :raises DataError: there is no such member.
        """
        if self.shape is None or not path:
            return self.column
        if self.is_schemaless:
            return or_null(reduce(_step, path, self.column))
        self._check([str(name) for name in path])
        return reduce(lambda parent, name: parent.getField(name), path, self.column)

    def _check(self, path: Sequence[str]) -> None:
        """Columns have names of their own, so Spark's errors would not help a user."""
        for index, name in enumerate(path):
            schema = self.schema_of(path[:index])
            if schema and schema.type is SchemaType.STRUCT and not schema.field(name):
                raise DataError(f"Unknown field {name}; the fields are {', '.join(f.name for f in schema.fields)}")
            if schema and schema.type.is_primitive:
                raise DataError(f"{schema.type.name} has no field {name}")

    def schema_of(self, path: Sequence[str]) -> ConnectSchema | None:
        """The schema of a member, optional if it or anything around it is; None if not known."""
        schema = self.shape.schema if self.shape else None
        optional = False
        for name in path:
            field = schema.field(name) if schema else None
            optional = optional or (schema is not None and schema.optional)
            schema = field.schema if field else None
        return replace(schema, optional=True) if schema and optional else schema


@dataclass(frozen=True)
class Case:
    """The rows in which key and value have certain shapes.

    :param parts: ``key`` and ``value``, as far as expressions refer to them.
    :param names: the other names to which they refer.
    """

    parts: Mapping[str, PartOfCase]
    names: Mapping[str, Column]

    @property
    def holds(self) -> Column:
        """Whether a row belongs to this case."""
        from pyspark.sql import Column
        from pyspark.sql import functions as F

        return reduce(Column.__and__, (part.holds for part in self.parts.values()), F.lit(True))

    @property
    def is_partial(self) -> bool:
        """Whether the rows lack something to which expressions refer."""
        return any(part.shape is None for part in self.parts.values())

    def is_schemaless(self, name: str) -> bool:
        """Whether a name refers to VARIANTs."""
        return name in self.parts and self.parts[name].is_schemaless

    def column_of(self, path: Sequence[str | int]) -> Column:
        """The column for a dotted name; see `PartOfCase.column_of`."""
        name, rest = str(path[0]), path[1:]
        if name in self.parts:
            return self.parts[name].column_of(rest)
        return reduce(lambda parent, step: parent.getField(step), rest, self.names[name])

    def schema_of(self, path: Sequence[str]) -> ConnectSchema | None:
        """The schema for a dotted name; None if it is not known, or only a type is."""
        return self.parts[path[0]].schema_of(path[1:]) if path[0] in self.parts else None


def _step(parent: Column, step: str | int) -> Column:
    """A member of a VARIANT."""
    from pyspark.sql import functions as F

    return member(parent, step) if isinstance(step, str) else F.try_variant_get(parent, f"$[{step}]", "variant")


def cases(rows: Rows, used: Set[str]) -> Iterator[Case]:
    """All combinations of shapes, of which exactly one holds in each row.

    :param used: the names to which expressions refer.
    """
    parts: tuple[Part, ...] = tuple(part for part in PARTS if part in used)
    names = {name: column(rows) for name, column in _NAMES.items() if name in used}
    for combination in product(*(_shapes(rows.frame, part) for part in parts)):
        yield Case(dict(zip(parts, combination, strict=True)), names)


def _shapes(frame: RecordFrame, part: Part) -> Iterator[PartOfCase]:
    from pyspark.sql import functions as F

    yield from (PartOfCase(*of_shape) for of_shape in rows_by_shape(frame, part))
    union = union_of(frame, part)
    if union.tag or union.absent:
        yield PartOfCase(frame.df[union.tag].isNull() if union.tag else F.lit(True), None, F.lit(None))


def _or_absent(column: Column | None, type_: str) -> Column:
    from pyspark.sql import functions as F

    return F.lit(None).cast(type_) if column is None else column


def _instant(rows: Rows) -> Column:
    from pyspark.sql import functions as F

    # timestamp_millis would throw where microseconds overflow.
    return F.timestamp_micros(F.try_multiply(_or_absent(rows.timestamp, "bigint"), F.lit(1000)))


def _headers(rows: Rows) -> Column:
    """MAP<STRING, STRING>; of several headers with the same name the last one wins."""
    from pyspark.sql import functions as F

    def entry(header: Column) -> Column:
        text = F.make_valid_utf8(header["value"].cast("string"))
        return F.struct(header["key"].alias("key"), text.alias("value"))

    headers = _or_absent(rows.headers, HEADERS)
    return F.coalesce(F.map_from_entries(F.transform(headers, entry)), F.create_map().cast("map<string,string>"))


_NAMES: Mapping[str, Callable[[Rows], Column]] = {
    "topic": lambda rows: rows.topic,
    "partition": lambda rows: _or_absent(rows.partition, "int"),
    "offset": lambda rows: _or_absent(rows.offset, "bigint"),
    "timestamp": _instant,
    "headers": _headers,
}
NAMES = (*PARTS, *_NAMES)
