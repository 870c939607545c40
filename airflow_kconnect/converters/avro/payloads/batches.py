"""Decodes and encodes batches of Avro messages of one schema, in Spark tasks; pickled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.avro.payloads.plans import Node
from airflow_kconnect.converters.types import arrow_type

if TYPE_CHECKING:
    import pyarrow as pa

    from airflow_kconnect.converters.registered.cursor import Integers


@dataclass(frozen=True)
class AvroDecoder:
    """Decodes messages; a `PayloadDecoder`."""

    plan: Node

    def decode(self, payloads: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        """See `PayloadDecoder.decode`."""
        import numpy as np

        from airflow_kconnect.converters.avro.payloads.read_columns import read_column
        from airflow_kconnect.converters.registered.cursor import Cursor

        cursor = Cursor(payloads)
        column = read_column(self.plan, cursor, np.arange(len(payloads)))
        left = np.flatnonzero(cursor.left)
        return (column, None) if not left.size else self._with_records(column, payloads, left)

    def _with_records(self, column: pa.Array, payloads: pa.Array, left: Integers) -> tuple[pa.Array, pa.Array | None]:
        """The column with the messages that were left, read one by one, and the errors in them."""
        import numpy as np
        import pyarrow as pa

        from airflow_kconnect.converters.avro.payloads.read_records import record_reader

        read = record_reader(self.plan)
        values: list[Any] = []
        errors: list[str | None] = [None] * len(payloads)
        for row, payload in zip(left.tolist(), payloads.take(pa.array(left)).to_pylist(), strict=True):
            try:
                values.append(read(payload))
            except DataError as error:
                values.append(None)
                errors[row] = str(error)
        places = np.arange(len(payloads))
        places[left] = len(payloads) + np.arange(len(left))
        both = pa.concat_arrays([column, pa.array(values, arrow_type(self.plan.schema))])
        return both.take(pa.array(places)), _errors(errors)


@dataclass(frozen=True)
class AvroEncoder:
    """Encodes data of one shape; a `PayloadEncoder`."""

    plan: Node

    def encode(self, data: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        """See `PayloadEncoder.encode`.

        :raises DataError: the messages of the batch take more than 2 GiB.
        """
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        from airflow_kconnect.converters.avro.payloads.write_columns import ColumnWriter
        from airflow_kconnect.converters.registered.slices import joined

        writer = ColumnWriter()
        payloads = joined(writer.write(self.plan, data, np.arange(len(data))), len(data))
        if not writer.errors:
            return payloads, None
        errors = pa.array([writer.errors.get(row) for row in range(len(data))], pa.string())
        return pc.if_else(errors.is_null(), payloads, pa.scalar(None, pa.binary())), errors


def _errors(texts: list[str | None]) -> pa.Array | None:
    import pyarrow as pa

    return None if all(text is None for text in texts) else pa.array(texts, pa.string())
