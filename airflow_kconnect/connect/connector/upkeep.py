"""What is done to a lake table besides writing into it: small files, old snapshots, files that no one needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from airflow_kconnect.connect.errors import ConfigError

DAY_MS = 86_400_000
KEEP_DAYS = 7.0
WAIT_S = 600.0
FLOOR_MS = 3_600_000
"""Nothing younger is removed: a run that has just begun may have staged it."""
_CLOCKS_MS = 600_000
"""Brokers and catalogs may have clocks that differ by this much."""


class Step(StrEnum):
    """One of the things that can be done; in this order."""

    COMPACT = "compact"  # write small files, and those with many deleted rows, again as larger ones
    METADATA = "metadata"  # the same for the table's own metadata: manifests, a checkpoint
    EXPIRE = "expire"  # forget old snapshots, and remove the files that only they need
    ORPHANS = "orphans"  # remove files that no snapshot knows, left by killed jobs


STEPS = (Step.COMPACT, Step.METADATA, Step.EXPIRE)
"""What is done unless steps are named: finding orphans lists all that is in the table's folder."""


@dataclass(frozen=True)
class Upkeep:
    """An order to look after the tables of a connector.

    :param steps: values of `Step`.
    :param tables: only these of them; empty: all that the connector has written to.
    :param keep_days: what is younger stays, for readers of older snapshots.
    :param wait_s: how long to wait for a run of the connector to end.
    """

    steps: Sequence[str] = STEPS
    tables: Sequence[str] = ()
    keep_days: float = KEEP_DAYS
    wait_s: float = WAIT_S

    def __post_init__(self) -> None:
        known = [step.value for step in Step]
        problems = {
            "steps": [f"{step} is unknown; there are {', '.join(known)}" for step in self.steps if step not in known],
            "keep_days": [f"{self.keep_days:g} is negative"] if self.keep_days < 0 else [],
            "wait_s": [f"{self.wait_s:g} is negative"] if self.wait_s < 0 else [],
        }
        if errors := {key: texts for key, texts in problems.items() if texts}:
            raise ConfigError(errors)

    def has(self, step: Step) -> bool:
        """Whether a step is to be done."""
        return step in self.steps


@dataclass(frozen=True)
class TableUpkeep:
    """The same for one table, when it is known what must stay.

    :param older_than_ms: only what is older may be removed, in epoch milliseconds.
    :param applications: those whose last plan the table must be able to name afterwards: see `SinkPlan`.
    """

    upkeep: Upkeep
    older_than_ms: int
    applications: tuple[str, ...] = ()
    dry_run: bool = False


def older_than_ms(upkeep: Upkeep, now_ms: int, unfinished_ms: Iterable[int]) -> int:
    """Until when what is in a table may be removed.

    :param unfinished_ms: when the plans and runs began that are not finished: what they need is not older.
    """
    kept = now_ms - max(int(upkeep.keep_days * DAY_MS), FLOOR_MS)
    return min([kept, *(begun - _CLOCKS_MS for begun in unfinished_ms)])
