"""Records as what the writers of databases take, as Catalyst expressions: no Python touches a record's values.

Every row has a number, ``part``: which of the `Parts` it belongs to, and so which columns of a table it has. They are
the columns ``cell_<part>_<n>``, for moments that are not in UTC with ``offset_<part>_<n>``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import ConnectSchema, Shape
from airflow_kconnect.connect.error_cells import DROPPED, stage_prefix, with_exception
from airflow_kconnect.connect.frame import RecordFrame, Union
from airflow_kconnect.connectors.jdbc.sink.cells import Cell, CellRule
from airflow_kconnect.connectors.jdbc.sink.config import RECORD_KEY, SinkSettings
from airflow_kconnect.connectors.jdbc.sink.layouts import RowLayout, TableColumn, layout_of
from airflow_kconnect.connectors.jdbc.sink.nested import json_cell
from airflow_kconnect.converters.base import choose

_ERROR = stage_prefix("TASK_PUT", "io.confluent.connect.jdbc.JdbcSinkConnector") + with_exception(
    "org.apache.kafka.connect.errors.ConnectException", ""
)


@dataclass(frozen=True)
class _Case:
    """Rows whose keys and values have certain shapes.

    :param number: what they have in the column ``case``.
    :param columns: column of the frame per part of a record that has one.
    """

    number: int
    layout: RowLayout
    columns: Mapping[str, Column]


Parts = tuple[RowLayout, ...]
"""What the writer needs to know: a layout for each value of the column ``part``."""


def columns(
    frame: RecordFrame,
    settings: SinkSettings,
    rule: CellRule,
    is_native: Callable[[ConnectSchema], bool],
    *,
    share: bool = False,
) -> tuple[DataFrame, Parts]:
    """The rows, and the layouts that they have.

    :param is_native: whether a schema's values go by the rule; other structs, arrays and maps become JSON.
    :param share: deletions have the part of other rows, if they can; ``deleted`` tells them apart.
    """
    frame, cases = _cases(frame, settings)
    parts, number_of = _parts(cases, share=share)
    cells = _Cells(frame, settings, rule, is_native)
    options: dict[str, dict[int, Column]] = {}
    for case in cases:
        if case.number in number_of:
            part, row = number_of[case.number], cells.of(case)
            for n, name in enumerate(parts[part].names):
                if name in row:
                    options.setdefault(f"cell_{part}_{n}", {})[case.number] = row[name].column
                    if (offset := row[name].offset) is not None:
                        options.setdefault(f"offset_{part}_{n}", {})[case.number] = offset
    made = {name: _chosen(choices) for name, choices in options.items()}
    if share and settings.deletes:
        made["deleted"] = F.col("case").isin([case.number for case in cases if case.layout.delete])
    return _selected(frame, cells, cases, number_of, made), parts


def _chosen(options: Mapping[int, Column]) -> Column:
    """Where there is just one, the cells of other rows do not matter."""
    return next(iter(options.values())) if len(options) == 1 else choose(F.col("case"), options)


def _selected(
    frame: RecordFrame,
    cells: _Cells,
    cases: list[_Case],
    number_of: Mapping[int, int],
    columns: Mapping[str, Column],
) -> DataFrame:
    """The rows for the writer; what cannot be written has an error."""
    problems = {case.number: problem for case in cases if (problem := cells.problem(case)) is not None}
    error = F.col("error")
    if problems:
        error = F.coalesce(error, choose(F.col("case"), problems))
    part = choose(F.col("case"), {case: F.lit(n) for case, n in number_of.items()}) if number_of else F.lit(None)
    topic = F.col(frame.topic) if frame.topic else F.lit(frame.constant_topic).cast("string")
    others = [F.col(name) for name in frame.carried if name != "error"]
    named = [column.alias(name) for name, column in columns.items()]
    return frame.df.select(topic.alias("topic"), part.cast("int").alias("part"), *named, *others, error.alias("error"))


def _cases(frame: RecordFrame, settings: SinkSettings) -> tuple[RecordFrame, list[_Case]]:
    """A column ``case``, and what its numbers stand for."""
    by_key = settings.pk_mode == RECORD_KEY
    keys = list(_alternatives(frame.key)) if by_key else [(None, F.lit(None))]
    values = list(_alternatives(frame.value))
    key_number = _number(frame, frame.key) if by_key else F.lit(0)
    number = key_number * F.lit(len(values)) + _number(frame, frame.value)
    cases = []
    for k, (key, key_column) in enumerate(keys):
        for v, (value, value_column) in enumerate(values):
            layout = _layout(settings, key, value)
            cases.append(_Case(k * len(values) + v, layout, {"key": key_column, "value": value_column}))
    return frame.with_df(frame.df.withColumn("case", number)), cases


def _layout(settings: SinkSettings, key: Shape | None, value: Shape | None) -> RowLayout:
    return RowLayout(problem=DROPPED) if value is None and not settings.deletes else layout_of(settings, key, value)


def _alternatives(union: Union) -> Iterator[tuple[Shape | None, Column]]:
    """Each shape with its column, and at last none at all."""
    for shape, name in zip(union.shapes, union.columns, strict=True):
        yield shape, F.col(name)
    yield None, F.lit(None)


def _number(frame: RecordFrame, union: Union) -> Column:
    """Index among the `_alternatives`: a null is the last one, whatever its schema."""
    numbers = [F.when(F.col(name).isNotNull(), n) for n, name in enumerate(union.columns)]
    return F.coalesce(*numbers, F.lit(len(union.shapes)))


def _parts(cases: list[_Case], *, share: bool) -> tuple[Parts, dict[int, int]]:
    """The different layouts, and for the number of each case that of its layout.

    :param share: deletions go along with the rows of a layout that has the key's columns, if there is just one.
    """
    writable = [case for case in cases if case.layout.problem is None]
    layouts = list(dict.fromkeys(case.layout for case in writable))
    shared: dict[RowLayout, RowLayout] = {}
    for layout in layouts if share else ():
        hosts = [host for host in layouts if not host.delete and host.key_columns == layout.key_columns]
        if layout.delete and len(hosts) == 1:
            shared[layout] = hosts[0]
    parts = tuple(layout for layout in layouts if layout not in shared)
    return parts, {case.number: parts.index(shared.get(case.layout, case.layout)) for case in writable}


class _Cells:
    """The cells of each case, made once."""

    def __init__(
        self, frame: RecordFrame, settings: SinkSettings, rule: CellRule, is_native: Callable[[ConnectSchema], bool]
    ) -> None:
        self._frame, self._settings, self._rule, self._is_native = frame, settings, rule, is_native
        self._made: dict[int, dict[str, Cell]] = {}

    def of(self, case: _Case) -> dict[str, Cell]:
        """Cells by the names of the columns."""
        if case.number not in self._made:
            made = {column.name: self._cell(case, column) for column in case.layout.columns}
            self._made[case.number] = made
        return self._made[case.number]

    def problem(self, case: _Case) -> Column | None:
        """STRING, the error of a row that cannot be written."""
        if case.layout.problem is not None:
            return F.lit(DROPPED if case.layout.problem == DROPPED else _ERROR + case.layout.problem)
        problems = [cell.problem for cell in self.of(case).values() if cell.problem is not None]
        problems += [
            F.when(_source(self._frame, case, column).isNull(), f"field `{column.name}` of the primary key is null")
            for column in case.layout.columns
            if column.is_key and column.schema.optional and column.field is not None
        ]
        return F.concat(F.lit(_ERROR), F.coalesce(*problems)) if problems else None

    def _cell(self, case: _Case, column: TableColumn) -> Cell:
        rule = self._rule if self._is_native(column.schema) else json_cell
        return rule(column, _source(self._frame, case, column), self._settings)


_PLACES: Mapping[str, Callable[[RecordFrame], Column]] = {
    "topic": lambda frame: F.col(frame.topic) if frame.topic else F.lit(frame.constant_topic),
    "partition": lambda frame: F.col(frame.partition or "partition"),
    "offset": lambda frame: F.col(frame.offset or "kafka_offset"),
}


def _source(frame: RecordFrame, case: _Case, column: TableColumn) -> Column:
    if column.source in _PLACES:
        return _PLACES[column.source](frame)
    whole = case.columns[column.source]
    return whole if column.field is None else whole.getField(column.field)
