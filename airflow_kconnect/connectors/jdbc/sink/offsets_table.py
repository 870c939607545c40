"""The table of offsets next to the data: both move in one transaction, so that no record counts twice or never.

A run makes itself the owner of its partitions' rows before it reads them. Only the owner may move an offset: what an
older run has not committed by then is lost, and the owner writes it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.errors import ConfigError, DataError, FencedError, RetriableError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.jdbc.sink.naming import shown, table_name
from airflow_kconnect.connectors.jdbc.sink.target import Connection, Target

_COLUMNS = ("connector", "topic", "partition", "next_offset", "run")


class OffsetsTable:
    """The rows of one connector; pickled into the tasks.

    :param name: of the connector, or of a replay of it.
    """

    def __init__(self, target: Target, name: str) -> None:
        settings = target.settings
        self._target, self._connector = target, name
        self._table = tuple(map(settings.naming.column, table_name(settings.offsets_table, settings.naming.mark)))

    @property
    def shown(self) -> str:
        """The table's name."""
        return shown(self._table)

    def read(self, connection: Connection, partitions: Sequence[TopicPartition]) -> Mapping[TopicPartition, int]:
        """The offsets that are stored; none if there is no table yet."""
        if self._target.existing_columns(connection, self._table) is None:
            return {}
        rows = {tp: self._row(connection, tp) for tp in partitions}
        return {tp: row[0] for tp, row in rows.items() if row and row[0] is not None}

    def take_over(
        self, connection: Connection, partitions: Sequence[TopicPartition], run: str
    ) -> Mapping[TopicPartition, int]:
        """Make a run the owner of partitions; returns the offsets that are stored. Commits."""
        self._make(connection)
        self._target.begin(connection)
        rows = {tp: self._row(connection, tp) for tp in partitions}
        # A session that hangs could hold a row forever.
        self._target.end_sessions(connection, sorted({row[1] for row in rows.values() if row and row[1]}))
        for topic_partition, row in rows.items():
            self._own(connection, topic_partition, run, exists=row is not None)
        # Once more: until its rows were taken over, an older run could still commit.
        stored = {tp: self._row(connection, tp) for tp in partitions}
        connection.commit()
        return {tp: row[0] for tp, row in stored.items() if row and row[0] is not None}

    def begin(self, connection: Connection, offsets: Mapping[TopicPartition, int], run: str) -> None:
        """Raise offsets to those from which a run reads. Commits.

        :raises FencedError: another run owns a partition.
        """
        self._target.begin(connection)
        for topic_partition, offset in offsets.items():
            where = " AND ".join(f"{self._target.quote(name)} = ?" for name in (*_COLUMNS[:3], "run"))
            sql = self._sql(f"UPDATE {{table}} SET {self._target.quote('next_offset')} = ? WHERE {where}")
            cursor = connection.cursor()
            cursor.execute(sql, (offset, *self._key(topic_partition), run))
            if cursor.rowcount != 1:
                raise self._fenced(topic_partition)
        connection.commit()

    def position(self, connection: Connection, split: SinkSplit, run: str) -> int | None:
        """The offset up to which a split's partition is written; None: it is not known.

        :raises FencedError: another run owns the partition.
        """
        row = self._row(connection, split.topic_partition)
        if row is None or row[1] != run:
            raise self._fenced(split.topic_partition)
        return row[0]

    def move(self, connection: Connection, split: SinkSplit, run: str, before: int | None, end: int) -> None:
        """Move the offset in the transaction of the data.

        :param before: where it must be.
        :raises FencedError: another run owns the partition. :raises RetriableError: another attempt of this task, of
            which Spark had lost sight, has moved it.
        """
        next_offset = self._target.quote("next_offset")
        is_before = f"{next_offset} IS NULL" if before is None else f"{next_offset} = {int(before)}"
        topic_partitions = (self._connector, split.topic, split.partition, run)
        where = " AND ".join(f"{self._target.quote(name)} = ?" for name in ("connector", "topic", "partition", "run"))
        cursor = connection.cursor()
        sql = self._sql(f"UPDATE {{table}} SET {next_offset} = ? WHERE {where} AND {is_before}")
        cursor.execute(sql, (end, *topic_partitions))
        if cursor.rowcount != 1:
            at = self.position(connection, split, run)
            raise RetriableError(
                f"connector {self._connector}: {split.topic_partition} was at offset {before} and is at {at}: another"
                " attempt of this task has written it. This one has written nothing; the next run resumes there"
            )

    def alter(self, connection: Connection, offsets: Mapping[TopicPartition, int | None]) -> None:
        """Replace stored offsets; None removes one. Commits.

        Runs in progress no longer own anything.
        """
        self._make(connection)
        self._target.begin(connection)
        rows = {tp: self._row(connection, tp) for tp in offsets}
        self._target.end_sessions(connection, sorted({row[1] for row in rows.values() if row and row[1]}))
        for topic_partition, offset in offsets.items():
            where = " AND ".join(f"{self._target.quote(name)} = ?" for name in _COLUMNS[:3])
            connection.cursor().execute(self._sql(f"DELETE FROM {{table}} WHERE {where}"), self._key(topic_partition))
            if offset is not None:
                names = ", ".join(map(self._target.quote, _COLUMNS[:4]))
                sql = self._sql(f"INSERT INTO {{table}} ({names}) VALUES (?, ?, ?, ?)")
                connection.cursor().execute(sql, (*self._key(topic_partition), offset))
        connection.commit()

    def _fenced(self, topic_partition: TopicPartition) -> FencedError:
        return FencedError(
            f"connector {self._connector}: {topic_partition} belongs to another run, according to "
            f"table {shown(self._table)}; this one has written nothing more"
        )

    def _make(self, connection: Connection) -> None:
        try:
            self._make_if_missing(connection)
        except DataError as error:
            cure = f"create it yourself ({self._definition}), or set an empty name: then writing is at least once"
            raise ConfigError({"offsets.table": [f"{error}; {cure}"]}, self._connector) from error

    def _make_if_missing(self, connection: Connection) -> None:
        with self._target.errors(f"table {shown(self._table)} for offsets"):
            if self._target.existing_columns(connection, self._table) is None:
                with self._target.changing(connection), self._unless_made(connection):
                    connection.cursor().execute(self._definition)
            connection.commit()

    @contextmanager
    def _unless_made(self, connection: Connection) -> Iterator[None]:
        """Ignores the error if another session has created the table at the same time."""
        try:
            yield
        except Exception:
            if not self._target.changes_race:
                raise
            connection.rollback()
            if self._target.existing_columns(connection, self._table) is None:
                raise

    @property
    def _definition(self) -> str:
        text, number = self._target.offset_types
        quote = self._target.quote
        columns = [f"{quote(name)} {text} NOT NULL" for name in ("connector", "topic")]
        columns += [f"{quote('partition')} INT NOT NULL", f"{quote('next_offset')} {number}", f"{quote('run')} {text}"]
        keys = ", ".join(map(quote, _COLUMNS[:3]))
        table = self._target.quoted(self._table)
        options = self._target.offset_options
        create = "CREATE TABLE" if self._target.changes_race else "CREATE TABLE IF NOT EXISTS"
        return f"{create} {table} ({', '.join(columns)}, PRIMARY KEY ({keys})){options}"

    def _row(self, connection: Connection, topic_partition: TopicPartition) -> tuple[int | None, str | None] | None:
        where = " AND ".join(f"{self._target.quote(name)} = ?" for name in ("connector", "topic", "partition"))
        cursor = connection.cursor()
        names = ", ".join(map(self._target.quote, _COLUMNS[3:]))
        cursor.execute(self._sql(f"SELECT {names} FROM {{table}} WHERE {where}"), self._key(topic_partition))
        row = cursor.fetchone()
        return None if row is None else (row[0], row[1])

    def _own(self, connection: Connection, topic_partition: TopicPartition, run: str, *, exists: bool) -> None:
        cursor = connection.cursor()
        if exists:
            where = " AND ".join(f"{self._target.quote(name)} = ?" for name in ("connector", "topic", "partition"))
            sql = self._sql(f"UPDATE {{table}} SET {self._target.quote('run')} = ? WHERE {where}")
            cursor.execute(sql, (run, *self._key(topic_partition)))
            return
        names = ", ".join(map(self._target.quote, (*_COLUMNS[:3], "run")))
        sql = self._sql(f"INSERT INTO {{table}} ({names}) VALUES (?, ?, ?, ?)")
        try:
            with self._target.errors(f"taking over {topic_partition}"):
                cursor.execute(sql, (*self._key(topic_partition), run))
        except DataError as error:
            raise RetriableError(f"{error}; another run of this connector has just begun") from error

    def _key(self, topic_partition: TopicPartition) -> tuple[str, str, int]:
        return self._connector, topic_partition.topic, topic_partition.partition

    def _sql(self, text: str) -> str:
        """The statement with the table's name and the driver's placeholders."""
        name, mark = self._target.quoted(self._table), self._target.placeholder
        return text.replace("?", mark).format(table=name.replace("%", "%%") if mark == "%s" else name)
