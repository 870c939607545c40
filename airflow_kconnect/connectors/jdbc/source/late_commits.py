"""Rows that are committed late: what a database that shows its open transactions reports about them."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from airflow_kconnect.runs.warnings import RunWarning

if TYPE_CHECKING:
    from airflow_kconnect.connectors.jdbc.source.chosen_table import Source


@dataclass(frozen=True)
class Holder:
    """A transaction that is waited for.

    :param pid: its session; None if it is a prepared transaction.
    :param since: when it began, or the name of a prepared one; None if the user may not know.
    """

    transaction: str
    pid: int | None
    since: str | None

    def __str__(self) -> str:
        if self.pid is None:
            return f"prepared transaction {self.since or self.transaction}"
        return f"the transaction of session {self.pid}" + (f", open since {self.since}" if self.since else "")


@dataclass(frozen=True)
class Horizon:
    """Until when timestamps can be read.

    :param instant: nanoseconds since the epoch; rows before it are complete.
    :param held_by: the transaction that keeps it from being now, if there is one.
    """

    instant: int
    held_by: Holder | None = None


class LateCommits(ABC):
    """How far a table can be read so that no open transaction can still add rows before that point."""

    @abstractmethod
    def is_replica(self) -> bool:
        """Whether the transactions that write are somewhere else."""

    @abstractmethod
    def blind_spots(self, sources: Sequence[Source]) -> list[RunWarning]:
        """What else writes to the tables, in an order that the transactions of this database do not show."""

    @abstractmethod
    def wait_for_writers(self, sources: Sequence[Source], *, prepared_only: bool = False) -> dict[str, Holder]:
        """Wait until the transactions that have written to the tables by now are over.

        :param prepared_only: only prepared transactions, which do not say when they began.
        :returns: by table, one that is still open; nothing may be read of that table yet.
        """

    @abstractmethod
    def horizon(self, delay_ns: int) -> Horizon | Holder:
        """Until when timestamps are complete.

        :param delay_ns: `timestamp.delay.interval.ms`, for timestamps that other clocks than the database's make.
        :returns: a transaction, if one is open whose beginning the user may not know, and it did not end in time.
        """


def still_open(
    waiting: Mapping[str, Holder], ask: Callable[[], Mapping[str, Any]], wait_s: float, poll_s: float
) -> Mapping[str, Holder]:
    """Wait until transactions are over.

    :param waiting: by a name that no later one has.
    :param ask: those that are open now.
    :returns: those that did not end in time.
    """
    deadline = time.monotonic() + wait_s
    while waiting and time.monotonic() < deadline:
        time.sleep(poll_s)
        open_now = ask()
        waiting = {name: holder for name, holder in waiting.items() if name in open_now}
    return waiting
