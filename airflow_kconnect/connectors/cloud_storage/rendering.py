"""Records as rows for the writer, as Catalyst expressions: a column per stored part, and what makes the folder.

A part is text with its end of line (BINARY), or a struct, by its format. A record's own errors are texts in ``error``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import (
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    ConnectSchema,
    SchemaType,
    struct,
)
from airflow_kconnect.connect.error_cells import DROPPED, stage_prefix
from airflow_kconnect.connect.frame import RecordFrame, Union
from airflow_kconnect.connectors.cloud_storage.avro_files import schema_of
from airflow_kconnect.connectors.cloud_storage.columns import FOLDER, MOMENT, PARTS, TOMBSTONE
from airflow_kconnect.connectors.cloud_storage.keys.classes import Format
from airflow_kconnect.connectors.cloud_storage.keys.settings import FAIL, IGNORE, WRITE, FileKind, Settings
from airflow_kconnect.connectors.cloud_storage.rules.layout import Part
from airflow_kconnect.connectors.cloud_storage.rules.partitions import ByFields, ByTime, Extractor
from airflow_kconnect.connectors.cloud_storage.values import choose, is_null, moment, path_text
from airflow_kconnect.connectors.directory.rendering import Member, members_of
from airflow_kconnect.connectors.directory.types import common_type, fitted
from airflow_kconnect.converters.json.rules import Rules
from airflow_kconnect.converters.json.values import BASE64, NUMERIC
from airflow_kconnect.converters.json.write import write_bare


def rows(frame: RecordFrame, settings: Settings, now_ms: int, executing: str) -> DataFrame:
    """:param now_ms: the moment of all records without one. :param executing: the class in dead letters."""
    columns, problems = _parts(frame, settings)
    nothing = is_null(frame.value, frame.df)
    columns |= _place(frame, settings, now_ms, nothing, problems)
    error = F.coalesce(*problems) if problems else F.lit(None).cast("string")
    if settings.nulls == FAIL:
        text = "the record has no value, and `behavior.on.null.values` is fail"
        error = F.when(nothing, F.lit(text)).otherwise(error)
    own = F.concat(F.lit(stage_prefix("TASK_PUT", executing)), error)
    if settings.nulls == IGNORE:
        own = F.when(nothing, F.lit(DROPPED)).otherwise(own)
    elif settings.nulls == WRITE:
        columns[TOMBSTONE] = nothing
    carried = [F.col(name) for name in frame.carried if name != "error"]
    return frame.df.select(
        *(column.alias(name) for name, column in columns.items()),
        *carried,
        F.coalesce(F.col("error"), own).alias("error"),
    )


def with_schemas(settings: Settings, frame: RecordFrame) -> dict[Part, FileKind]:
    """The kinds of files; those of Avro with the schema of the frame's records."""
    return {
        part: replace(kind, schema=_schema(part, frame) if kind.format is Format.AVRO else None)
        for part, kind in settings.kinds.items()
    }


def _schema(part: Part, frame: RecordFrame) -> ConnectSchema:
    if part is Part.HEADERS:
        header = struct(("key", STRING_SCHEMA), ("value", OPTIONAL_STRING_SCHEMA), name="KafkaHeader")
        return ConnectSchema(SchemaType.ARRAY, value_schema=header)
    if part is Part.VALUES:
        return schema_of(frame.value.shapes, alone="value", may_be_null=False)
    return schema_of(frame.key.shapes, alone="key", may_be_null=frame.key.tag is not None)


def _parts(frame: RecordFrame, settings: Settings) -> tuple[dict[str, Column], list[Column]]:
    columns: dict[str, Column] = {}
    problems: list[Column] = []
    rules = Rules(NUMERIC if settings.numeric_decimals else BASE64)
    for part, kind in settings.kinds.items():
        if part is Part.HEADERS:
            columns[PARTS[part]] = _headers(frame, kind.format)
            continue
        union = frame.value if part is Part.VALUES else frame.key
        if part is Part.KEYS and settings.nulls == WRITE:
            text = F.lit("the record has neither a value nor a key: there is nothing to store")
            problems.append(F.when(is_null(frame.value, frame.df) & is_null(frame.key, frame.df), text))
        match kind.format:
            case Format.JSON:
                column = _json_line(union, frame.df, rules)
            case Format.BYTES:
                column = _bytes(union, frame.df, settings.separator)
                problems.append(_not_bytes(union, frame.df, "value" if part is Part.VALUES else "key"))
            case _:
                column = _struct(union, frame.df, "value" if part is Part.VALUES else "key")
                if part is Part.KEYS and kind.format is Format.PARQUET and _has_structs(union):
                    key = F.when(~is_null(union, frame.df), column)
                    column = F.struct(key.alias("key"))
        columns[PARTS[part]] = column
    return columns, problems


def _place(
    frame: RecordFrame, settings: Settings, now_ms: int, nothing: Column, problems: list[Column]
) -> dict[str, Column]:
    """The column for the folder; appends what is wrong with records that have none."""
    match settings.partitioning:
        case ByFields() as fields:
            text, problem = path_text(frame, fields)
            problems.append(F.when(~nothing, F.coalesce(problem, _in_tombstones(text, settings))))
            return {FOLDER: text}
        case ByTime(extractor=Extractor.WALLCLOCK):
            return {MOMENT: F.lit(now_ms).cast("long")}
        case ByTime() as by_time:
            column, problem = moment(frame, by_time)
            problems.append(F.when(~nothing, problem))
            return {MOMENT: column}
    return {}


def _in_tombstones(folder: Column, settings: Settings) -> Column:
    """Why a record with a value cannot be in a folder: of what is in that of records without, only keys are stored."""
    if settings.nulls != WRITE:
        return F.lit(None).cast("string")
    text = f"the fields make the folder {settings.tombstones}, which `tombstone.encoded.partition` has for others"
    return F.when(folder == settings.tombstones, F.lit(text))


def _json_line(union: Union, df: DataFrame, rules: Rules) -> Column:
    texts = {}
    for n, (shape, name) in enumerate(zip(union.shapes, union.columns, strict=True)):
        column = df[name]
        texts[n] = write_bare(shape.schema, column, rules) if shape.schema else F.to_json(column).cast("binary")
    return F.concat(F.coalesce(choose(union, df, texts).cast("binary"), F.lit(b"null")), F.lit(b"\n"))


def _bytes(union: Union, df: DataFrame, separator: str) -> Column:
    shapes = enumerate(zip(union.shapes, union.columns, strict=True))
    plain = {n: df[name] for n, (shape, name) in shapes if shape.schema and shape.schema.type is SchemaType.BYTES}
    data = F.coalesce(choose(union, df, plain).cast("binary"), F.lit(b""))
    return F.concat(data, F.lit(separator.encode()))


def _not_bytes(union: Union, df: DataFrame, part: str) -> Column:
    found = {
        n: f"ByteArrayFormat stores bytes, and the {part} is {shape.schema.type if shape.schema else 'schemaless'}: "
        f"set `{part}.converter` to org.apache.kafka.connect.converters.ByteArrayConverter"
        for n, shape in enumerate(union.shapes)
        if shape.schema is None or shape.schema.type is not SchemaType.BYTES or shape.schema.name is not None
    }
    return choose(union, df, {n: F.lit(text) for n, text in found.items()}).cast("string")


def _struct(union: Union, df: DataFrame, alone: str) -> Column:
    """A struct with the members of all shapes that are structs; others are its member `alone`."""
    parts = [_members(union, df, n, alone) for n in range(len(union.shapes))]
    names = dict.fromkeys(name for part in parts for name in part)
    if not names:
        return F.struct(F.lit(None).cast("string").alias(alone))
    return F.struct(*(_united(union, df, name, parts) for name in names))


def _has_structs(union: Union) -> bool:
    return any(shape.schema and shape.schema.type is SchemaType.STRUCT for shape in union.shapes)


def _members(union: Union, df: DataFrame, number: int, alone: str) -> dict[str, Member]:
    schema = union.shapes[number].schema
    found = members_of(schema, df, union.columns[number])
    return found if schema and schema.type is SchemaType.STRUCT else {alone: found["value"]}


def _united(union: Union, df: DataFrame, name: str, parts: Sequence[dict[str, Member]]) -> Column:
    members = {n: part[name] for n, part in enumerate(parts) if name in part}
    type_ = reduce(lambda one, other: common_type(name, one, other), [type_ for _, type_ in members.values()])
    return choose(union, df, {n: fitted(column, given, type_) for n, (column, given) in members.items()}).alias(name)


def _headers(frame: RecordFrame, format_: Format) -> Column:
    """Keys and texts of headers, in a member `headers` of JSON and Parquet. Avro takes it out."""
    if frame.headers is None:
        listed = F.expr("cast(array() as array<struct<key: string, value: string>>)")
    else:
        listed = F.transform(
            F.coalesce(F.col(frame.headers), F.expr("array()")),
            lambda each: F.struct(
                each["key"].alias("key"), F.make_valid_utf8(each["value"].cast("string")).alias("value")
            ),
        )
    row = F.struct(listed.alias("headers"))
    if format_ is Format.JSON:
        return F.concat(F.to_json(row, {"ignoreNullFields": "false"}).cast("binary"), F.lit(b"\n"))
    return row
