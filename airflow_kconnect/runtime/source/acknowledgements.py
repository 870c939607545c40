"""Informs a polling task of what the writing end of the same Spark task has committed.

Polling and writing are two Python processes of one Spark task on one machine; Spark has no channel back from the second
to the first. A small file, replaced atomically, is that channel: so `SourceTask.commit_record` and `commit` are called
after the commit, as Connect promises.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from airflow_kconnect.connect.errors import RetriableError


def _folder(plan_id: str, split: int) -> Path:
    """A folder known to both ends, on whichever machine the task runs.

    :raises RetriableError: another user created it first; its content must not be read or followed.
    """
    folder = Path(tempfile.gettempdir()) / f"kconnect-acks-{plan_id}-{split}"
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    status = folder.lstat()
    private = stat.S_ISDIR(status.st_mode) and not stat.S_IMODE(status.st_mode) & 0o077
    if not private or status.st_uid != os.geteuid():
        raise RetriableError(
            f"{folder} was created by another user, and the run needs it for itself alone. Let `TMPDIR` of the"
            " executors name a folder that only their user can write to"
        )
    return folder


class AckWriter:
    """Used by the writing end.

    :param plan_id: the run's plan; with the split it is unique.
    :param patience_s: how long the task may take to stop after the last commit.
    """

    def __init__(self, plan_id: str, split: int, patience_s: float = 5.0) -> None:
        self._folder = _folder(plan_id, split)
        self._records = 0
        self._patience_s = patience_s

    def committed(self, records: int) -> None:
        """The total number of the task's records that are committed."""
        self._records = records
        self._tell(finished=False)

    def finished(self) -> None:
        """Nothing more will be committed; wait until the task has been stopped, but not forever."""
        self._tell(finished=True)
        stopped, deadline = self._folder / "stopped", time.monotonic() + self._patience_s
        while not stopped.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _tell(self, *, finished: bool) -> None:
        fresh = self._folder / "new"
        fresh.write_text(json.dumps([self._records, finished]))
        fresh.replace(self._folder / "committed")


class AckReader:
    """Used by the polling end."""

    def __init__(self, plan_id: str, split: int) -> None:
        self._folder = _folder(plan_id, split)

    def read(self) -> tuple[int, bool]:
        """(records committed so far, whether that is final)."""
        try:
            records, finished = json.loads((self._folder / "committed").read_text())
        except FileNotFoundError:
            return 0, False
        return int(records), bool(finished)

    def stopped(self) -> None:
        """The task has been stopped. The waiting process may already be gone."""
        try:
            (self._folder / "stopped").touch()
        except FileNotFoundError:
            return


class NothingCommitted:
    """In place of an `AckReader`, where records are only read."""

    def read(self) -> tuple[int, bool]:
        """Nothing is committed, and that is final."""
        return 0, True

    def stopped(self) -> None:
        """No one waits for it."""
