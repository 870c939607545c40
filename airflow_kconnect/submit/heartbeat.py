"""Lines about a running job: its phases as they begin, and a sign of life after a while of silence."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Self

from airflow_kconnect.runs.events import describe_event

SILENCE_S = 10.0
STARTING = "starting the job"


class Heartbeat:
    """Writes a line at least every `silence_s` seconds, so that a long step is not mistaken for a hang.

    Used with `with` around the job, in the process that reads its output: it works while the job is silent, as when
    Spark starts or during one long call in the driver.

    :param say: shows a line; called by two threads, one at a time.
    :param doing: what is being done until the job names its first phase; shown at once.
    """

    def __init__(self, say: Callable[[str], None], doing: str = STARTING, silence_s: float = SILENCE_S) -> None:
        self._show, self._silence_s = say, silence_s
        self._doing, self._since = doing, time.monotonic()
        self._last_said = self._since
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def __enter__(self) -> Self:
        self.say(self._doing)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def event(self, event: Mapping[str, Any]) -> None:
        """Show an event of the job if it is a phase or its progress."""
        if event.get("event") == "phase":
            self._doing, self._since = describe_event(event), time.monotonic()
        if event.get("event") in ("phase", "progress"):
            self.say(describe_event(event))

    def doing(self, text: str) -> None:
        """What is being done now; shown with the next sign of life."""
        if text != self._doing:
            self._doing, self._since = text, time.monotonic()

    def say(self, text: str) -> None:
        """Show a line."""
        with self._lock:
            self._last_said = time.monotonic()
            self._show(text)

    def heard(self) -> None:
        """A line was shown elsewhere: the next sign of life can wait."""
        self._last_said = time.monotonic()

    def _run(self) -> None:
        while not self._stop.wait(min(1.0, self._silence_s)):
            now = time.monotonic()
            if now - self._last_said >= self._silence_s:
                self.say(f"{self._doing}, for {now - self._since:.0f} s")
