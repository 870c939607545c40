"""Avro: container files, read as the Avro converter reads messages, many records at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property

import numpy as np
import pyarrow as pa

from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.record_files.formats.base import Columns, RecordFormat, Rows
from airflow_kconnect.connectors.record_files.formats.containers import (
    Block,
    Head,
    blocks_of,
    cut_after,
    damaged,
    head_of,
)
from airflow_kconnect.converters.avro.config import AvroSettings
from airflow_kconnect.converters.avro.payloads.batches import AvroDecoder
from airflow_kconnect.converters.avro.payloads.binding import bind
from airflow_kconnect.converters.avro.payloads.bounds import ends_of
from airflow_kconnect.converters.avro.payloads.plans import Leaf, Node, Raw
from airflow_kconnect.converters.avro.schemas.parsing import parse_schema
from airflow_kconnect.converters.avro.schemas.schema import AvroDocument, AvroType
from airflow_kconnect.converters.avro.schemas.to_connect import connect_schema
from airflow_kconnect.registry.schema import RegisteredSchema

_ROWS = 16_384
_BYTES = 2 * 1024 * 1024
"""Blocks are read together until they have that many: they are often small, and each step costs the same for few."""


class AvroFormat(RecordFormat):
    """Its positions are bytes at which blocks begin; 0 is before its head."""

    @cached_property
    def _head(self) -> Head:
        with self.source.open() as file:
            return head_of(file, self.source.file.size)

    @cached_property
    def _document(self) -> AvroDocument:
        with self._named():
            return parse_schema(RegisteredSchema("AVRO", self._head.schema))

    @property
    def _options(self) -> AvroSettings:
        return AvroSettings(enhanced_avro_schema_support=self.settings.enhanced_avro)

    def schema(self, columns: Columns | None) -> ConnectSchema:
        with self._named():
            return connect_schema(self._document.root, self._options)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """:raises DataError: with the file."""
        try:
            yield
        except DataError as error:
            raise DataError(f"file {self.source.name}: {error}") from error

    def cuts(self, begin: int) -> list[int]:
        size, step, cuts = self.source.file.size, self.settings.split_bytes, [begin]
        with self.source.open() as file:
            while size - cuts[-1] >= 2 * step:
                cut = cut_after(file, self._head, cuts[-1] + step, size)
                if cut >= size:
                    break
                cuts.append(cut)
        return [*cuts, size]

    def rows(self, columns: Columns | None, begin: int, end: int) -> Iterator[Rows]:
        with self._named():
            plan = _with_length(bind(self.schema(columns), self._document, self._options))
        decoder = AvroDecoder(plan)
        with self.source.open() as file:
            for records in _records(plan, blocks_of(file, self._head, begin, end, self.source.file.size)):
                for first in range(0, len(records), _ROWS):
                    values, errors = decoder.decode(records.slice(first, _ROWS))
                    texts = [] if errors is None else errors.to_pylist()
                    yield Rows(values, {row: text for row, text in enumerate(texts) if text is not None})


def _with_length(plan: Node) -> Node:
    """Bytes are as long as a message is, and have their length in a file."""
    return Leaf(plan.schema, plan.path, AvroType.BYTES) if isinstance(plan, Raw) else plan


def _records(plan: Node, blocks: Iterable[Block]) -> Iterator[pa.BinaryArray]:
    """The records of blocks, each in its bytes. Those before a damaged block come before its error."""
    held: list[tuple[Block, list[int]]] = []
    size, damage = 0, None
    try:
        for block in blocks:
            held.append((block, _ends(plan, block)))
            size += len(block.data)
            if size >= _BYTES:
                yield _joined(held)
                held, size = [], 0
    except ValueError as error:
        damage = error
    if held:
        yield _joined(held)
    if damage is not None:
        raise damage


def _ends(plan: Node, block: Block) -> list[int]:
    try:
        return ends_of(plan, block.data, block.count)
    except ValueError as error:
        raise damaged(block.at, error) from error


def _joined(blocks: list[tuple[Block, list[int]]]) -> pa.BinaryArray:
    offsets, size = [np.zeros(1, np.int64)], 0
    for block, ends in blocks:
        offsets.append(np.array(ends, np.int64) + size)
        size += len(block.data)
    edges = np.concatenate(offsets)
    data = b"".join(block.data for block, _ in blocks)
    buffers = [None, pa.py_buffer(edges.astype(np.int32)), pa.py_buffer(data)]
    return pa.BinaryArray.from_buffers(pa.binary(), len(edges) - 1, buffers)
