"""A progress line for long steps: rewritten in place on a terminal, one line every few seconds elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO


class ProgressLine:
    """Called with a message; ends its line when closed. Use it as a context manager.

    :param stream: where to write, usually standard error.
    :param every_s: seconds between two lines if the stream is not a terminal.
    """

    def __init__(self, stream: TextIO, *, every_s: float = 5.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._terminal = stream.isatty()
        self._every_s = every_s
        self._clock = clock
        self._last_s: float | None = None

    def __call__(self, message: str) -> None:
        now_s = self._clock()
        interval_s = 0.1 if self._terminal else self._every_s
        if self._last_s is not None and now_s - self._last_s < interval_s:
            return
        self._last_s = now_s
        self._stream.write(f"\r\x1b[K{message}" if self._terminal else f"{message}\n")
        self._stream.flush()

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        if self._terminal and self._last_s is not None:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
