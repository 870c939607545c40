"""What starts, ends and remembers runs of connectors: Airflow's scheduler, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable


class Runs(Protocol):
    """What starts and ends runs of connectors."""

    def start(self, connector: str) -> None:
        """Start a run now, beyond the schedule."""

    def end(self, connector: str) -> None:
        """End the run in progress, if there is one."""


class NoRuns:
    """Nothing starts runs: they are started elsewhere, and look at the target state."""

    def start(self, connector: str) -> None:
        """Nothing to do: the next run comes by its schedule."""

    def end(self, connector: str) -> None:
        """Nothing to do: the run in progress finishes."""


@runtime_checkable
class RemembersRuns(Protocol):
    """An addition to `Runs`: the runs of a connector so far."""

    def history(self, connector: str) -> list[dict[str, Any]]:
        """The latest runs, newest first, at most some dozens of them.

        Each has `id`, `state` (Airflow's word: `queued`, `running`, `success` or `failed`), `start` and `end` (epoch
        ms, or None); it may have `records`, how many were written, `warnings`, and `url`, a page about it.
        """


@runtime_checkable
class ReplaysRuns(Protocol):
    """An addition to `Runs`: runs with parameters of their own."""

    def replay(self, connector: str, params: Mapping[str, Any]) -> str:
        """Start a run with these parameters of `operators.intervals.run_params`; returns its id.

        :raises RetriableError: it cannot be started yet. :raises ConfigError: the parameters are not accepted.
        """


@dataclass(frozen=True)
class Ending:
    """How the latest run of a connector ended without success.

    :param end_ms: when, in epoch ms. :param retries: it will be tried again.
    """

    run_id: str
    end_ms: int
    retries: bool


@runtime_checkable
class EndsRuns(Protocol):
    """An addition to `Runs`: how runs ended, also those that could not say so themselves."""

    def ending(self, connector: str) -> Ending | None:
        """Of the latest run that moves the live offsets; None if it is in progress, or succeeded, or is not known."""


@runtime_checkable
class ForgetsRuns(Protocol):
    """An addition to `Runs`: what is to happen when a connector is deleted."""

    def forget(self, connector: str) -> None:
        """Start no more runs, at once; those of the past stay."""
