"""Tells a polling task what the writing end of the same Spark task has committed.

Polling and writing are two Python processes of one Spark task on one machine; Spark has no way back from the second
to the first. A small file, replaced atomically, is that way: so `SourceTask.commit_record` and `commit` are called
after the commit, as Connect promises.
"""

from __future__ import annotations

import json
import time
from pathlib import Path


class AckWriter:
    """Used by the writing end."""

    def __init__(self, folder: str, split: int, attempt: int, patience_s: float = 5.0) -> None:
        self._path = Path(folder) / f"ack-{split}-{attempt}"
        self._patience_s = patience_s

    def committed(self, records: int) -> None:
        """So many records of the task are committed in total."""
        self._replace({"records": records, "finished": False})

    def finished(self) -> None:
        """Nothing more will be committed; wait until the task has been stopped, but not for ever."""
        acked = json.loads(self._path.read_text()) if self._path.exists() else {"records": 0}
        self._replace({**acked, "finished": True})
        stopped, deadline = self._path.with_suffix(".stopped"), time.monotonic() + self._patience_s
        while not stopped.exists() and time.monotonic() < deadline:
            time.sleep(0.02)

    def _replace(self, state: dict[str, object]) -> None:
        fresh = self._path.with_suffix(".new")
        fresh.write_text(json.dumps(state))
        fresh.replace(self._path)


class AckReader:
    """Used by the polling end."""

    def __init__(self, folder: str, split: int, attempt: int) -> None:
        self._path = Path(folder) / f"ack-{split}-{attempt}"

    def read(self) -> tuple[int, bool]:
        """(records committed so far, whether that is final)."""
        try:
            state = json.loads(self._path.read_text())
        except FileNotFoundError:
            return 0, False
        return int(state["records"]), bool(state["finished"])

    def stopped(self) -> None:
        """The task has been stopped."""
        self._path.with_suffix(".stopped").touch()
