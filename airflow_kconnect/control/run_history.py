"""What can be asked of those runs that are remembered: Airflow's are, those of the command line are not."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class RemembersRuns(Protocol):
    """An addition to `Runs`: the runs of a connector so far."""

    def history(self, connector: str) -> list[dict[str, Any]]:
        """The latest runs, newest first, at most some dozens of them.

        Each has `id`, `state` (Airflow's word: `queued`, `running`, `success` or `failed`), `start` and `end` (epoch
        ms, or None); it may have `records` and `url`, a page about it.
        """
