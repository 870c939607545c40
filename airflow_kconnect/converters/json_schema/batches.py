"""Decodes and encodes batches of JSON payloads of one schema, in Spark tasks; pickled."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.json_schema.config import JsonSchemaSettings
from airflow_kconnect.converters.json_schema.read import parsed, reader
from airflow_kconnect.converters.json_schema.write import payload, writer
from airflow_kconnect.converters.types import arrow_type

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class JsonDecoder:
    """Decodes payloads; a `PayloadDecoder`."""

    schema: ConnectSchema

    def decode(self, payloads: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        """See `PayloadDecoder.decode`."""
        read = reader(self.schema)
        return _each(payloads.to_pylist(), lambda message: read(parsed(message)), arrow_type(self.schema))


@dataclass(frozen=True)
class JsonEncoder:
    """Encodes data of one shape; a `PayloadEncoder`."""

    schema: ConnectSchema
    settings: JsonSchemaSettings

    def encode(self, data: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        """See `PayloadEncoder.encode`."""
        import pyarrow as pa

        write = writer(self.schema, self.settings)
        return _each(data.to_pylist(), lambda value: payload(write(value)), pa.binary())


def _each(rows: Iterable[Any], convert: Callable[[Any], Any], type_: pa.DataType) -> tuple[pa.Array, pa.Array | None]:
    """Rows converted one by one, and the errors."""
    import pyarrow as pa

    values: list[Any] = []
    errors: list[str | None] = []
    for row in rows:
        value, problem = None, None
        try:
            value = convert(row)
        except DataError as error:
            problem = str(error)
        except RecursionError:
            problem = "The data nest too deeply"
        values.append(value)
        errors.append(problem)
    failed = any(problem is not None for problem in errors)
    return pa.array(values, type_), pa.array(errors, pa.string()) if failed else None
