"""Decodes and encodes batches of JSON payloads of one schema, in Spark tasks; pickled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.converters.json_schema.config import JsonSchemaSettings
from airflow_kconnect.converters.json_schema.read import parsed, reader
from airflow_kconnect.converters.json_schema.validation import Validation
from airflow_kconnect.converters.json_schema.write import payload, writer
from airflow_kconnect.converters.registered.batches import ColumnDecoder, each
from airflow_kconnect.converters.types import arrow_type

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


@dataclass(frozen=True)
class JsonDecoder(ColumnDecoder):
    """Decodes payloads; a `PayloadDecoder`.

    :param validation: None if they are not validated.
    """

    schema: ConnectSchema
    validation: Validation | None = None

    def in_columns(self, payloads: pa.Array) -> tuple[pa.Array, NDArray[np.bool_]] | None:
        from airflow_kconnect.converters.json_schema.read_columns import read_columns

        return None if self.validation else read_columns(self.schema, payloads)

    def one_by_one(self, payloads: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        read, check = reader(self.schema), _checker(self.validation)

        def value_of(message: bytes) -> Any:
            node = parsed(message)
            check(message)
            return read(node)

        return each(payloads.to_pylist(), value_of, arrow_type(self.schema))


@dataclass(frozen=True)
class JsonEncoder:
    """Encodes data of one shape; a `PayloadEncoder`.

    :param validation: None if payloads are not validated.
    """

    schema: ConnectSchema
    settings: JsonSchemaSettings
    validation: Validation | None = None

    def encode(self, data: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        """See `PayloadEncoder.encode`."""
        from airflow_kconnect.converters.json_schema.write_columns import write_columns

        payloads = None if self.validation else write_columns(self.schema, data, self.settings)
        return self._one_by_one(data) if payloads is None else (payloads, None)

    def _one_by_one(self, data: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        import pyarrow as pa

        write, check = writer(self.schema, self.settings), _checker(self.validation)

        def message_of(value: Any) -> bytes:
            message = payload(write(value))
            check(message)
            return message

        return each(_with_numbers(data).to_pylist(), message_of, pa.binary())


def _checker(validation: Validation | None) -> Callable[[bytes], None]:
    return (lambda _: None) if validation is None else validation.checker()


def _with_numbers(data: pa.Array) -> pa.Array:
    """Data with dates and timestamps as numbers: Python's end with year 9999."""
    import pyarrow as pa

    def type_of(type_: pa.DataType) -> pa.DataType:
        if pa.types.is_struct(type_):
            return pa.struct([inner.with_type(type_of(inner.type)) for inner in type_])
        if pa.types.is_map(type_):
            return pa.map_(type_of(type_.key_type), type_of(type_.item_type))
        if pa.types.is_list(type_):
            return pa.list_(type_of(type_.value_type))
        return pa.int32() if pa.types.is_date(type_) else pa.int64() if pa.types.is_timestamp(type_) else type_

    wanted = type_of(data.type)
    return data if wanted == data.type else data.cast(wanted)
