"""StringConverter: the text of Java's toString, in UTF-8."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, Importance, Type, ValidString, Width
from airflow_kconnect.connect.data import OPTIONAL_STRING_SCHEMA, SchemaType, Shape
from airflow_kconnect.converters.base import BatchEncoder, BatchParser, Encoded
from airflow_kconnect.converters.plain_parsers import TextParser
from airflow_kconnect.converters.same_schema import OneShapeConverter
from airflow_kconnect.converters.types import logical_name

if TYPE_CHECKING:
    from pyspark.sql import Column


# Those whose text is the same in Arrow.
_ALIKE = (
    *(SchemaType.STRING, SchemaType.BOOLEAN, SchemaType.INT8, SchemaType.INT16, SchemaType.INT32, SchemaType.INT64),
)


class StringConverter(OneShapeConverter):
    """``org.apache.kafka.connect.storage.StringConverter``."""

    shape = Shape(OPTIONAL_STRING_SCHEMA)
    reads_anything = True

    @classmethod
    def config(cls) -> ConfigDef:
        return (
            super()
            .config()
            .define(
                "converter.encoding",
                Type.STRING,
                "UTF-8",
                Importance.HIGH,
                "Character encoding of the text; only UTF-8 is supported.",
                validator=ValidString.in_case_insensitive("UTF-8", "UTF8"),
                width=Width.MEDIUM,
                display_name="Encoding",
            )
        )

    def encode(self, shape: Shape, column: Column) -> Encoded:
        from airflow_kconnect.converters.java_text import java_text

        return Encoded(java_text(shape.schema, column).cast("binary"), None)

    def parser(self) -> BatchParser:
        return TextParser()

    def batch_encoder(self, shape: Shape) -> BatchEncoder | None:
        from airflow_kconnect.converters.batch_encoders import TextEncoder

        schema = shape.schema
        alike = schema is not None and schema.type in _ALIKE and logical_name(schema) is None
        return TextEncoder() if alike else None

    def value_encoder(self, shape: Shape) -> BatchEncoder | None:
        from airflow_kconnect.converters.batch_encoders import EachValue
        from airflow_kconnect.converters.schemaless import java_text

        return EachValue(java_text) if shape.schemaless else self.batch_encoder(shape)

    def read(self, raw: Column) -> tuple[Column, Column | None]:
        from pyspark.sql import functions as F

        # Invalid UTF-8 becomes U+FFFD, as in Java's new String(bytes, UTF_8).
        return F.make_valid_utf8(raw.cast("string")), None
