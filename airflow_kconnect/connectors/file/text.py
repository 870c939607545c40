"""Records as lines of text in the format of Java's ``toString``, as Catalyst expressions.

Where that would be useless, the text differs: bytes are base64 (Java prints the identity of the array), and schemaless
objects and lists are JSON (Java prints ``{a=1}``, which no program can read back).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import DATE, TIME, TIMESTAMP, ConnectSchema, SchemaType
from airflow_kconnect.connect.frame import RecordFrame

# java.util.Date.toString() in the time zone UTC.
_JAVA_DATE = "EEE MMM dd HH:mm:ss 'UTC' yyyy"


def text_lines(frame: RecordFrame) -> DataFrame:
    """Column ``line`` (STRING): the text of the value, ``null`` if there is none, and a line feed."""
    df, union = frame.df, frame.value
    texts = [_text(shape.schema, df[name]) for shape, name in zip(union.shapes, union.columns, strict=True)]
    if union.tag is not None:
        texts = [F.when(df[union.tag] == n, text) for n, text in enumerate(texts)]
    line = F.concat(F.coalesce(*texts, F.lit("null")), F.lit("\n"))
    return df.select(line.alias("line"), *frame.carried)


def _text(schema: ConnectSchema | None, column: Column) -> Column:
    """Text of the values of a column; null stays null."""
    if schema is None:
        return F.coalesce(F.try_variant_get(column, "$", "string"), F.to_json(column))
    if schema.name in (DATE, TIME, TIMESTAMP):
        instant = F.timestamp_millis(column) if schema.name == TIME else column.cast("timestamp")
        return F.date_format(instant, _JAVA_DATE)
    match schema.type:
        case SchemaType.STRUCT:
            # As in Java's Struct, members without value are left out.
            members = [_entry(F.lit(f.name), _text(f.schema, column.getField(f.name))) for f in schema.fields]
            return _within(column, "Struct{", F.concat_ws(",", *members), "}")
        case SchemaType.ARRAY:
            items = F.transform(column, lambda item: _text(schema.value_schema, item))
            return _within(column, "[", F.array_join(items, ", ", "null"), "]")
        case SchemaType.MAP:
            return _within(column, "{", F.array_join(_entries(schema, column), ", "), "}")
        case SchemaType.BYTES if schema.name is None:
            return F.base64(column)
        case _:
            return column.cast("string")


def _entries(schema: ConnectSchema, column: Column) -> Column:
    def entry(pair: Column) -> Column:
        key, value = _text(schema.key_schema, pair["key"]), _text(schema.value_schema, pair["value"])
        return _entry(F.coalesce(key, F.lit("null")), F.coalesce(value, F.lit("null")))

    return F.transform(F.map_entries(column), entry)


def _entry(name: Column, text: Column) -> Column:
    return F.concat(name, F.lit("="), text)


def _within(column: Column, before: str, text: Column, after: str) -> Column:
    return F.when(column.isNotNull(), F.concat(F.lit(before), text, F.lit(after)))
