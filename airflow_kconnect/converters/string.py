"""StringConverter: the text that Java's toString gives, in UTF-8."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, Importance, Type, ValidString
from airflow_kconnect.connect.data import OPTIONAL_STRING_SCHEMA, Shape
from airflow_kconnect.converters.base import (
    Converter,
    Decoded,
    Encoded,
    Let,
    converter_config,
    decode_as_one_shape,
    in_place,
)

if TYPE_CHECKING:
    from pyspark.sql import Column

SHAPE = Shape(OPTIONAL_STRING_SCHEMA)


class StringConverter(Converter):
    """``org.apache.kafka.connect.storage.StringConverter``."""

    @classmethod
    def config(cls) -> ConfigDef:
        return converter_config().define(
            "converter.encoding",
            Type.STRING,
            "UTF-8",
            Importance.HIGH,
            "Character encoding of the text; only UTF-8 is supported.",
            validator=ValidString.in_case_insensitive("UTF-8", "UTF8"),
        )

    def encode(self, shape: Shape, column: Column) -> Encoded:
        from airflow_kconnect.converters.java_text import java_text

        return Encoded(java_text(shape.schema, column).cast("binary"), None)

    def shapes_of(self, samples: Iterable[bytes | None]) -> list[Shape]:
        return [SHAPE]

    def decode(
        self, raw: Column, shapes: Sequence[Shape], let: Let = in_place, quotes: Column | None = None
    ) -> Decoded:
        from pyspark.sql import functions as F

        # What is no UTF-8 becomes U+FFFD, as in Java's new String(bytes, UTF_8).
        return decode_as_one_shape(F.make_valid_utf8(raw.cast("string")), SHAPE, shapes)
