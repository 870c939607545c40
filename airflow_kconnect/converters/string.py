"""StringConverter: the text of Java's toString, in UTF-8."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, Importance, Type, ValidString, Width
from airflow_kconnect.connect.data import OPTIONAL_STRING_SCHEMA, Shape
from airflow_kconnect.converters.base import BatchParser, Encoded
from airflow_kconnect.converters.plain_parsers import TextParser
from airflow_kconnect.converters.same_schema import OneShapeConverter

if TYPE_CHECKING:
    from pyspark.sql import Column


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

    def read(self, raw: Column) -> tuple[Column, Column | None]:
        from pyspark.sql import functions as F

        # Invalid UTF-8 becomes U+FFFD, as in Java's new String(bytes, UTF_8).
        return F.make_valid_utf8(raw.cast("string")), None
