"""Decodes and encodes batches of Avro messages of one schema, in Spark tasks; pickled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from airflow_kconnect.converters.avro.payloads.plans import Node
from airflow_kconnect.converters.registered.batches import ColumnDecoder, each, error_column, without_errors
from airflow_kconnect.converters.types import arrow_type

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


@dataclass(frozen=True)
class AvroDecoder(ColumnDecoder):
    """Decodes messages; a `PayloadDecoder`."""

    plan: Node

    def in_columns(self, payloads: pa.Array) -> tuple[pa.Array, NDArray[np.bool_]]:
        import numpy as np

        from airflow_kconnect.converters.avro.payloads.read_columns import read_column
        from airflow_kconnect.converters.registered.cursor import Cursor

        cursor = Cursor(payloads)
        return read_column(self.plan, cursor, np.arange(len(payloads))), cursor.left

    def one_by_one(self, payloads: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        from airflow_kconnect.converters.avro.payloads.read_records import record_reader

        return each(payloads.to_pylist(), record_reader(self.plan), arrow_type(self.plan.schema))


@dataclass(frozen=True)
class AvroEncoder:
    """Encodes data of one shape; a `PayloadEncoder`."""

    plan: Node

    def encode(self, data: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        """See `PayloadEncoder.encode`.

        :raises DataError: the messages of the batch take more than 2 GiB.
        """
        import numpy as np

        from airflow_kconnect.converters.avro.payloads.write_columns import ColumnWriter
        from airflow_kconnect.converters.registered.slices import joined

        writer = ColumnWriter()
        payloads = joined(writer.write(self.plan, data, np.arange(len(data))), len(data))
        return without_errors(payloads, writer.errors), error_column(writer.errors, len(data))
