"""SimpleHeaderConverter: header values as readable text; the default header converter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, invalid
from airflow_kconnect.connect.data import Shape
from airflow_kconnect.converters.base import NO_HINTS, Converter, Decoded, Encoded, Hints, Let, in_place

if TYPE_CHECKING:
    from pyspark.sql import Column


class SimpleHeaderConverter(Converter):
    """``org.apache.kafka.connect.storage.SimpleHeaderConverter``; not usable for keys and values."""

    for_headers_only = True
    converts_headers = True
    reads_anything = True

    def __init__(self, config: Mapping[str, str], *, is_key: bool) -> None:
        super().__init__(config, is_key=is_key)
        if (use := config.get("converter.type", "header")) != "header":
            raise invalid("converter.type", use, "it converts only headers")

    @classmethod
    def config(cls) -> ConfigDef:
        return ConfigDef()

    def encode(self, shape: Shape, column: Column) -> Encoded:
        from airflow_kconnect.converters.header_text.columns import value_text

        return Encoded(value_text(shape.schema, column).cast("binary"), None)

    def shapes_of(self, samples: Iterable[bytes | None]) -> list[Shape]:
        return []

    def decode(self, raw: Column, shapes: Sequence[Shape], let: Let = in_place, hints: Hints = NO_HINTS) -> Decoded:
        raise NotImplementedError("each header may have another type: see header_codec")
