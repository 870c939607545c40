"""How long a run spends in each phase; a phase is announced when it begins."""

from __future__ import annotations

import time
from collections.abc import Sequence

from airflow_kconnect.runtime.process.progress import emit

SOURCE_PHASES = (
    *("connecting", "fencing", "planning", "starting Spark", "preparing the Spark job", "moving records"),
    "committing offsets",
)
SINK_PHASES = (
    *("connecting", "planning", "looking at samples", "starting Spark", "preparing the Spark job", "moving records"),
    "committing offsets",
)
HOSTED_PHASES = (
    *("connecting", "starting Java", "validating", "starting the connector", "moving records", "stopping"),
)
UPKEEP_PHASES = ("connecting", "waiting for runs", "starting Spark", "looking after tables")
_TEXTS = {
    "connecting": "connecting to Kafka for {}",
    "fencing": "fencing older runs of {}",
    "planning": "planning what {} reads",
    "looking at samples": "looking at samples of the records of {}",
    "starting Spark": "starting Spark for {}",
    "preparing the Spark job": "preparing the Spark job of {}",
    "moving records": "moving records of {}",
    "committing offsets": "committing offsets of {}",
    "starting Java": "starting Java for {}",
    "validating": "asking the Java class of {} about its configuration",
    "starting the connector": "starting {} in a Connect worker of its own",
    "waiting for runs": "waiting until no run of {} is in progress",
    "looking after tables": "looking after the tables of {}",
    "stopping": "stopping {}, which commits what it has moved",
}


class PhaseTimer:
    """A stopwatch with one phase at a time.

    :param names: the phases in order; a run may leave some out, and repeat some.
    :param connector: its name, for display.
    """

    def __init__(self, names: Sequence[str], connector: str) -> None:
        self._names, self._connector = names, connector
        self._started = time.monotonic()
        self._entered = self._started
        self._name: str | None = None
        self._durations: dict[str, float] = {}
        self._why_again: str | None = None
        self._repeats = False

    def again(self, why: str) -> None:
        """The phases that follow were there before: they are shown without numbers, the first with the reason."""
        self._why_again, self._repeats = why, True

    def enter(self, name: str) -> None:
        """End the current phase and begin the next."""
        self._close()
        self._name, self._entered = name, time.monotonic()
        text = _TEXTS[name].format(self._connector)
        if self._why_again is not None:
            again = " again" if name in self._durations else ""
            text, self._why_again = f"{text}{again}: {self._why_again}", None
        numbers = {} if self._repeats else {"step": self._names.index(name) + 1, "steps": len(self._names)}
        emit("phase", name=name, text=text, **numbers)

    def _close(self) -> None:
        if self._name:
            spent = self._durations.get(self._name, 0.0) + time.monotonic() - self._entered
            self._durations[self._name] = round(spent, 3)

    def durations(self) -> dict[str, float]:
        """Seconds by phase, and ``total``."""
        self._close()
        self._name = None
        return {**self._durations, "total": round(time.monotonic() - self._started, 3)}
