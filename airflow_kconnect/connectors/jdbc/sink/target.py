"""What the sink asks of a database. A target is made in the driver and pickled into the tasks."""

from __future__ import annotations

import importlib
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.data import DECIMAL, SchemaType, Shape
from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError, RefusedError, RetriableError
from airflow_kconnect.connect.sink_connector import BatchRenderer
from airflow_kconnect.connectors.jdbc.driver.identifiers import quote
from airflow_kconnect.connectors.jdbc.sink.config import SinkSettings
from airflow_kconnect.connectors.jdbc.sink.layouts import RowLayout, TableColumn
from airflow_kconnect.connectors.jdbc.sink.naming import Table, quoted, shown
from airflow_kconnect.converters.types import decimal_scale

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from airflow_kconnect.connect.frame import RecordFrame

Connection = Any
"""A connection of the database's Python driver (PEP 249), in a transaction."""


class Loader(ABC):
    """Takes the rows of a split to their tables, in the transaction of its connection."""

    def __init__(self, target: Target, connection: Connection) -> None:
        self._target, self._connection = target, connection

    @abstractmethod
    def add(self, table: Table, part: int, layout: RowLayout, rows: pa.RecordBatch) -> None:
        """Take rows of one table and layout; those of a table come in order. `flush` makes sure of them.

        :param part: number of the layout.
        """

    @abstractmethod
    def flush(self) -> None:
        """All rows are in their tables."""

    def pause(self) -> None:
        """The connection is free for other statements."""

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """All that is added meanwhile is in its tables in the end, or nothing of it.

        :raises RefusedError: the database refuses something of it.
        """
        self.flush()
        self.remember()
        self._attempts("SAVEPOINT kconnect_attempt")
        try:
            yield
            self.flush()
        except RefusedError:
            self.forget()
            self._attempts("ROLLBACK TO SAVEPOINT kconnect_attempt")
            raise
        self._attempts("RELEASE SAVEPOINT kconnect_attempt")

    def remember(self) -> None:
        """An attempt begins: everything is in its tables by now."""

    def forget(self) -> None:
        """An attempt has failed: only what was there at `remember` will be there."""

    def _attempts(self, statement: str) -> None:
        with self._target.errors("writing rows in parts that can be taken back"):
            self._connection.cursor().execute(statement)


class Target(ABC):
    """A kind of database.

    :param settings: of the connector.
    """

    driver: ClassVar[str]
    """Module of the Python driver."""
    extra: ClassVar[str] = "jdbc"
    """The extra of this package that installs the driver."""
    placeholder: ClassVar[str] = "%s"
    types: ClassVar[Mapping[str, str]]
    """Column types by the names of Connect's types, plain and logical."""
    key_text: ClassVar[str] = "TEXT"
    """Type of texts in a primary key."""
    max_name_bytes: ClassVar[int] = 1 << 30
    max_parts: ClassVar[int] = 3
    """Of a table's name: the table, its schema, its catalog."""
    changes_apart: ClassVar[bool] = True
    """Whether tables are changed on a connection of its own, because a change ends or blocks transactions."""
    changes_race: ClassVar[bool] = False
    """Whether two sessions may change a table at once, and one of them fails as it is changed already."""
    has_savepoints: ClassVar[bool] = True
    """Whether a part of a transaction can be taken back; else the batches of tolerant runs are transactions."""
    offset_types: ClassVar[tuple[str, str]] = ("TEXT", "BIGINT")
    """Types of texts and offsets in the table of offsets."""
    add_column: ClassVar[str] = "ADD COLUMN"
    offset_options: ClassVar[str] = ""
    """What follows the columns of the table of offsets."""

    def __init__(self, settings: SinkSettings) -> None:
        self.settings = settings

    @abstractmethod
    def render(self, frame: RecordFrame) -> tuple[DataFrame, tuple[RowLayout, ...]]:
        """Rows as `loader` takes them, and the layouts that they have."""

    def plain_rows(
        self, keys: Sequence[Shape], values: Sequence[Shape]
    ) -> tuple[BatchRenderer, tuple[RowLayout, ...]] | None:
        """Who makes such rows of parsed payloads without Spark, and their layouts; None: that is not possible."""
        return None

    @abstractmethod
    def connect_once(self, run: str) -> Connection:
        """A connection; the session says which run it belongs to, if the database can show that."""

    @abstractmethod
    def loader(self, connection: Connection) -> Loader:
        """For the rows of a split."""

    @abstractmethod
    def found_columns(self, connection: Connection, table: Table) -> list[str] | None:
        """Names of a table's columns; None if there is no such table."""

    def check_table(self, connection: Connection, table: Table) -> None:
        """:raises ConfigError: a table cannot keep what its connector promises."""

    @abstractmethod
    def translated(self, error: Exception) -> ConnectError | None:
        """What an error of the driver means, as a text without contents of rows; None if it is not the driver's."""

    @contextmanager
    def changing(self, connection: Connection) -> Iterator[None]:
        """No other session of this kind changes tables meanwhile."""
        yield

    def begin(self, connection: Connection) -> None:
        """Begin a transaction, where the driver does not do so by itself."""

    def end_sessions(self, connection: Connection, runs: Sequence[str]) -> None:
        """End what is left of older runs, where the database knows their sessions."""

    def connect(self, run: str = "") -> Connection:
        """As `connect_once`, as often as the configuration wants.

        :raises ConfigError: user, password or database are wrong, or the driver is not installed.
        :raises RetriableError: the database is unavailable.
        """
        attempts = self.settings.attempts
        for attempt in range(1, attempts + 1):
            try:
                with self.errors(f"connecting to {self.settings.url.shown}"):
                    return self.connect_once(run)
            except RetriableError:
                if attempt == attempts:
                    raise
                time.sleep(self.settings.backoff_s)
        raise AssertionError("there is at least one attempt")

    @contextmanager
    def session(self, run: str = "") -> Iterator[Connection]:
        """A connection that is closed at the end; see `connect`."""
        connection = self.connect(run)
        try:
            yield connection
        finally:
            connection.close()

    def check_driver(self) -> None:
        """:raises ConfigError: the Python driver is not installed."""
        try:
            importlib.import_module(self.driver)
        except ImportError:
            install = f"pip install 'airflow-kconnect[{self.extra}]'"
            cure = f"needs the Python package {self.driver}: {install} where the job runs"
            raise ConfigError({"connection.url": [cure]}, self.settings.connector) from None

    @contextmanager
    def errors(self, doing: str) -> Iterator[None]:
        """The driver's errors become ours, which say what was being done."""
        try:
            yield
        except ConnectError:
            raise
        except Exception as error:
            found = self.translated(error) or _unwritable(error)
            if found is None:
                raise
            if isinstance(found, ConfigError):
                raise found from error
            raise type(found)(f"connector {self.settings.connector}, {doing}: {found}") from error

    # SQL that databases share.

    def quoted(self, table: Table) -> str:
        return quoted(table, self.settings.naming.mark)

    def quote(self, name: str) -> str:
        return quote(name, self.settings.naming.mark)

    def listed(self, names: Sequence[str], prefix: str = "") -> str:
        """Names of columns, separated by commas."""
        return ", ".join(prefix + self.quote(name) for name in names)

    def same_name(self, name: str) -> str:
        """What is equal for names that the database takes for one column."""
        return name

    def create_statement(self, table: Table, layout: RowLayout) -> str:
        """The table that Connect makes for such records."""
        parts = [self.column_definition(column) for column in layout.columns]
        if layout.keys:
            parts.append(f"PRIMARY KEY ({self.listed(layout.keys)})")
        return f"CREATE TABLE {self.quoted(table)} ({', '.join(parts)})"

    def add_statement(self, table: Table, column: TableColumn) -> str:
        return f"ALTER TABLE {self.quoted(table)} {self.add_column} {self.column_definition(column)}"

    def column_definition(self, column: TableColumn) -> str:
        schema = column.schema
        head = f"{self.quote(column.name)} {self.type_of(column)}"
        if schema.default is not None and (literal := self.literal(column)) is not None:
            return f"{head} DEFAULT {literal}" + (" NOT NULL" if column.is_key else "")
        return head if schema.optional and not column.is_key else f"{head} NOT NULL"

    def type_of(self, column: TableColumn) -> str:
        """The type of a column that is made."""
        from airflow_kconnect.connectors.jdbc.sink.cells import kind_of

        kind = kind_of(column, self.settings)
        if column.is_key and kind == SchemaType.STRING.name:
            return self.key_text
        scale = decimal_scale(column.schema) if kind == DECIMAL else 0
        return self.types[kind].format(scale=scale)

    def literal(self, column: TableColumn) -> str | None:
        """The default as SQL; None if it has none there (dates and bytes)."""
        match column.schema.default:
            case bool() as truth:
                return self.truth(truth)
            case int() | float() as number:
                return repr(number)
            case str() as text if "\0" not in text:
                return self.text_literal(text)
            case _:
                return None

    def truth(self, value: bool) -> str:
        return "TRUE" if value else "FALSE"

    def text_literal(self, text: str) -> str:
        return "'" + text.replace("'", "''") + "'"

    def check_names(self, table: Table, layout: RowLayout) -> None:
        """:raises DataError: a name is longer than the database's names, which it would cut, or has too many parts."""
        if len(table) > self.max_parts:
            raise DataError(
                f"connector {self.settings.connector}: {shown(table)} names a table with {len(table)} parts, and this "
                f"database allows {self.max_parts}: set `table.name.format`, or rename the topic with the RegexRouter "
                "transformation"
            )
        for name in (*table, *layout.names):
            if (size := len(name.encode())) > self.max_name_bytes:
                what = "table" if name in table else "column"
                raise DataError(
                    f"connector {self.settings.connector}: the name of {what} {name} of {shown(table)} has {size} "
                    f"bytes, and this database has names of at most {self.max_name_bytes}: rename it with a "
                    "transformation or `table.name.format`"
                )


def _unwritable(error: Exception) -> RefusedError | None:
    """What drivers cannot even send: numbers beyond the database's, halves of characters."""
    if isinstance(error, OverflowError):
        return RefusedError(f"a value does not fit: {error}")
    if isinstance(error, UnicodeError):
        return RefusedError(f"a text has characters that cannot be written: {getattr(error, 'reason', 'bad encoding')}")
    return None
