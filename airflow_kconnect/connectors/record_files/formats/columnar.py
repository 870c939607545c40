"""Parquet and ORC: Arrow reads them, in row groups and stripes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.connectors.record_files.formats.base import Columns, RecordFormat, Rows
from airflow_kconnect.connectors.record_files.types import schema_of
from airflow_kconnect.connectors.record_files.values import fitted
from airflow_kconnect.converters.types import arrow_type

_ROWS = 16_384


class ParquetFormat(RecordFormat):
    """Its positions are row groups."""

    def schema(self, columns: Columns | None) -> ConnectSchema:
        import pyarrow.parquet as pq

        with self.source.open() as file:
            return schema_of(pq.read_schema(file), self.source.name)

    def cuts(self, begin: int) -> list[int]:
        import pyarrow.parquet as pq

        with self.source.open() as file:
            metadata = pq.read_metadata(file)
        sizes = [metadata.row_group(n).total_byte_size for n in range(metadata.num_row_groups)]
        return cuts_of(sizes, begin, self.settings.split_bytes)

    def rows(self, columns: Columns | None, begin: int, end: int) -> Iterator[Rows]:
        import pyarrow.parquet as pq

        with self.source.open() as file:
            parquet = pq.ParquetFile(file)
            schema = schema_of(parquet.schema_arrow, self.source.name)
            groups = list(range(begin, end))
            for batch in parquet.iter_batches(_ROWS, row_groups=groups, use_threads=False) if groups else ():
                yield _rows(batch, schema)


class OrcFormat(RecordFormat):
    """Its positions are stripes."""

    def schema(self, columns: Columns | None) -> ConnectSchema:
        from pyarrow import orc

        with self.source.open() as file:
            return schema_of(orc.ORCFile(file).schema, self.source.name)

    def cuts(self, begin: int) -> list[int]:
        from pyarrow import orc

        with self.source.open() as file:
            stripes = orc.ORCFile(file).nstripes
        each = self.source.file.size // max(stripes, 1)
        return cuts_of([each] * stripes, begin, self.settings.split_bytes)

    def rows(self, columns: Columns | None, begin: int, end: int) -> Iterator[Rows]:
        from pyarrow import orc

        with self.source.open() as file:
            opened = orc.ORCFile(file)
            schema = schema_of(opened.schema, self.source.name)
            for stripe in range(begin, end):
                whole = opened.read_stripe(stripe)
                for first in range(0, whole.num_rows, _ROWS):
                    yield _rows(whole.slice(first, _ROWS), schema)


def cuts_of(sizes: Sequence[int], begin: int, split_bytes: int) -> list[int]:
    """Positions between pieces so that each part has about as many bytes, from `begin` on."""
    cuts, held = [begin], 0
    for piece in range(begin, len(sizes)):
        if held and held + sizes[piece] > split_bytes:
            cuts.append(piece)
            held = 0
        held += sizes[piece]
    return [*cuts, max(len(sizes), begin)]


def _rows(batch: pa.RecordBatch, schema: ConnectSchema) -> Rows:
    type_ = arrow_type(schema)
    columns = [fitted(values, type_.field(n).type) for n, values in enumerate(batch.columns)]
    return Rows(pa.StructArray.from_arrays(columns, fields=list(type_)))
