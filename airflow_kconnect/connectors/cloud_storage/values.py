"""Fields and moments of records, as Catalyst expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import DATE, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.connect.frame import RecordFrame, Union
from airflow_kconnect.connectors.cloud_storage.rules.partitions import (
    CONTROL,
    FIRST_MS,
    LAST_MS,
    LONGEST_PATH,
    NOT_A_FOLDER,
    ByFields,
    ByTime,
    Extractor,
)
from airflow_kconnect.converters.types import logical_name

_NUMBERS = (SchemaType.INT8, SchemaType.INT16, SchemaType.INT32, SchemaType.INT64)
_PATH_TYPES = (*_NUMBERS, SchemaType.BOOLEAN, SchemaType.STRING)
_MILLISECONDS = "^-?[0-9]{1,19}$"
_BEGINS_WITH_A_YEAR = r"^\s*[+-]?[0-9]{4,}"

Found = tuple[Column, Column]
"""What was found, and why it was not: a text, or null."""
_Read = Callable[[str, ConnectSchema | None, Column], Found]
"""Reads a field of this name. The schema is None if it is a VARIANT."""


def choose(union: Union, df: DataFrame, options: Mapping[int, Column]) -> Column:
    """The option of a row's shape; null if there is none."""
    if not options:
        return F.lit(None)
    if union.tag is None:
        return options[0]
    return F.coalesce(*(F.when(df[union.tag] == n, option) for n, option in options.items()))


def is_null(union: Union, df: DataFrame) -> Column:
    """Whether a row has no data in a part, with or without a schema."""
    if union.absent:
        return F.lit(True)
    nulls = {}
    for n, (shape, name) in enumerate(zip(union.shapes, union.columns, strict=True)):
        nulls[n] = df[name].isNull() | F.is_variant_null(df[name]) if shape.schemaless else df[name].isNull()
    return F.coalesce(choose(union, df, nulls).cast("boolean"), F.lit(True))


def path_text(frame: RecordFrame, fields: ByFields) -> Found:
    """The folder of FieldPartitioner."""
    parts: list[Column] = []
    problems: list[Column] = []
    for name in fields.names:
        text, problem = _of_shapes(frame, name, _as_text)
        text = F.coalesce(text, F.lit("null"))
        parts.append(F.concat(F.lit(f"{name}="), text) if fields.labels else text)
        problems.append(problem)
    path = F.concat_ws(fields.delim, *parts)
    shown = F.regexp_replace(path, CONTROL, "?")
    bad = F.when(path.rlike(NOT_A_FOLDER), F.concat(F.lit("the fields make no path that can be a folder: "), shown))
    long = F.when(
        F.octet_length(path) > LONGEST_PATH, F.lit(f"the fields make a path of more than {LONGEST_PATH} bytes")
    )
    return path, F.coalesce(*problems, bad, long)


def moment(frame: RecordFrame, by_time: ByTime) -> Found:
    """The moment of a record, ms since the epoch."""
    if by_time.extractor is Extractor.RECORD:
        column = F.col(frame.timestamp) if frame.timestamp else F.lit(None).cast("long")
        missing = F.lit("the record has no timestamp in Kafka")
        problem = F.lit(None).cast("string")
    else:
        column, problem = _of_shapes(frame, by_time.field, _as_moment)
        missing = F.lit(f"field `{by_time.field}` of `timestamp.field` is null, or is not a moment")
    wrong = F.lit("the moment of the record is not within the years 1 to 9999")
    ends = F.when(~column.between(FIRST_MS, LAST_MS), wrong)
    return column, F.coalesce(problem, F.when(column.isNull(), missing), ends)


def _of_shapes(frame: RecordFrame, name: str, read: _Read) -> Found:
    found: dict[int, Column] = {}
    problems: dict[int, Column] = {}
    union = frame.value
    for n, (shape, column) in enumerate(zip(union.shapes, union.columns, strict=True)):
        if shape.schema is None:
            found[n], problems[n] = read(name, None, _member(frame.df[column], name))
        elif (member := _field(shape.schema, frame.df[column], name)) is None:
            found[n], problems[n] = F.lit(None), F.lit(f"the value has no field `{name}`")
        else:
            found[n], problems[n] = read(name, *member)
    return choose(union, frame.df, found), choose(union, frame.df, problems).cast("string")


def _field(schema: ConnectSchema, column: Column, name: str) -> tuple[ConnectSchema, Column] | None:
    """A field by its name, or by the names of those around it."""
    if field := schema.field(name):
        return field.schema, column.getField(name)
    outer, dot, inner = name.partition(".")
    if dot and (field := schema.field(outer)):
        return _field(field.schema, column.getField(outer), inner)
    return None


def _member(column: Column, name: str) -> Column:
    """The same of a VARIANT."""
    whole = F.try_variant_get(column, f"$[{_quoted(name)}]", "variant")
    if "." not in name:
        return whole
    steps = "".join(f"[{_quoted(step)}]" for step in name.split("."))
    return F.coalesce(whole, F.try_variant_get(column, f"${steps}", "variant"))


def _quoted(name: str) -> str:
    return f'"{name}"' if "'" in name else f"'{name}'"


def _as_text(name: str, schema: ConnectSchema | None, column: Column) -> Found:
    none = F.lit(None).cast("string")
    if schema is None:
        kind = F.schema_of_variant(column)
        problem = F.when(column.isNull(), F.lit(f"the value has no field `{name}`")).when(
            kind.rlike("^(OBJECT|ARRAY)"), F.lit(f"field `{name}` is an object or a list: it cannot be a folder")
        )
        return F.try_variant_get(column, "$", "string"), problem
    if schema.type in _PATH_TYPES and logical_name(schema) in (None, DATE):
        return column.cast("string"), none
    return none, F.lit(f"field `{name}` is {schema.name or schema.type}: only texts, integers and booleans are folders")


def _as_moment(name: str, schema: ConnectSchema | None, column: Column) -> Found:
    none = F.lit(None).cast("string")
    if schema is None:
        is_text = F.schema_of_variant(column) == "STRING"
        text, number = F.try_variant_get(column, "$", "string"), F.try_variant_get(column, "$", "double")
        return F.when(is_text, _of_text(text)).otherwise(number.try_cast("long")), none
    if logical_name(schema) == TIMESTAMP:
        return F.unix_millis(column), none
    if logical_name(schema) == DATE:
        return F.unix_date(column).cast("long") * 86_400_000, none
    if schema.type is SchemaType.STRING:
        return _of_text(column), none
    if schema.type in _NUMBERS and logical_name(schema) is None:
        return column.cast("long"), none
    return F.lit(None).cast("long"), F.lit(f"field `{name}` is {schema.name or schema.type}, which is not a moment")


def _of_text(text: Column) -> Column:
    """Milliseconds in digits, or an ISO text. Without a date Spark would take the day of the run."""
    iso = F.when(text.rlike(_BEGINS_WITH_A_YEAR), text.try_cast("timestamp"))
    return F.when(text.rlike(_MILLISECONDS), text.try_cast("long")).otherwise(F.unix_millis(iso))
