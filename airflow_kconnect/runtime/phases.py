"""How long a run spends where; each phase is announced when it begins."""

from __future__ import annotations

import time

from airflow_kconnect.runtime.progress import emit


class Phases:
    """A stop-watch with one phase at a time."""

    def __init__(self) -> None:
        self._started = time.monotonic()
        self._entered = self._started
        self._name: str | None = None
        self._durations: dict[str, float] = {}

    def enter(self, name: str) -> None:
        """End the current phase and begin the next."""
        self._close()
        self._name, self._entered = name, time.monotonic()
        emit("phase", name=name)

    def _close(self) -> None:
        if self._name:
            spent = self._durations.get(self._name, 0.0) + time.monotonic() - self._entered
            self._durations[self._name] = round(spent, 3)

    def durations(self) -> dict[str, float]:
        """Seconds by phase, and ``total``."""
        self._close()
        self._name = None
        return {**self._durations, "total": round(time.monotonic() - self._started, 3)}
