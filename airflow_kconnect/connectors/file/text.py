"""Records as lines of text in the format of Java's ``toString``, as Catalyst expressions.

Where that would be useless, the text differs: bytes are base64 (Java prints the identity of the array), and schemaless
objects and lists are JSON (Java prints ``{a=1}``, which no program can read back).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.converters.java_text import java_text


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
    return java_text(schema, column)
