"""Timed commits while a writer waits for rows.

A transaction must not stay open because a source has nothing to deliver: readers of the topic wait for its end, and
eventually the broker aborts it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class CommitClock:
    """A thread that calls `commit_if_due` every `interval_s` seconds, never during a `turn` of the writer.

    Used in a ``with`` block; leaving it ends the thread.
    """

    def __init__(self, commit_if_due: Callable[[], object], interval_s: float = 0.5) -> None:
        self._commit_if_due, self._interval_s = commit_if_due, interval_s
        self._lock, self._over = threading.Lock(), threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="commit", daemon=True)

    def __enter__(self) -> CommitClock:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    @contextmanager
    def turn(self) -> Iterator[None]:
        """The writer's work on rows. Raises the error of a commit that has failed meanwhile."""
        with self._lock:
            if self._error is not None:
                raise self._error
            yield

    def _run(self) -> None:
        while self._error is None and not self._over.wait(self._interval_s):
            with self._lock:
                try:
                    self._commit_if_due()
                except Exception as error:
                    self._error = error
