"""The conversion of headers in Python, as a stage of a record's processing: it may fail like any other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.connect.error_cells import stage_prefix
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.record import Headers
from airflow_kconnect.converters.base import Converter
from airflow_kconnect.converters.header_codecs import ByteArrayHeaders, HeaderCodec, header_codec

Cell = Mapping[str, Any]
TypedHeader = tuple[str, ConnectSchema | None, Any]


@dataclass(frozen=True)
class HeaderStage:
    """Pickled into tasks. Errors are returned as the text of an ``error`` column.

    :param executing: Java name of the converter.
    """

    codec: HeaderCodec
    executing: str

    @classmethod
    def of(cls, converter: Converter) -> HeaderStage:
        """:raises ConfigError: see `header_codec`."""
        return cls(header_codec(converter), converter.java_name())

    def decoded(self, cells: Iterable[Cell] | None) -> tuple[list[TypedHeader], str | None]:
        """The headers in a cell of a frame; no headers and the error text if one of them is bad."""
        try:
            return [(cell["key"], *self.codec.decode(cell["value"])) for cell in cells or ()], None
        except (DataError, RecursionError) as error:
            return [], self._text(error)

    def encoded(self, headers: Iterable[TypedHeader]) -> tuple[list[Cell] | None, str | None]:
        """The cell for headers; null and the error text if one of them cannot be written."""
        return self._cell((name, self.codec.encode(schema, value)) for name, schema, value in headers)

    def encoded_of_task(self, headers: Headers) -> tuple[list[Cell] | None, str | None]:
        """The same for headers without schemas, of which bytes and None are passed through unchanged."""
        return self._cell((name, self._bytes(value)) for name, value in headers)

    def _bytes(self, value: Any) -> bytes | None:
        return value if value is None or isinstance(value, bytes) else self.codec.encode(None, value)

    def _cell(self, pairs: Iterable[tuple[str, bytes | None]]) -> tuple[list[Cell] | None, str | None]:
        try:
            return [{"key": name, "value": value} for name, value in pairs] or None, None
        except (DataError, RecursionError) as error:
            return None, self._text(error)

    def _text(self, error: DataError | RecursionError) -> str:
        text = str(error) if isinstance(error, DataError) else "The header's value nests too deeply"
        return f"{stage_prefix('HEADER_CONVERTER', self.executing)}{text}"


RAW = HeaderStage(ByteArrayHeaders(), "org.apache.kafka.connect.converters.ByteArrayConverter")
"""Headers stay bytes."""
