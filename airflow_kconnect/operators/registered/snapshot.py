"""The last known connectors in a file, so that DAG files ask Kafka rarely and survive its absence.

Every process of Airflow that parses a DAG file would otherwise read the config topic each time. The file has no
secrets in it, and only its owner can read it.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import logging
import os
import stat
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from airflow_kconnect import __version__
from airflow_kconnect.connect.errors import ConnectError, in_one_line
from airflow_kconnect.machine.cache import cache_folder
from airflow_kconnect.operators.registered.entries import Entry

log = logging.getLogger(__name__)

_FORGOTTEN_AFTER_S = 7 * 86_400


@dataclass(frozen=True)
class Snapshot:
    """What was known at some time.

    :param read_s: when it was read, epoch seconds; None: never.
    :param tried_s: when reading was tried last.
    :param signature: of the files it was read from; empty for a topic.
    :param problem: why the last attempt failed; None if it did not.
    """

    entries: Sequence[Entry] = ()
    read_s: float | None = None
    tried_s: float = 0.0
    signature: str = ""
    problem: str | None = None

    def age_s(self, now: float) -> float | None:
        """How old it is; None if there is nothing."""
        return None if self.read_s is None else max(0.0, now - self.read_s)

    def is_fresh(self, now: float, max_age_s: float, signature: str) -> bool:
        """Whether no new attempt is due; clocks that were set back count as due."""
        return self.signature == signature and 0 <= now - self.tried_s < max_age_s


class SnapshotFile:
    """A snapshot that is read again when it is older than `max_age_s`, by one process at a time.

    :param identity: what the snapshot is of: each has a file of its own.
    :param max_age_s: how long it is used without reading again, also after a failed attempt.
    """

    def __init__(self, identity: Sequence[object], max_age_s: float) -> None:
        key = hashlib.sha256(json.dumps([__version__, *identity], default=str).encode()).hexdigest()[:24]
        self._file = _folder_file(f"{key}.json")
        self._max_age_s = max_age_s

    def get(self, read: Callable[[], Sequence[Entry]], signature: str = "") -> Snapshot:
        """The snapshot, read again if that is due. If reading fails, the last one, with the problem.

        :param signature: if it differs from that of the snapshot, it is read again at once.
        """
        known = self._load()
        if known.is_fresh(time.time(), self._max_age_s, signature):
            return known
        with self._locked(wait=known.read_s is None) as locked:
            if not locked:
                return known
            known = self._load()
            if known.is_fresh(time.time(), self._max_age_s, signature):
                return known
            snapshot = _attempt(known, read, signature)
            self._save(snapshot)
            return snapshot

    def known(self) -> Sequence[Entry]:
        """The last entries, however old."""
        return self._load().entries

    def _load(self) -> Snapshot:
        """What is in the file; nothing if it is missing, belongs to another user, or is not a snapshot."""
        if self._file is None:
            return Snapshot()
        try:
            handle = os.open(self._file, os.O_RDONLY | os.O_NOFOLLOW)
            with os.fdopen(handle, encoding="utf-8") as content:
                state = os.fstat(content.fileno())
                if not stat.S_ISREG(state.st_mode) or state.st_uid != os.getuid() or state.st_mode & 0o022:
                    log.warning("Ignoring %s: others may have written it", self._file)
                    return Snapshot()
                fields: dict[str, Any] = json.load(content)
            return Snapshot(**{**fields, "entries": tuple(Entry(**entry) for entry in fields["entries"])})
        except FileNotFoundError:
            return Snapshot()
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            log.warning("Ignoring %s: %s", self._file, in_one_line(error))
            return Snapshot()

    def _save(self, snapshot: Snapshot) -> None:
        if self._file is None:
            return
        try:
            handle, name = tempfile.mkstemp(prefix=".", dir=self._file.parent)
            try:
                with os.fdopen(handle, "w", encoding="utf-8") as out:
                    json.dump(asdict(snapshot), out)
                Path(name).replace(self._file)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
            self._forget_others()
        except OSError as error:
            log.warning("Registered connectors are not cached: %s", error)

    def _forget_others(self) -> None:
        assert self._file is not None
        for file in self._file.parent.iterdir():
            with contextlib.suppress(OSError):
                if time.time() - file.stat().st_mtime > _FORGOTTEN_AFTER_S:
                    file.unlink()

    @contextlib.contextmanager
    def _locked(self, *, wait: bool) -> Iterator[bool]:
        """Whether this process may read now. Others are waited for only if there is nothing to use meanwhile."""
        handle = self._open_lock()
        if handle is None:
            yield True
            return
        try:
            yield _lock(handle, wait=wait)
        finally:
            os.close(handle)

    def _open_lock(self) -> int | None:
        if self._file is None:
            return None
        try:
            return os.open(self._file.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError:  # nothing can be saved either, which is reported there
            return None


def _lock(handle: int, *, wait: bool) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def _attempt(known: Snapshot, read: Callable[[], Sequence[Entry]], signature: str) -> Snapshot:
    try:
        entries = tuple(read())
    except ConnectError as error:
        problem = str(error)
    except Exception as error:  # connections are looked up by Airflow's own processes, which may be unavailable too
        log.exception("Registered connectors cannot be read")
        problem = in_one_line(error)
    else:
        now = time.time()
        return Snapshot(entries, now, now, signature)
    return replace(known, tried_s=time.time(), signature=signature, problem=problem)


def _folder_file(name: str) -> Path | None:
    """Where the file is; None if there is no folder for it."""
    try:
        folder = cache_folder() / "registered"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder / name
    except (ConnectError, OSError) as error:
        log.warning("Registered connectors are not cached, so each parse of the DAG file reads them: %s", error)
        return None
