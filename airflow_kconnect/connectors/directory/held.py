"""Rows limited to the tables of their topics: columns do not change, and what does not fit is a bad record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from airflow_kconnect.connect.data import SchemaType, Shape
from airflow_kconnect.connect.error_cells import stage_prefix
from airflow_kconnect.connect.frame import RecordFrame, Union
from airflow_kconnect.connectors.directory.rendering import choose, json_lines, members_of
from airflow_kconnect.connectors.directory.rows import EXECUTING
from airflow_kconnect.connectors.directory.tables import Fit, FolderTables, Types, members
from airflow_kconnect.connectors.directory.types import common_type, fitted

READ_FROM = "read_from"
"""The column with the topic that a record was read from."""
LEFT_OUT = "left_out"
"""The column with the number of a record's shape, if fields of the record are left out."""
_ERROR = stage_prefix("TASK_PUT", EXECUTING)


@dataclass(frozen=True)
class HeldRows:
    """Rows for the writers.

    :param columns: which column has the rows of a topic.
    :param left_out: the fields that are left out, by topic and number of the shape.
    """

    rows: DataFrame
    columns: Mapping[str, str]
    left_out: Mapping[tuple[str, int], tuple[str, ...]]


@dataclass(frozen=True)
class _Group:
    """Topics with the same table.

    :param where: whether a row is of one of them. :param fits: of the shapes.
    """

    topics: tuple[str, ...]
    types: Types | None
    where: Column
    fits: Sequence[Fit]


def held_lines(frame: RecordFrame, tables: FolderTables) -> HeldRows:
    """As `json_lines`."""
    groups = _groups(frame, tables, only_structs=True)
    shapes: list[Shape] = []
    columns: dict[str, Column] = {}
    tags: list[Column] = []
    for group in groups:
        options = {}
        for n, (shape, name) in enumerate(zip(frame.value.shapes, frame.value.columns, strict=True)):
            options[n] = F.lit(len(shapes))
            made, column = _without(shape, F.col(name), group.fits[n].left_out)
            columns[f"held_{len(shapes)}"] = F.when(group.where, column)
            shapes.append(made)
        tags.append(F.when(group.where, choose(frame, options)))
    df = _marked(frame, groups).withColumns({**columns, "held": F.coalesce(*tags)})
    rows = json_lines(
        replace(frame, df=df, value=Union(tuple(shapes), tuple(columns), "held"), carried=_carried(frame))
    )
    return HeldRows(rows, {}, _left_out(groups))


def held_parquet(frame: RecordFrame, tables: FolderTables) -> HeldRows:
    """As `parquet_rows`, with a column of structs for each different table."""
    groups = _groups(frame, tables, only_structs=False)
    df = _marked(frame, groups)
    frame = frame.with_df(df)
    rows = [F.when(group.where, F.struct(*_columns(frame, group))).alias(f"row_{n}") for n, group in enumerate(groups)]
    columns = {topic: f"row_{n}" for n, group in enumerate(groups) for topic in group.topics}
    return HeldRows(df.select(*rows, *_carried(frame)), columns, _left_out(groups))


def _groups(frame: RecordFrame, tables: FolderTables, *, only_structs: bool) -> list[_Group]:
    topics: dict[str, list[str]] = {}
    for topic in tables.topics:
        types = tables.by_topic.get(topic)
        topics.setdefault(repr(None if types is None else {n: str(t) for n, t in types.items()}), []).append(topic)
    groups = []
    for alike in topics.values():
        where = F.col(READ_FROM).isin(alike) if len(topics) > 1 else F.lit(True)
        fits = [tables.fit(alike[0], shape, only_structs=only_structs) for shape in frame.value.shapes]
        groups.append(_Group(tuple(alike), tables.by_topic.get(alike[0]), where, fits))
    return groups


def _left_out(groups: Sequence[_Group]) -> dict[tuple[str, int], tuple[str, ...]]:
    return {
        (topic, n): fit.left_out
        for group in groups
        for topic in group.topics
        for n, fit in enumerate(group.fits)
        if fit.left_out
    }


def _carried(frame: RecordFrame) -> tuple[str, ...]:
    return (*(name for name in frame.carried if name != READ_FROM), LEFT_OUT)


def _marked(frame: RecordFrame, groups: Sequence[_Group]) -> DataFrame:
    """The rows with errors of those that do not fit, and `LEFT_OUT`."""
    errors, marks = [F.col("error")], []
    for group in groups:
        problems = {n: text for n, fit in enumerate(group.fits) if (text := _problem(frame, group, n, fit)) is not None}
        errors += [F.when(group.where, F.concat(F.lit(_ERROR), choose(frame, problems)))] if problems else []
        left = {n: F.lit(n) for n, fit in enumerate(group.fits) if fit.left_out}
        marks += [F.when(group.where, choose(frame, left))] if left else []
    mark = F.coalesce(*marks) if marks else F.lit(None)
    return frame.df.withColumns({"error": F.coalesce(*errors), LEFT_OUT: mark.cast("int")})


def _problem(frame: RecordFrame, group: _Group, number: int, fit: Fit) -> Column | None:
    """STRING, why a row of a shape does not fit; None: it always does."""
    if fit.problem is not None:
        return F.lit(fit.problem)
    given = members_of(frame.value.shapes[number].schema, frame.df, frame.value.columns[number])
    misfits = []
    for name in fit.narrowed:
        column, type_ = given[name]
        known = (group.types or {})[name]
        assert known is not None
        kept = fitted(column, type_, known).cast(type_).eqNullSafe(column)
        misfits.append(F.when(~kept, f"`{name}` does not fit into {known.simpleString()}, its type in the files"))
    return F.coalesce(*misfits) if misfits else None


def _without(shape: Shape, column: Column, names: Sequence[str]) -> tuple[Shape, Column]:
    """Structs without some of their fields."""
    if not names or shape.schema is None or shape.schema.type is not SchemaType.STRUCT:
        return shape, column
    kept = tuple(field for field in shape.schema.fields if field.name not in names)
    made = F.struct(*(column.getField(field.name).alias(field.name) for field in kept))
    return Shape(replace(shape.schema, fields=kept)), F.when(column.isNotNull(), made)


def _columns(frame: RecordFrame, group: _Group) -> list[Column]:
    fitting = [n for n, fit in enumerate(group.fits) if fit.problem is None]
    shapes, names = frame.value.shapes, frame.value.columns
    parts = {n: members_of(shapes[n].schema, frame.df, names[n]) for n in fitting}
    columns = []
    for name, type_ in (group.types or _of_all(shapes)).items():
        assert type_ is not None
        options = {n: fitted(*part[name], type_) for n, part in parts.items() if name in part}
        columns.append(choose(frame, options).cast(type_).alias(name))
    return columns


def _of_all(shapes: Sequence[Shape]) -> Types:
    """The columns of a topic without a known table: those of all shapes."""
    types: dict[str, T.DataType] = {}
    for name, type_ in (member for shape in shapes for member in members(shape).items()):
        types[name] = reduce(lambda one, other: common_type(name, one, other), [types.get(name, type_), type_])
    return types or {"value": T.StringType()}
