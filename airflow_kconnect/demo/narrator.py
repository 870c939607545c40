"""Shows what the demo is doing: with a spinner on a terminal, elsewhere with a line at least every few seconds."""

from __future__ import annotations

import threading
import time
from typing import Self

from rich.console import Console
from rich.status import Status
from rich.text import Text


class Narrator:
    """Called with each new step. Use it as a context manager.

    :param silence_s: seconds after which a long step is named again.
    :param between_s: minimum seconds between two lines about steps.
    :param lasting_s: minimum duration of a step in seconds for it to be worth a line.
    """

    def __init__(
        self, console: Console, *, silence_s: float = 5.0, between_s: float = 2.0, lasting_s: float = 0.5
    ) -> None:
        self._console = console
        self._silence_s, self._between_s, self._lasting_s = silence_s, between_s, lasting_s
        self._began_s = self._step_since_s = self._said_s = time.monotonic()
        self._step, self._pending = "", False
        self._spinner: Status | None = None
        self._guard, self._stop = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._keep_saying, name="narrator", daemon=True)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._spinner = self._console.status("")
            # A recording would keep each of its frames.
            if not self._console.record:
                self._spinner.start()
        self._began_s = self._said_s = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        if self._spinner is not None:
            self._spinner.stop()

    def __call__(self, step: str) -> None:
        """Name the step that begins now."""
        with self._guard:
            if step == self._step:
                return
            self._step, self._pending = step, True
            self._step_since_s = time.monotonic()

    def say(self, text: str) -> None:
        """Print a line that stays, even on a terminal: what has been done, or what the next steps are for."""
        with self._guard:
            self._step, self._pending = "", False
            self._print(text, "green")

    def _keep_saying(self) -> None:
        while not self._stop.wait(0.2):
            with self._guard:
                self._show()

    def _show(self) -> None:
        now_s = time.monotonic()
        took_s = now_s - self._step_since_s
        text = f"{self._step}, for {took_s:.0f} s" if took_s >= self._silence_s else self._step
        if self._spinner is not None:
            self._spinner.update(Text(f"{now_s - self._began_s:4.0f} s  {text}"))
        elif self._step and self._is_due(now_s - self._said_s, took_s):
            self._print(text, "dim")
            self._pending = False

    def _is_due(self, silent_s: float, took_s: float) -> bool:
        lasts = self._pending and took_s >= self._lasting_s and silent_s >= self._between_s
        return lasts or silent_s >= self._silence_s

    def _print(self, text: str, style: str) -> None:
        self._said_s = time.monotonic()
        since = f"{self._said_s - self._began_s:5.0f} s  "
        self._console.print(Text.assemble((since, "cyan"), (text, style)), soft_wrap=True)
