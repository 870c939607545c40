"""A program that is running: its lines, its errors, its end."""

from __future__ import annotations

import contextlib
import fcntl
import os
import selectors
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TextIO

from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.connectors.programs import leash
from airflow_kconnect.connectors.programs.secrets import Secrets
from airflow_kconnect.machine.process_tree import kill_tree
from airflow_kconnect.places.system_errors import system_error

LINE_MAX_BYTES = 64 * 1024 * 1024
_READ_BYTES = 256 * 1024
_TAIL_LINES, _TAIL_CHARS = 20, 2000
_END_S = 10.0
_FOLDERS, _LOCK = "kconnect-program-", ".in-use"
_FRESH_S = 60.0
"""A folder that is younger may be one whose lock is about to be taken."""


class Program:
    """Starts a program in a private folder. What it writes to its standard error goes to the log.

    It is in a process group of its own, and ends with the process that has started it (`leash`).

    :param name: in logs and errors. :param command: with the names of `files` in it.
    :param files: name -> text: its configuration, which only this user can read and which is removed.
    :param variables: of its process: `inherited_variables`.
    :param idle_s: it is ended when it has written nothing for so long.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        files: Mapping[str, str],
        *,
        variables: Mapping[str, str],
        secrets: Secrets,
        idle_s: float,
    ) -> None:
        self._name, self._secrets, self._idle_s = name, secrets, idle_s
        self._tail: deque[str] = deque(maxlen=_TAIL_LINES)
        self._folder, self._lock = _private_folder(name, files)
        leashed = [sys.executable, "-I", "-S", leash.__file__, str(self._folder), *command]
        self._process = subprocess.Popen(
            leashed,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**variables, "PYTHONUNBUFFERED": "1"},
            start_new_session=True,
        )
        assert self._process.stdout is not None
        self._output = self._process.stdout.fileno()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._output, selectors.EVENT_READ)
        self._lines, self._rest, self._rest_bytes = deque[bytes](), list[bytes](), 0
        self._last_s = time.monotonic()
        self._listener = threading.Thread(target=self._listen, name=f"stderr of {name}", daemon=True)
        self._listener.start()

    def line(self, wait_s: float) -> bytes | None:
        """Its next line; empty: there is none yet; None: it has ended well.

        :param wait_s: for how long to wait for one.
        :raises RetriableError: it has failed, or has written nothing for too long.
        :raises DataError: a line is too long.
        """
        while not self._lines:
            if not self._selector.select(wait_s):
                self._refuse_silence()
                return b""
            found = os.read(self._output, _READ_BYTES)
            self._last_s = time.monotonic()
            if not found:
                return self._ended()
            self._take(found)
        return self._lines.popleft()

    def lines(self) -> Iterator[bytes]:
        """All of its lines. :raises ConnectError: as `line`."""
        while (line := self.line(1.0)) is not None:
            if line:
                yield line

    def stop(self) -> None:
        """End it, with all that it has started; its files are removed."""
        if self._process.returncode is None:  # it may have ended, and have left others
            kill_tree(self._process.pid, grace_s=0.5)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        self._selector.close()
        self._process.wait()
        self._listener.join(_END_S)
        shutil.rmtree(self._folder, ignore_errors=True)
        self._lock.close()

    def hidden(self, text: str) -> str:
        """A text without the secrets of its configuration."""
        return self._secrets.hidden(text)

    def tell(self, text: str, *, tail: bool = True) -> None:
        """Write to the log what it has said. :param tail: whether it may be about its end."""
        text = self.hidden(text)
        if text and tail:
            self._tail.append(text)
        if text:
            # Not by `logging`, which is not set up in all processes that read records.
            sys.stderr.write(f"{self._name}: {text}\n")

    def told(self) -> str:
        """The end of what it has said about itself, in one line, without secrets."""
        self._listener.join(_END_S)
        return " | ".join(self._tail)[-_TAIL_CHARS:]

    def _take(self, found: bytes) -> None:
        first, *others = found.split(b"\n")
        self._rest.append(first)
        self._rest_bytes += len(first)
        if others:
            *whole, rest = [b"".join(self._rest), *others]
            self._lines.extend(line for line in whole if line.strip())
            self._rest, self._rest_bytes = [rest], len(rest)
        if self._rest_bytes > LINE_MAX_BYTES:
            self.stop()
            size = LINE_MAX_BYTES // 1024 // 1024
            raise DataError(
                f"{self._name} writes a message of more than {size} MiB, which no topic takes: leave it out"
            )

    def _ended(self) -> bytes | None:
        code = self._process.wait()
        if code == 0:  # what has failed may have left half a line
            line, self._rest = b"".join(self._rest), []
            return line if line.strip() else None
        text = f"{self._name} {_fate(code)}"
        said = self.told()
        raise RetriableError(f"{text}: {said}" if said else f"{text}, and has not said why")

    def _refuse_silence(self) -> None:
        if time.monotonic() - self._last_s < self._idle_s:
            return
        self.stop()
        text = f"{self._name} has written nothing for {self._idle_s:g} s and was ended"
        raise RetriableError(f"{text}: {self.told() or 'it has not said why'}")

    def _listen(self) -> None:
        stream = self._process.stderr
        assert stream is not None
        with stream:
            for raw in stream:
                self._last_s = time.monotonic()
                self.tell(raw.decode(errors="replace").rstrip())


def _fate(code: int) -> str:
    if code > 128:
        return f"was ended by signal {code - 128}"
    return f"has failed with exit code {code}"


def _private_folder(name: str, files: Mapping[str, str]) -> tuple[Path, TextIO]:
    """A folder with the files, and what holds its lock: as long as it is open, the folder is in use.

    :raises ConnectError: it cannot be written.
    """
    _remove_abandoned(Path(tempfile.gettempdir()))
    try:
        folder = Path(tempfile.mkdtemp(prefix=_FOLDERS))  # mode 700
        lock = (folder / _LOCK).open("w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        for each, text in files.items():
            path = folder / each
            path.touch(mode=0o600)
            path.write_text(text, "utf-8")
    except OSError as error:
        raise system_error(f"writing the configuration of {name}", error) from error
    return folder, lock


def _remove_abandoned(parent: Path) -> None:
    """Folders that are left when everything was killed at once, the leash as well."""
    for folder in parent.glob(f"{_FOLDERS}*"):
        with contextlib.suppress(OSError):
            status = folder.lstat()
            if status.st_uid != os.getuid() or time.time() - status.st_mtime < _FRESH_S:
                continue
            with (folder / _LOCK).open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
