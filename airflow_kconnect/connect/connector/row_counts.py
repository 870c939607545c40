"""Counts of rows that Spark writes, and what a table says about them; no job of Spark is run here."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import TypeVar

from airflow_kconnect.connect.errors import RetriableError

_PATIENCE_S = 60.0

Count = TypeVar("Count")


@dataclass(frozen=True)
class RowCount:
    """How many rows a write was given; to be asked when it is over.

    :param observed: what Spark has counted as they passed: too many where it has repeated a part of the job, None where
        it has left out a part that had no rows.
    :param exact: counts again, by a job of its own.
    """

    observed: Callable[[], int | None]
    exact: Callable[[], int]

    def unlike(self, written: int, *, at_least: bool = False) -> int | None:
        """The exact count, if a table has not taken this many rows; None: it has.

        :param at_least: it may have written more rows than it was given.
        """

        def fits(count: int) -> bool:
            return written == count or (at_least and written > count)

        found = soon(self.observed)
        if found is None or not fits(found):
            found = self.exact()
        return None if fits(found) else found


def soon(count: Callable[[], Count]) -> Count:
    """A count of a job that is over: Spark tells it a moment later, and never if it did not run the job.

    :raises RetriableError: it does not tell it.
    """
    found: Future[Count] = Future()

    def wait() -> None:
        try:
            found.set_result(count())
        except BaseException as error:
            found.set_exception(error)

    threading.Thread(target=wait, name="count", daemon=True).start()
    try:
        return found.result(_PATIENCE_S)
    except TimeoutError:
        raise RetriableError(
            f"Spark has written something, and {_PATIENCE_S:.0f} s later not said how many records: another run may"
            " have written the same. The next run finds out"
        ) from None
