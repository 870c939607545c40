"""The end of a split: rows go to their tables, and the offset after them, in one transaction of the database."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.connector.sink import Refused, SinkSplit, SplitWriter
from airflow_kconnect.connect.errors import ConfigError, DataError, RefusedError, RetriableError
from airflow_kconnect.connectors.jdbc.sink.layouts import RowLayout
from airflow_kconnect.connectors.jdbc.sink.naming import Table, shown
from airflow_kconnect.connectors.jdbc.sink.offsets_table import OffsetsTable
from airflow_kconnect.connectors.jdbc.sink.tables import KnownTables

if TYPE_CHECKING:
    import pyarrow as pa

    from airflow_kconnect.connectors.jdbc.sink.target import Connection, Loader, Target

_Piece = tuple[Table, int, RowLayout, "pa.RecordBatch"]
"""Rows of a table, the number of their layout, and the layout."""


class JdbcWriter(SplitWriter):
    """Writes one split.

    :param parts: the layouts that rows have, by the number in their column ``part``.
    :param offsets: None: offsets are not stored with the data.
    :param run: which run this is; the owner of the stored offsets.
    """

    def __init__(self, target: Target, parts: tuple[RowLayout, ...], offsets: OffsetsTable | None, run: str) -> None:
        self._target, self._parts, self._offsets, self._run = target, parts, offsets, run
        self._connection: Connection = None
        self._refused: Refused | None = None

    def tolerate(self, refused: Refused) -> None:
        self._refused = refused

    def open(self, split: SinkSplit) -> None:
        self._split = split
        self._tables = KnownTables(self._target)
        self._names: dict[str, Table] = {}
        self._target.check_driver()
        self._connection = self._target.connect(self._run)
        self._at: int | None = None
        with self._target.errors(f"reading the offset of {split.topic_partition}"):
            self._begin()
            if self._offsets is not None:
                self._at = self._offsets.position(self._connection, split, self._run)
        if self._at is not None and self._at > split.end:
            raise DataError(
                f"{split.topic_partition}: the target has stored offset {self._at}, but the split ends at {split.end}:"
                " its records would be skipped. Reset the connector's offsets (`kconnect offsets reset`), or alter them"
            )
        if self._at is not None and self._at < split.start:
            raise RetriableError(
                f"{split.topic_partition}: the target has stored offset {self._at}, but the split begins at"
                f" {split.start}: it has lost what this run wrote. The next run begins where the target is"
            )

    def write(self, batch: pa.RecordBatch) -> None:
        batch = self._not_written_yet(batch)
        if not batch.num_rows:
            return
        pieces, first = list(self._pieces(batch)), batch.column("kafka_offset")[0].as_py()
        with self._fenced_if_not_owner():
            if self._refused is not None and not self._target.has_savepoints:
                # Now, and not at the end of the last batch: what was refused of it is in the dead letters by now.
                self._commit(first)
                self._begin()
            self._make_tables(pieces, first)
            self._load(list(self._fitted(pieces)))

    def close(self, end: int) -> dict[str, Any]:
        with self._fenced_if_not_owner():
            self._commit(end)
        self._connection.close()
        left_out = {shown(table): list(fields) for table, fields in self._tables.left_out.items() if fields}
        return {"tables": sorted(map(shown, set(self._names.values()))), "left_out": left_out}

    def abort(self) -> None:
        if self._connection is not None:
            # The first error must not be hidden by another one: the database undoes what it has not committed.
            with contextlib.suppress(Exception):
                self._connection.close()

    @contextlib.contextmanager
    def _fenced_if_not_owner(self) -> Iterator[None]:
        """A newer run ends the sessions of older ones: they should not take that for an unavailable database."""
        try:
            yield
        except RetriableError:
            if self._offsets is not None:
                with contextlib.suppress(RetriableError, ConfigError), self._target.session() as connection:
                    self._offsets.position(connection, self._split, self._run)
            raise

    def _load(self, pieces: list[_Piece]) -> None:
        """Rows that may be refused one by one are tried together, then by halves, until the bad ones are found."""
        if self._refused is None:
            self._add(pieces)
            return
        try:
            with self._loader.attempt():
                self._add(pieces)
        except RefusedError as error:
            halves = _halves(pieces)
            for half in halves:
                self._load(half)
            if not halves:
                ((*_, rows),) = pieces
                self._refused(rows.column("kafka_offset")[0].as_py(), error)

    def _add(self, pieces: list[_Piece]) -> None:
        for table, part, layout, rows in pieces:
            self._loader.add(table, part, layout, rows)

    def _fitted(self, pieces: list[_Piece]) -> Iterator[_Piece]:
        """The rows that the tables can take, with the columns that the tables have."""
        for table, part, layout, rows in pieces:
            fitted = self._tables.fitted(table, layout)
            if isinstance(fitted, RefusedError):
                self._refuse(rows, fitted)
            else:
                yield table, part, fitted, rows if fitted is layout else _narrowed(rows, part, layout, fitted)

    def _refuse(self, rows: pa.RecordBatch, error: RefusedError) -> None:
        """:raises RefusedError: the run has to end with it."""
        offsets = rows.column("kafka_offset").to_pylist()
        if self._refused is None:
            raise RefusedError(f"{self._split.topic_partition}@{offsets[0]}: {error}")
        for offset in offsets:
            self._refused(offset, error)

    def _begin(self) -> None:
        self._target.begin(self._connection)
        self._loader: Loader = self._target.loader(self._connection)

    def _commit(self, end: int) -> None:
        """Everything up to an offset counts."""
        topic_partition, end = self._split.topic_partition, max(end, self._at or 0)
        self._loader.flush()
        with self._target.errors(f"committing {topic_partition} up to offset {end}"):
            if self._offsets is not None:
                self._offsets.move(self._connection, self._split, self._run, self._at, end)
            self._connection.commit()
        self._at = end

    def _not_written_yet(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Without what an earlier attempt of this task has committed."""
        import pyarrow.compute as pc

        offsets = batch.column("kafka_offset")
        if self._at is None or offsets[0].as_py() >= self._at:
            return batch
        return batch.filter(pc.greater_equal(offsets, self._at))

    def _pieces(self, batch: pa.RecordBatch) -> Iterator[_Piece]:
        """Rows of one table and layout; those of a table come in order, whatever their topics are."""
        topics = batch.column("topic").dictionary_encode()
        of_topics = [
            self._table(self._split.topic if t is None else t) for t in topics.dictionary.to_pylist() or [None]
        ]
        tables = list(dict.fromkeys(of_topics))
        for table in tables:
            rows = batch if len(tables) == 1 else batch.filter(_are_of(table, of_topics, topics))
            for part, first, count in _runs(rows.column("part")):
                yield table, part, self._parts[part], rows.slice(first, count)

    def _table(self, topic: str) -> Table:
        if topic not in self._names:
            try:
                self._names[topic] = self._target.settings.naming.table(topic)
            except ValueError as error:
                connector = self._target.settings.connector
                cure = "set `table.name.format` or rename the topic with the RegexRouter transformation"
                raise DataError(
                    f"connector {connector}: topic {topic} gives no name of a table: {error}; {cure}"
                ) from None
        return self._names[topic]

    def _make_tables(self, pieces: list[_Piece], offset: int) -> None:
        """Make sure that tables and columns are there, before the first row of a batch is written."""
        wanted = {(table, layout): None for table, _, layout, _ in pieces if not self._tables.knows(table, layout)}
        if not wanted:
            return
        self._loader.pause()
        for table, layout in wanted:
            with self._target.errors(f"table {shown(table)}"):
                try:
                    changes = self._tables.changes(self._connection, table, layout)
                except RefusedError as error:
                    self._tables.refuse(table, layout, error)
                    continue
                if not changes:
                    continue
                if self._target.ddl_on_own_connection:
                    # A change waits for all who use the table: this transaction must not be among them.
                    self._commit(offset)
                    self._tables.change(table, layout)
                    self._begin()
                else:
                    for statement in changes:
                        self._connection.cursor().execute(statement)


def _are_of(table: Table, of_topics: list[Table], topics: pa.DictionaryArray) -> pa.Array:
    """Which rows belong to a table."""
    import pyarrow as pa

    return pa.array([of_topic == table for of_topic in of_topics]).take(topics.indices)


def _narrowed(rows: pa.RecordBatch, part: int, layout: RowLayout, narrower: RowLayout) -> pa.RecordBatch:
    """Rows with the cells of a layout that has fewer columns."""
    import pyarrow as pa

    kept = [n for n, column in enumerate(layout.columns) if column in narrower.columns]
    given = {name: rows.column(name) for name in rows.schema.names}
    own = {name: cells for name, cells in given.items() if not name.startswith(("cell_", "offset_"))}
    cells = {
        f"{kind}_{part}_{n}": given[f"{kind}_{part}_{was}"]
        for n, was in enumerate(kept)
        for kind in ("cell", "offset")
        if f"{kind}_{part}_{was}" in given
    }
    return pa.record_batch(own | cells)


def _halves(pieces: list[_Piece]) -> list[list[_Piece]]:
    """Two parts that are not empty; none of a single row."""
    if len(pieces) > 1:
        half = len(pieces) // 2
        return [pieces[:half], pieces[half:]]
    ((table, part, layout, rows),) = pieces
    half = rows.num_rows // 2
    parts = [rows.slice(0, half), rows.slice(half)] if half else []
    return [[(table, part, layout, some)] for some in parts]


def _runs(parts: pa.Array) -> Iterator[tuple[int, int, int]]:
    """(value, first row, number of rows) of equal values that follow each other."""
    import numpy as np

    values = np.asarray(parts)
    edges = [0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)]
    for first, after in pairwise(edges):
        yield int(values[first]), first, after - first
