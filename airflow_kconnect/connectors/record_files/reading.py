"""Parts of files as rows of a record frame; runs in a process that moves splits."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from airflow_kconnect.connect.data import OPTIONAL_STRING_SCHEMA, ConnectSchema, Shape
from airflow_kconnect.connect.error_cells import error_cell, stage_prefix
from airflow_kconnect.connect.errors import ConnectError, RetriableError
from airflow_kconnect.connect.frame import ABSENT, BatchFrame, Union, single
from airflow_kconnect.connectors.record_files.config import BY_BYTES, Shaping
from airflow_kconnect.connectors.record_files.formats.base import Columns, Rows
from airflow_kconnect.connectors.record_files.formats.registry import opened
from airflow_kconnect.connectors.record_files.opening import Source, UnreadableFile
from airflow_kconnect.connectors.record_files.shaping import KEY, TIME, added, added_columns, shaped, shaped_schema
from airflow_kconnect.connectors.record_files.values import fitted
from airflow_kconnect.converters.types import arrow_type
from airflow_kconnect.places.system_errors import system_error

Batches = Generator[pa.RecordBatch, None, None]
_STAGE = "VALUE_CONVERTER"
_EXECUTING = "airflow_kconnect.connectors.files.FilesSourceConnector"
_DAMAGED = (pa.ArrowException, OSError, EOFError, ValueError)
"""What Arrow raises where a file is not what it should be. Errors of stores are those of airflow_kconnect."""


@dataclass(frozen=True)
class Part:
    """What a split reads.

    :param columns: those that the plan has kept; see `RecordFormat.columns`. :param begin, end: positions.
    :param skipped: rows after `begin` that were read before. :param unreadable: why the file cannot be read.
    """

    source: Source
    columns: Columns | None
    begin: int
    end: int
    skipped: int = 0
    unreadable: str | None = None

    def schema(self) -> ConnectSchema | None:
        """Of the records."""
        with unreadable(self.source):
            return shaped_schema(opened(self.source).schema(self.columns), self.source.settings.shaping)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to read."""
        return self.unreadable is not None or self.begin == self.end

    def rows(self) -> Iterator[Rows]:
        """:raises ConnectError: an `UnreadableFile` is one of those whose file is damaged."""
        if self.unreadable is not None:
            raise UnreadableFile(self.unreadable)
        if not self.is_empty:
            with unreadable(self.source):
                for rows in opened(self.source).rows(self.columns, self.begin, self.end):
                    self.source.check_unchanged()  # rows are committed before the part has ended
                    yield shaped(rows, self.source.settings.shaping)
        self.source.check_unchanged()  # what was empty, too: its offset says that it was read

    def at(self, row: int) -> str:
        """Where a row is, for messages."""
        after = f" after byte {self.begin}" if self.begin and self.source.format in BY_BYTES else ""
        return f"{self.source.name}, row {row}{after}"


@contextmanager
def unreadable(source: Source) -> Iterator[None]:
    """A block whose errors of Arrow are those of a file.

    :raises ConnectError: an `UnreadableFile`; or what else has happened to the file or the disk.
    """
    try:
        yield
    except MemoryError as error:  # Arrow's is also one of those of damaged files
        text = f"cannot read {source.name}: there is not enough memory; run again with more, or with fewer cores"
        raise RetriableError(text) from error
    except _DAMAGED as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise system_error(f"cannot read {source.name}", error) from error
        source.check_unchanged()
        raise source.unreadable(error) from error


@dataclass(frozen=True)
class FilesReader:
    """Reads parts; pickled. :param shapes: of all parts. :param own: the number of each part's shape.
    :param shaping: of all parts.
    """

    parts: tuple[Part, ...]
    shapes: tuple[Shape, ...]
    own: tuple[int, ...]
    shaping: Shaping

    def __call__(self, split: int) -> Batches:
        part, row = self.parts[split], 0
        try:
            for rows in part.rows():
                first, row = row, row + len(rows.values)
                if row > part.skipped:
                    yield self._batch(part, self.own[split], rows, first)
        except UnreadableFile as error:
            cell = _bad(str(error)) if part.source.settings.tolerant else error_cell(error)
            yield self._failed(max(row, part.skipped) + 1, cell)
        except ConnectError as error:
            yield self._failed(max(row, part.skipped) + 1, error_cell(error))

    @property
    def schema(self) -> pa.Schema:
        """Of the batches."""
        fields = [("progress", pa.int64()), *(("tag", pa.int32()) for _ in self.shapes[1:2])]
        values = zip(_names(self.shapes), map(_type, self.shapes), strict=True)
        return pa.schema([*fields, *values, *added_columns(self.shaping), ("error", pa.string())])

    def _batch(self, part: Part, shape: int, rows: Rows, first: int) -> pa.RecordBatch:
        """:param first: how many rows were before these."""
        count = len(rows.values)
        errors = np.full(count, None, object)
        for row, text in rows.errors.items():
            errors[row] = _bad(f"{part.at(first + row + 1)}: {text}")
        values = fitted(rows.values, _type(self.shapes[shape]))
        more = added(values, self.shaping, part.source.file.changed_ms)
        batch = self._made(np.arange(first + 1, first + count + 1), shape, values, pa.array(errors, pa.string()), more)
        return batch.slice(max(part.skipped - first, 0))

    def _failed(self, row: int, cell: str) -> pa.RecordBatch:
        return self._made(np.array([row]), 0, pa.nulls(1, _type(self.shapes[0])), pa.array([cell]))

    def _made(
        self,
        progress: np.ndarray,
        shape: int,
        values: pa.Array,
        errors: pa.Array,
        more: dict[str, pa.Array] | None = None,
    ) -> pa.RecordBatch:
        columns = {"progress": pa.array(progress, pa.int64()), "error": errors}
        columns |= {name: pa.nulls(len(values), type_) for name, type_ in added_columns(self.shaping)} | (more or {})
        if len(self.shapes) > 1:
            columns["tag"] = pc.if_else(pc.is_null(errors), pa.scalar(shape, pa.int32()), None)
        for n, (name, each) in enumerate(zip(_names(self.shapes), self.shapes, strict=True)):
            columns[name] = values if n == shape else pa.nulls(len(values), _type(each))
        return pa.RecordBatch.from_arrays([columns[name] for name in self.schema.names], schema=self.schema)


def frame_of(parts: Sequence[Part], topic: str) -> BatchFrame:
    """The records of parts: files have the schemas that they have.

    :raises ConnectError: a file cannot be read.
    """
    shapes: dict[Shape, int] = {}
    own = []
    for part in parts:
        own.append(0 if part.is_empty else shapes.setdefault(Shape(part.schema()), len(shapes)))
    known = tuple(shapes) or (Shape(OPTIONAL_STRING_SCHEMA),)
    shaping = parts[0].source.settings.shaping if parts else Shaping()
    reader = FilesReader(tuple(parts), known, tuple(own), shaping)
    several = Union(known, _names(known), "tag")
    return BatchFrame(
        reader,
        reader.schema,
        value=several if len(known) > 1 else single(known[0], _names(known)[0]),
        key=ABSENT if shaping.key is None else single(Shape(shaping.key), KEY),
        constant_topic=topic,
        timestamp=TIME if TIME in reader.schema.names else None,
        carried=("progress", "error"),
    )


def _names(shapes: Sequence[Shape]) -> tuple[str, ...]:
    return tuple(f"value_{n}" for n in range(len(shapes)))


def _type(shape: Shape) -> pa.DataType:
    """Records without schema are JSON texts."""
    return pa.string() if shape.schemaless else arrow_type(shape.schema)


def _bad(text: str) -> str:
    """The cell of a row that may be skipped."""
    return stage_prefix(_STAGE, _EXECUTING) + text
