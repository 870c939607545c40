"""Which changes of a keyed table the records of a frame are: rows that are written, and rows that are deleted.

The sink calls, in this order: `changes_of`; what makes rows with the columns of the table; `Changes.checked`;
`PlanRecords.good`; `Changes.write`. Without keys it calls `without_tombstones`.

Where keys are from is as in Confluent's JDBC sink (``pk.mode``, ``pk.fields``); ``table.cdc.field`` is that
of Iceberg's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from airflow_kconnect.connect.connector.row_counts import RowCount
from airflow_kconnect.connect.data import SCHEMALESS, ConnectSchema, SchemaType, Shape
from airflow_kconnect.connect.error_cells import DROPPED, stage_prefix, with_exception
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.frame import RecordFrame, Union
from airflow_kconnect.connectors.table.formats.base import counted
from airflow_kconnect.connectors.table.settings import RECORD_KEY, TableSettings

if TYPE_CHECKING:
    from airflow_kconnect.connect.connector.planned import SinkPlan
    from airflow_kconnect.connectors.table.formats.base import Table

DELETED = "kconnect_deleted"
_ERROR_BEFORE, _SOURCE, _TIME = "kconnect_error", "kconnect_source", "kconnect_time"
_NUMBER = "kconnect_number"
_READ_FROM = "read_from"
_MARK, _OPERATION = "__deleted", "__op"
"""Fields that ExtractNewRecordState adds to rows."""
_ERROR = stage_prefix("TASK_PUT", "airflow_kconnect.connectors.SparkTableSinkConnector") + with_exception(
    "org.apache.kafka.connect.errors.ConnectException", ""
)


@dataclass(frozen=True)
class Changes:
    """The changes of a plan in one table.

    :param frame: the records; the fields of their keys have to become columns as well, where `by_record_key`.
    :param keys: names of the columns that identify a row; empty: no record has a key, so that all are bad.
    :param by_record_key: whether they are fields of the record's key; else of its value, or metadata.
    :param deleted: name of the frame's BOOLEAN column that says which rows are deleted; None: none is.
    :param sources: how many topic-partitions the records are from.
    :param case_insensitive: whether names find their columns in any case.
    """

    frame: RecordFrame
    keys: tuple[str, ...]
    by_record_key: bool
    deleted: str | None
    sources: int
    case_insensitive: bool = False

    def check_columns(self, columns: Sequence[str], connector: str) -> None:
        """:raises ConfigError: the table has, or would have, no column for a part of the key."""
        missing = [name for name, column in self._columns(columns).items() if column is None]
        if missing and (self.frame.key if self.by_record_key else self.frame.value).shapes:
            text = f"the table has no column `{missing[0]}`, which is to identify its rows: see `pk.fields`"
            raise ConfigError({"pk.fields": [text]}, connector)

    def checked(self, rows: DataFrame) -> DataFrame:
        """The rows of the table: an ``error`` if they have no key. Of those that are deleted only the key matters."""
        error = F.col("error")
        if self.deleted is not None:
            error = F.when(F.col(self.deleted), F.col(_ERROR_BEFORE)).otherwise(error)
        is_null = {column: F.col(f"`{column}`").isNull() for column in self._names(rows)}
        nulls = [F.when(null, f"{_ERROR}column `{column}` of the key is null") for column, null in is_null.items()]
        return rows.withColumn("error", F.coalesce(error, *nulls)).drop(_ERROR_BEFORE)

    def write(self, table: Table, plan: SinkPlan, rows: DataFrame) -> None:
        """Write good rows: the last one of each key."""
        last = self._last(rows)
        if self.keys:
            table.merge(plan, last, self._names(rows), self.deleted)
        else:  # there are none
            table.append(plan, last if self.deleted is None else last.drop(self.deleted))

    def counted(self, rows: DataFrame) -> tuple[DataFrame, RowCount]:
        """What `write` would write of good rows, and how many rows it upserts."""
        return counted(self._last(rows), self.deleted)

    def _last(self, rows: DataFrame) -> DataFrame:
        return self.last(rows).drop("kafka_offset")

    def last(self, rows: DataFrame) -> DataFrame:
        """The last row of each key.

        Within a topic-partition that is the one with the highest offset. Among those that are left, the timestamp
        decides: Kafka knows no order of records in different partitions.
        """
        keys, offset = [F.col(f"`{name}`") for name in self._names(rows)], F.col("kafka_offset").desc()
        if self.sources == 1:
            return _first(rows, Window.partitionBy(*keys).orderBy(offset))
        # One shuffle for both windows.
        rows = rows.repartition(*keys) if keys else rows
        rows = _first(rows, Window.partitionBy(*keys, _SOURCE).orderBy(offset))
        newest = [F.col(_TIME).desc_nulls_last(), F.col(_SOURCE).desc()]
        return _first(rows, Window.partitionBy(*keys).orderBy(*newest)).drop(_SOURCE, _TIME)

    def _names(self, rows: DataFrame) -> list[str]:
        return [column for column in self._columns(rows.columns).values() if column is not None]

    def _columns(self, columns: Sequence[str]) -> dict[str, str | None]:
        """Those of the keys."""
        fold = str.lower if self.case_insensitive else str
        folded = {fold(name): name for name in columns}
        return {name: folded.get(fold(name)) for name in self.keys}


def without_tombstones(frame: RecordFrame) -> RecordFrame:
    """The records for a table without keys: those without value are not rows of it."""
    return frame.with_columns({"error": F.coalesce(F.col("error"), F.when(_is_null(frame.value), DROPPED))})


def changes_of(frame: RecordFrame, settings: TableSettings, keys: tuple[str, ...], sources: int) -> Changes:
    """The changes that records are. Of a bad record only its ``error`` matters.

    :param keys: names of the columns that identify a row; empty: all fields of the record key.
    :param sources: how many topic-partitions the records are from.
    """
    by_key, deletes = settings.pk_mode == RECORD_KEY, settings.deletes
    keys = keys or (_all_fields(frame.key) if by_key else ())
    problems = [] if deletes and by_key else [F.when(_is_null(frame.value), DROPPED)]
    if by_key:
        frame, of_keys = _with_usable_keys(frame, keys)
        problems += of_keys
    columns = {"error": F.coalesce(F.col("error"), *problems)} if problems else {}
    carried = _order(frame, columns, sources)
    if deletes:
        columns |= {DELETED: _deleted(frame, settings), _ERROR_BEFORE: columns.get("error", F.col("error"))}
        carried += [DELETED, _ERROR_BEFORE]
        frame = _without_marks(frame, columns)
    frame = replace(frame.with_columns(columns), carried=(*frame.carried, *carried))
    return Changes(frame, keys, by_key, DELETED if deletes else None, sources, settings.case_insensitive)


def _all_fields(key: Union) -> tuple[str, ...]:
    """Of the first key that has fields."""
    structs = (shape.schema for shape in key.shapes if _is_struct(shape.schema))
    return next((tuple(field.name for field in schema.fields) for schema in structs if schema), ())


def _with_usable_keys(frame: RecordFrame, names: Sequence[str]) -> tuple[RecordFrame, list[Column]]:
    """The frame without the keys that cannot identify a row, and the errors of their records."""
    problems = {name: _key_problem(names, shape) for shape, name in _pairs(frame.key)}
    found = [F.when(F.col(name).isNotNull(), _ERROR + text) for name, text in problems.items() if text is not None]
    found.append(F.when(_is_null(frame.key), f"{_ERROR}the record's key is null, and `pk.mode` is record_key"))
    usable = [(shape, name) for shape, name in _pairs(frame.key) if problems[name] is None]
    union = Union(tuple(shape for shape, _ in usable), tuple(name for _, name in usable), "key_change")
    tags = [F.when(F.col(name).isNotNull(), n) for n, name in enumerate(union.columns)]
    frame = frame.with_columns({"key_change": F.coalesce(*tags, F.lit(None).cast("int"))})
    return replace(frame, key=union), found


def _key_problem(names: Sequence[str], shape: Shape) -> str | None:
    """Why keys of a shape cannot identify a row."""
    schema = shape.schema
    if schema is None:
        return None if names else "the record's key has no schema: name its fields in `pk.fields`"
    if schema.type is SchemaType.STRUCT:
        return next(filter(None, (_member_problem(name, schema) for name in names)), None)
    if not schema.type.is_primitive:
        return f"the record's key is of type {schema.type.name}; it must be a struct or a single value"
    if len(names) != 1:
        return (
            "the record's key is a single value, so `pk.fields` must be the name of its column; it has"
            f" {len(names)} names"
        )
    return None


def _member_problem(name: str, schema: ConnectSchema) -> str | None:
    field = schema.field(name)
    if field is None:
        known = ", ".join(f"`{member.name}`" for member in schema.fields)
        return f"the record's key has no field `{name}` of `pk.fields`; it has {known or 'no fields'}"
    if not field.schema.type.is_primitive:
        return f"field `{name}` is of type {field.schema.type.name}, which cannot identify a row: set `pk.fields`"
    return None


def _order(frame: RecordFrame, columns: dict[str, Column], sources: int) -> list[str]:
    """Adds what orders records of several topic-partitions, besides their offsets; returns the names."""
    if sources == 1:
        return []
    assert frame.partition is not None
    assert frame.timestamp is not None
    topic = F.col(_READ_FROM) if _READ_FROM in frame.carried else F.col(frame.topic or "topic")
    columns[_SOURCE] = F.struct(topic.alias("topic"), F.col(frame.partition).alias("partition"))
    columns[_TIME] = F.col(frame.timestamp)
    return [_SOURCE, _TIME]


def _deleted(frame: RecordFrame, settings: TableSettings) -> Column:
    """BOOLEAN, whether a record deletes its row: it has no value, or its value says so."""
    marks = (
        F.when(F.col(name).isNotNull(), reduce(Column.__or__, _marks(settings, shape, F.col(name)), F.lit(False)))
        for shape, name in _pairs(frame.value)
    )
    return F.coalesce(*marks, F.lit(True))


def _marks(settings: TableSettings, shape: Shape, value: Column) -> Iterator[Column]:
    """BOOLEAN, what in a value may say that its row is deleted."""
    if (mark := _text(shape, value, [_MARK])) is not None:
        yield F.coalesce(F.lower(mark) == "true", F.lit(False))
    if (operation := _text(shape, value, [_OPERATION])) is not None:
        yield F.coalesce(operation == "d", F.lit(False))
    path = settings.cdc_field
    if path and (operation := _text(shape, value, path.split("."))) is not None:
        yield F.coalesce(F.upper(F.trim(operation)).startswith("D"), F.lit(False))


def _text(shape: Shape, value: Column, path: Sequence[str]) -> Column | None:
    """A member as STRING; None: there is none."""
    if shape.schema is None:
        return F.try_variant_get(value, "$" + "".join(f'["{name}"]' for name in path), "string")
    schema: ConnectSchema = shape.schema
    for name in path:
        field = schema.field(name)
        if field is None:
            return None
        schema, value = field.schema, value.getField(name)
    return value.cast("string") if schema.type in (SchemaType.STRING, SchemaType.BOOLEAN) else None


def _without_marks(frame: RecordFrame, columns: dict[str, Column]) -> RecordFrame:
    """Where rows that are marked as deleted go, those that stay all have the same mark: it is not a column."""
    shapes = []
    for shape, name in _pairs(frame.value):
        schema = shape.schema
        if shape == SCHEMALESS:
            members = F.try_variant_get(F.col(name), "$", "map<string,variant>")
            others = F.to_variant_object(F.map_filter(members, lambda member, _: member != _MARK))
            is_marked = F.try_variant_get(F.col(name), f'$["{_MARK}"]', "variant").isNotNull()
            columns[name] = F.when(is_marked, others).otherwise(F.col(name))
        elif _is_struct(schema) and schema is not None and schema.field(_MARK) is not None:
            kept = tuple(field for field in schema.fields if field.name != _MARK)
            members = F.struct(*(F.col(name).getField(field.name).alias(field.name) for field in kept))
            columns[name] = F.when(F.col(name).isNotNull(), members)
            shape = Shape(replace(schema, fields=kept))
        shapes.append(shape)
    return replace(frame, value=replace(frame.value, shapes=tuple(shapes)))


def _is_struct(schema: ConnectSchema | None) -> bool:
    return schema is not None and schema.type is SchemaType.STRUCT


def _pairs(union: Union) -> list[tuple[Shape, str]]:
    return list(zip(union.shapes, union.columns, strict=True))


def _is_null(union: Union) -> Column:
    """Whether a part is null, whatever its schema."""
    return reduce(Column.__and__, (F.col(name).isNull() for name in union.columns), F.lit(True))


def _first(rows: DataFrame, window: WindowSpec) -> DataFrame:
    return rows.withColumn(_NUMBER, F.row_number().over(window)).where(F.col(_NUMBER) == 1).drop(_NUMBER)
