"""Renders records as rows for the directory sink's writers, as Catalyst expressions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from airflow_kconnect.connect.data import ConnectSchema, SchemaType
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.connectors.directory.types import common_type, fitted
from airflow_kconnect.connectors.json_keys import with_text_keys

_PLAIN = (SchemaType.BOOLEAN, SchemaType.INT8, SchemaType.INT16, SchemaType.INT32, SchemaType.INT64)
_NESTED = (SchemaType.STRUCT, SchemaType.MAP, SchemaType.ARRAY)
_KEEP_NULLS = {"ignoreNullFields": "false"}


def json_lines(frame: RecordFrame) -> DataFrame:
    """Column ``line`` (BINARY): the value as JSON and a line feed; ``null`` if there is no value.

    If all values are strings, column ``string``: the writer quotes a whole batch at once.
    """
    shapes, df = frame.value.shapes, frame.df
    if len(shapes) == 1 and shapes[0].schema is not None and shapes[0].schema.type is SchemaType.STRING:
        return df.select(df[frame.value.columns[0]].alias("string"), *frame.carried)
    texts = {n: _json(shapes[n].schema, df[column]) for n, column in enumerate(frame.value.columns)}
    # A separate column: the code below refers to it twice, and would otherwise evaluate it twice.
    df = df.withColumn("text", choose(frame, texts).cast("binary"))
    brackets = choose(frame, {n: F.lit(_in_brackets(shape.schema)) for n, shape in enumerate(shapes)}).cast("boolean")
    bare = F.when(brackets, F.substring("text", F.lit(2), F.octet_length("text") - 2)).otherwise(F.col("text"))
    return df.select(F.concat(F.coalesce(bare, F.lit(b"null")), F.lit(b"\n")).alias("line"), *frame.carried)


def parquet_rows(frame: RecordFrame) -> DataFrame:
    """Column ``row``: a struct with the members of all shapes that are structs, and ``value`` for the others.

    :raises DataError: two shapes have a member with the same name but no common type.
    """
    shapes, df = frame.value.shapes, frame.df
    parts = [members_of(shape.schema, df, name) for shape, name in zip(shapes, frame.value.columns, strict=True)]
    names = dict.fromkeys(name for part in parts for name in part) or {"value": None}
    members = [_united(frame, name, {n: part[name] for n, part in enumerate(parts) if name in part}) for name in names]
    return df.select(F.struct(*members).alias("row"), *frame.carried)


Member = tuple[Column, T.DataType]


def _json(schema: ConnectSchema | None, column: Column) -> Column:
    """JSON text as BINARY, possibly `_in_brackets`."""
    if schema is None:
        return F.to_json(column).cast("binary")
    if schema.type in _NESTED:
        return F.to_json(with_text_keys(schema, column), _KEEP_NULLS).cast("binary")
    if _in_brackets(schema):
        return F.to_json(F.array(column), _KEEP_NULLS).cast("binary")
    return column.cast("string").cast("binary")


def _in_brackets(schema: ConnectSchema | None) -> bool:
    """Whether the text is a list of one value, since Spark writes only nested data."""
    return schema is not None and schema.type not in _NESTED and (schema.type not in _PLAIN or schema.name is not None)


def members_of(schema: ConnectSchema | None, df: DataFrame, name: str) -> dict[str, Member]:
    """The columns for values of a schema: those of a struct's fields, else ``value``."""
    column, type_ = df[name], df.schema[name].dataType
    if schema is None:
        return {"value": (F.when(~F.is_variant_null(column), F.to_json(column)), T.StringType())}
    if isinstance(type_, T.StructType):
        return {field.name: (column.getField(field.name), field.dataType) for field in type_.fields}
    return {"value": (column, type_)}


def _united(frame: RecordFrame, name: str, members: Mapping[int, Member]) -> Column:
    """One column for the members with that name; null in rows of shapes without one."""
    if not members:
        return F.lit(None).cast("string").alias(name)
    type_ = reduce(lambda one, other: common_type(name, one, other), [type_ for _, type_ in members.values()])
    chosen = choose(frame, {n: fitted(column, given, type_) for n, (column, given) in members.items()})
    return chosen.alias(name)


def choose(frame: RecordFrame, options: Mapping[int, Column]) -> Column:
    """The option of a row's shape; null if there is none."""
    if not options:
        return F.lit(None)
    if frame.value.tag is None:
        return options[0]
    tag = frame.df[frame.value.tag]
    return F.coalesce(*(F.when(tag == n, option) for n, option in options.items()))
