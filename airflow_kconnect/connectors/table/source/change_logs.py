"""What has changed in a table between two of its states: what formats have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.errors import ConnectError, DataError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

KIND, ORDER = "kconnect_kind", "kconnect_order"
"""Columns next to those of the table: what has happened to a row (`UPSERTED`, `DELETED`), and by which commit."""
UPSERTED, DELETED = "u", "d"
"""In the order in which they happen within a commit: the other way round in the alphabet."""
CURE = (
    "Reset the connector's offsets (`kconnect offsets reset`) to read the table as a whole, or alter them to a state"
    " that it still has"
)


@dataclass(frozen=True)
class Changes:
    """What has happened to rows between two states.

    :param rows: with `KIND` and `ORDER`. A row that is written again in a commit is deleted and upserted there, changed
        or not.
    :param only_added: no row was deleted or written again.
    """

    rows: DataFrame
    only_added: bool = False


class ChangeLog(ABC):
    """The states of one table, which are numbers.

    :param table: its identifier, quoted. :param keys: columns that identify a row; empty: rows are only added.
    :param skipped: kinds of commits that are not read.
    """

    state: str
    """What an offset calls a state."""

    def __init__(
        self, spark: SparkSession, table: str, keys: Sequence[str] = (), skipped: Collection[str] = ()
    ) -> None:
        self.spark, self.table, self.keys, self.skipped = spark, table, tuple(keys), frozenset(skipped)

    @abstractmethod
    def newest(self) -> int | None:
        """The present state; None: the table has never held anything."""

    @abstractmethod
    def check(self, start: int | None, end: int) -> None:
        """:raises DataError: what has changed between two states can no longer be read."""

    @abstractmethod
    def size(self, start: int | None, end: int) -> int | None:
        """About how many rows there are to read, without reading them; None: that is not known.

        :param start: None: all rows of `end`.
        """

    @abstractmethod
    def changes(self, start: int, end: int) -> Changes:
        """What has changed after one state until another.

        :raises DataError: rows were changed or deleted, and there are no keys.
        """

    def whole(self, at: int) -> DataFrame:
        """All rows of a state."""
        return self.spark.sql(f"SELECT * FROM {self.table} VERSION AS OF {at}")

    def identity(self) -> str | None:
        """What a table that was created again does not have any more; None: its states say it."""
        return None

    def explained(self, failure: str) -> ConnectError | None:
        """The permanent cause of a job's failure; None: there is none, as far as its text says."""
        return None

    def finished(self) -> None:
        """Nothing will be read any more."""

    def gone(self, state: int) -> DataError:
        """The error for a state that the table does not have any more."""
        return DataError(f"table {self.table} no longer has {self.state} {state}, up to which it was read. {CURE}")

    def unkeyed(self) -> DataError:
        """The error for rows that no key identifies."""
        return unkeyed(self.table)

    @property
    def _jvm(self) -> Any:
        jvm = self.spark._jvm
        assert jvm is not None
        return jvm


def unkeyed(table: str) -> DataError:
    """The error for rows of a table that were deleted or changed, and that no key identifies."""
    return DataError(
        f"table {table} has deleted or changed rows: set `pk.fields` to the columns that identify one, or skip such"
        " commits by `table.read.` options"
    )
