"""ByteArrayConverter: passes bytes through unchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_kconnect.connect.data import OPTIONAL_BYTES_SCHEMA, SchemaType, Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.base import BatchEncoder, BatchParser, Encoded
from airflow_kconnect.converters.plain_parsers import BytesParser
from airflow_kconnect.converters.same_schema import OneShapeConverter
from airflow_kconnect.converters.types import logical_name

if TYPE_CHECKING:
    from pyspark.sql import Column


class ByteArrayConverter(OneShapeConverter):
    """``org.apache.kafka.connect.converters.ByteArrayConverter``."""

    shape = Shape(OPTIONAL_BYTES_SCHEMA)
    reads_anything = True

    def check(self, shape: Shape) -> None:
        if problem := _problem(shape):
            raise DataError(problem)

    def encode(self, shape: Shape, column: Column) -> Encoded:
        from pyspark.sql import functions as F

        nothing = F.lit(None).cast("binary")
        if problem := _problem(shape):
            return Encoded(nothing, F.lit(problem))
        if not shape.schemaless:
            return Encoded(column, None)
        kind = F.schema_of_variant(column)
        data = F.when(kind == "BINARY", F.try_variant_get(column, "$", "binary"))
        text = F.concat(F.lit("ByteArrayConverter is not compatible with objects of type "), kind)
        return Encoded(data, F.when(~kind.isin("BINARY", "VOID"), text))

    def parser(self) -> BatchParser:
        return BytesParser()

    def batch_encoder(self, shape: Shape) -> BatchEncoder | None:
        from airflow_kconnect.converters.batch_encoders import ByteEncoder, Refusal

        if problem := _problem(shape):
            return Refusal(problem, nulls=True)
        return None if shape.schemaless else ByteEncoder()

    def value_encoder(self, shape: Shape) -> BatchEncoder | None:
        from airflow_kconnect.converters.batch_encoders import EachValue

        return EachValue(_no_bytes) if shape.schemaless else self.batch_encoder(shape)

    def read(self, raw: Column) -> tuple[Column, Column | None]:
        return raw, None


def _problem(shape: Shape) -> str | None:
    schema = shape.schema
    if schema is None or (schema.type is SchemaType.BYTES and logical_name(schema) is None):
        return None
    return f"Invalid schema type for ByteArrayConverter: {schema.type.name}"


def _no_bytes(text: str | None) -> None:
    """:raises DataError: JSON has no bytes."""
    from airflow_kconnect.converters.schemaless import kind_of, parsed

    data = None if text is None else parsed(text)
    if data is not None:
        raise DataError(f"ByteArrayConverter is not compatible with objects of type {kind_of(data)}")
