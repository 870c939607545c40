"""What the sink needs from a database. A target is created in the driver and pickled into the tasks."""

from __future__ import annotations

import importlib
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.connector.sink import BatchRenderer
from airflow_kconnect.connect.data import Shape
from airflow_kconnect.connect.errors import ConfigError, ConnectError, RefusedError, RetriableError
from airflow_kconnect.connectors.jdbc.sink.definitions import Definitions, MemberPath
from airflow_kconnect.connectors.jdbc.sink.layouts import RowLayout
from airflow_kconnect.connectors.jdbc.sink.naming import Table

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
        """Either everything that is added within it reaches its tables, or nothing does.

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
        with self._target.errors("writing rows in parts that can be rolled back"):
            self._connection.cursor().execute(statement)


class Target(Definitions, ABC):
    """A kind of database.

    :param settings: of the connector.
    """

    driver: ClassVar[str]
    """Module of the Python driver."""
    extra: ClassVar[str] = "jdbc"
    """The extra of this package that installs the driver."""
    placeholder: ClassVar[str] = "%s"
    ddl_on_own_connection: ClassVar[bool] = True
    """Whether tables are changed on a connection of its own, because a change ends or blocks transactions."""
    changes_race: ClassVar[bool] = False
    """Whether two sessions may change a table at once, of which the second then fails."""
    has_savepoints: ClassVar[bool] = True
    """Whether a part of a transaction can be rolled back; else the batches of tolerant runs are transactions."""
    offset_types: ClassVar[tuple[str, str]] = ("TEXT", "BIGINT")
    """Types of texts and offsets in the table of offsets."""
    offset_options: ClassVar[str] = ""
    """What follows the columns of the table of offsets."""

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
    def existing_columns(self, connection: Connection, table: Table) -> list[str] | None:
        """Names of a table's columns; None if there is no such table."""

    def existing_members(self, connection: Connection, table: Table) -> Iterable[MemberPath]:
        """The members of the structs in a table's columns, where the database has structs."""
        return ()

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
        """The driver's errors become `ConnectError`s, which say what was being done."""
        try:
            yield
        except ConnectError:
            raise
        except Exception as error:
            translated = self.translated(error) or _unwritable(error)
            if translated is None:
                raise
            if isinstance(translated, ConfigError):
                raise translated from error
            raise type(translated)(f"connector {self.settings.connector}, {doing}: {translated}") from error


def _unwritable(error: Exception) -> RefusedError | None:
    """What drivers cannot even send: numbers beyond the database's, halves of characters."""
    if isinstance(error, OverflowError):
        return RefusedError(f"a value does not fit: {error}")
    if isinstance(error, UnicodeError):
        return RefusedError(f"a text has characters that cannot be written: {getattr(error, 'reason', 'bad encoding')}")
    return None
