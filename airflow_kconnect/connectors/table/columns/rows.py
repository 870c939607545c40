"""Records as rows of a table, by Catalyst alone: one projection, whose column ``error`` says what does not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from airflow_kconnect.connect.data import ConnectSchema, SchemaType
from airflow_kconnect.connect.error_cells import stage_prefix
from airflow_kconnect.connect.frame import RecordFrame, Union
from airflow_kconnect.connectors.json_keys import with_text_keys
from airflow_kconnect.connectors.table.columns.casts import moment_of_millis
from airflow_kconnect.connectors.table.columns.columns import (
    COLUMNS,
    JSON,
    KEY,
    OFFSET,
    PARTITION,
    TIMESTAMP,
    TOPIC,
    VARIANT,
    ColumnSettings,
    key_members_of,
    key_type,
    members_of,
)
from airflow_kconnect.connectors.table.columns.evolution import FAIL
from airflow_kconnect.connectors.table.columns.fitting import (
    Fit,
    Rules,
    first_problem,
    fit,
    null_problem,
    struct_problems,
)
from airflow_kconnect.connectors.table.columns.variants import Place, fit_variant, look, members_fit
from airflow_kconnect.connectors.table.identifiers import quoted
from airflow_kconnect.converters.base import choose
from airflow_kconnect.converters.base64_text import base64_text
from airflow_kconnect.converters.types import spark_type

_DEFAULTS = ColumnSettings()
_LOOK = "kconnect_look_"
_KEEP_NULLS = {"ignoreNullFields": "false"}


@dataclass
class _Part:
    """What the shapes of keys or values give columns.

    :param cells: by name of the column and number of the shape.
    :param problems: by number of the shape.
    """

    cells: dict[str, dict[int, Column]] = field(default_factory=dict)
    problems: dict[int, Column] = field(default_factory=dict)

    def add(self, number: int, fits: Mapping[str, Fit], others: Sequence[Column] = ()) -> None:
        """What a shape gives.

        :param others: problems of the value as a whole.
        """
        for name, made in fits.items():
            self.cells.setdefault(name, {})[number] = made.cell
        found = first_problem([*others, *(made.problem for made in fits.values() if made.problem is not None)])
        if found is not None:
            self.problems[number] = found


def rows_of(
    frame: RecordFrame, columns: T.StructType, settings: ColumnSettings = _DEFAULTS, deleted: str | None = None
) -> DataFrame:
    """The columns of the table, and those that the frame carries; ``error`` also has what does not fit.

    :param columns: of the table, as they are when the rows are written.
    :param deleted: name of a BOOLEAN column of the frame: such rows only need the columns of the key.
    """
    rules = Rules(settings.evolution.get("add", FAIL), settings.fold)
    metadata = _metadata(frame, settings)
    own = T.StructType([each for each in columns.fields if each.name not in metadata])
    frame = _with_looks(frame, own, settings)
    key, value = _key_part(frame, own, settings, rules), _value_part(frame, own, settings, rules)
    cells = {each.name: _cell(frame, each, key, value, metadata) for each in columns.fields}
    problems = [*_problems(frame.key, key), *_problems(frame.value, value)]
    nulls = first_problem([null_problem(e.name, cells[e.name]) for e in columns.fields if not e.nullable])
    if nulls is not None:
        problems.append(nulls if deleted is None else F.when(~F.col(quoted(deleted)), nulls))
    named = [cell.alias(name) for name, cell in cells.items()]
    others = [frame.df[quoted(name)] for name in frame.carried if name != "error"]
    return frame.df.select(*named, *others, _error(frame, problems, settings).alias("error"))


def _with_looks(frame: RecordFrame, columns: T.StructType, settings: ColumnSettings) -> RecordFrame:
    """The frame with what `look` finds in schemaless values: a column, so that it is evaluated once."""
    if settings.schemaless != COLUMNS or settings.case_insensitive:
        return frame
    shapes = zip(frame.value.shapes, frame.value.columns, strict=True)
    found = {_LOOK + name: look(F.col(quoted(name)), columns.fields)[0] for shape, name in shapes if shape.schemaless}
    looks = {name: column for name, column in found.items() if column is not None}
    return frame.with_columns(looks) if looks else frame


def _error(frame: RecordFrame, problems: list[Column], settings: ColumnSettings) -> Column:
    had = F.col("error") if "error" in frame.carried else F.lit(None).cast("string")
    if (found := first_problem(problems)) is None:
        return had
    return F.coalesce(had, F.concat(F.lit(stage_prefix("TASK_PUT", settings.executing)), found))


def _value_part(frame: RecordFrame, columns: T.StructType, settings: ColumnSettings, rules: Rules) -> _Part:
    part = _Part()
    for number, (shape, name) in enumerate(zip(frame.value.shapes, frame.value.columns, strict=True)):
        column = F.col(quoted(name))
        if shape.schema is not None:
            members = members_of(shape.schema, settings.value)
            part.add(number, *_of_fields(column, shape.schema, members, columns, rules))
        elif settings.schemaless == COLUMNS:
            seen = F.col(quoted(_LOOK + name)) if _LOOK + name in frame.df.columns else None
            part.add(number, *_of_members(column, seen, columns, settings, rules))
        elif settings.schemaless in (JSON, VARIANT):
            part.add(number, _whole(column, columns, settings, rules))
        else:
            text = "the value has no schema, and values without one are set to fail"
            part.add(number, {}, [F.when(column.isNotNull(), F.lit(text))])
    return part


def _key_part(frame: RecordFrame, columns: T.StructType, settings: ColumnSettings, rules: Rules) -> _Part:
    part = _Part()
    if settings.key is None:
        return part
    for number, (shape, name) in enumerate(zip(frame.key.shapes, frame.key.columns, strict=True)):
        column = F.col(quoted(name))
        if shape.schema is None:
            kept = [each for each in columns.fields if each.name in settings.key]
            fits, _ = members_fit("", Place(column, folded=settings.case_insensitive), kept, rules)
            part.add(number, {each.name: made for each, made in zip(kept, fits, strict=True)})
        else:
            members = key_members_of(shape.schema, settings.key)
            part.add(number, *_of_fields(column, shape.schema, members, columns, rules))
    return part


def _of_fields(
    column: Column, schema: ConnectSchema, members: ConnectSchema, columns: T.StructType, rules: Rules
) -> tuple[dict[str, Fit], list[Column]]:
    """What a struct gives columns, or a value that is none."""
    is_struct = schema.type is SchemaType.STRUCT
    given = {rules.fold(each.name): each for each in members.fields}
    fits = {}
    for each in columns.fields:
        found = given.get(rules.fold(each.name))
        if found is not None:
            cell = column.getField(found.name) if is_struct else column
            fits[each.name] = fit(each.name, cell, found.schema, each.dataType, rules)
    wrong = [F.when(column.isNotNull(), F.lit(text)) for text in struct_problems("", members, columns, rules)]
    return fits, wrong[:1]


def _of_members(
    column: Column, seen: Column | None, columns: T.StructType, settings: ColumnSettings, rules: Rules
) -> tuple[dict[str, Fit], list[Column]]:
    """What a schemaless object gives columns, or a value that is none.

    :param seen: what `look` has found in it.
    """
    looks = {} if seen is None else {name: seen.getField(name) for name in look(column, columns.fields)[1]}
    place = Place(column, folded=settings.case_insensitive, looks=looks)
    made, wrong = members_fit("", place, columns.fields, rules)
    fits = dict(zip(columns.names, made, strict=True))
    nothing = F.lit(True)
    for each in made:
        nothing = nothing & each.cell.isNull()
    is_other = place.is_given & (place.kind != "OBJECT")
    if (name := settings.value) in fits:
        whole = fit_variant(name, place, columns[name].dataType, rules)
        member = fits[name]
        fits[name] = Fit(F.coalesce(member.cell, F.when(nothing & is_other, whole.cell)), member.problem)
        no_object = [] if whole.problem is None else [F.when(nothing & is_other, whole.problem)]
    else:
        text = f"the value is not an object, and the table has no column `{name}`"
        no_object = [F.when(nothing & is_other, F.lit(text))]
    return fits, [*no_object, *([wrong] if wrong is not None else [])]


def _whole(column: Column, columns: T.StructType, settings: ColumnSettings, rules: Rules) -> dict[str, Fit]:
    """A schemaless value in one column: as VARIANT, or as JSON text."""
    if settings.value not in columns.names:
        return {}
    wanted = columns[settings.value].dataType
    if isinstance(wanted, T.StringType):
        return {settings.value: Fit(F.when(~F.is_variant_null(column), F.to_json(column)))}
    return {settings.value: fit_variant(settings.value, Place(column), wanted, rules)}


def _json(column: Column, schema: ConnectSchema) -> Column:
    if schema.type.is_primitive:
        return F.to_json(column.cast("variant"))
    return F.to_json(with_text_keys(schema, column), _KEEP_NULLS)


def _cell(
    frame: RecordFrame, column: T.StructField, key: _Part, value: _Part, metadata: Mapping[str, Column]
) -> Column:
    """A column of the table: from the key before the value; null if nothing of the record gives one."""
    if column.name in metadata:
        return metadata[column.name].cast(column.dataType)
    parts = [(frame.key, key.cells.get(column.name)), (frame.value, value.cells.get(column.name))]
    chosen = [_chosen(union, options) for union, options in parts if options]
    if not chosen:
        return F.lit(None).cast(column.dataType)
    return chosen[0] if len(chosen) == 1 else F.coalesce(*chosen)


def _problems(union: Union, part: _Part) -> list[Column]:
    return [_chosen(union, part.problems)] if part.problems else []


def _chosen(union: Union, options: Mapping[int, Column]) -> Column:
    """The option of a row's shape."""
    if union.tag is None or len(union.shapes) == 1:
        return next(iter(options.values()))  # rows without the shape have null there
    return choose(F.col(quoted(union.tag)), options)


def _metadata(frame: RecordFrame, settings: ColumnSettings) -> dict[str, Column]:
    """The columns of Kafka's part of a record, by name."""
    topic = F.col(quoted(frame.topic)) if frame.topic else F.lit(frame.constant_topic).cast("string")
    makers = {
        TOPIC: lambda: topic,
        PARTITION: lambda: _or_null(frame.partition, "int"),
        OFFSET: lambda: _or_null(frame.offset, "bigint"),
        TIMESTAMP: lambda: _timestamp(frame),
        KEY: lambda: _key(frame),
    }
    return {name: makers[part]() for part, name in settings.metadata.items()}


def _or_null(name: str | None, type_: str) -> Column:
    return F.lit(None).cast(type_) if name is None else F.col(quoted(name))


def _timestamp(frame: RecordFrame) -> Column:
    """Null if a record has none, which Kafka says by -1."""
    if frame.timestamp is None:
        return F.lit(None).cast("timestamp")
    millis = F.col(quoted(frame.timestamp))
    return moment_of_millis(F.when(millis >= 0, millis), T.TimestampType())


def _key(frame: RecordFrame) -> Column:
    """The key as bytes if all keys are, else as text: JSON for what has fields or is schemaless."""
    as_bytes = isinstance(key_type(frame), T.BinaryType)
    texts = {}
    for number, (shape, name) in enumerate(zip(frame.key.shapes, frame.key.columns, strict=True)):
        column = F.col(quoted(name))
        texts[number] = column if as_bytes else _key_text(column, shape.schema)
    return _chosen(frame.key, texts) if texts else F.lit(None).cast("string")


def _key_text(column: Column, schema: ConnectSchema | None) -> Column:
    if schema is None:
        return F.when(~F.is_variant_null(column), F.coalesce(_text_of(column), F.to_json(column)))
    if not schema.type.is_primitive:
        return _json(column, schema)
    return base64_text(column) if isinstance(spark_type(schema), T.BinaryType) else column.cast("string")


def _text_of(variant: Column) -> Column:
    return F.try_variant_get(variant, "$", "string")
