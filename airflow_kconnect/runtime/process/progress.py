"""Progress of a running Spark job: executors send counts to the driver by UDP, which prints a line now and then.

Spark itself reports nothing about a Python task to the driver before it ends. A lost datagram does no harm: counts are
cumulative and for display only.
"""

from __future__ import annotations

import json
import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from dataclasses import dataclass, field
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.runs.events import event_line


@dataclass
class Voice:
    """On whose behalf a thread prints events: the process's one run, or one of a group's.

    Threads that a run starts have its voice if they run in a copy of its context.

    :param connector: None: of a job with one run.
    """

    token: str | None = None
    connector: str | None = None
    listeners: list[Callable[[Mapping[str, Any]], None]] = field(default_factory=list)


_of_process = Voice()
_ENDS = ("report", "error", "preview")
_keepers: list[Callable[[str], object]] = []
_voice: ContextVar[Voice] = ContextVar("kconnect-voice", default=_of_process)
_printing = threading.Lock()


def use_token(token: str) -> None:
    """Begin all events of this process with the token of the run spec."""
    _of_process.token = token


@contextmanager
def speaking_for(connector: str) -> Iterator[None]:
    """Within the block this thread's events are those of one connector of a group."""
    before = _voice.set(Voice(_of_process.token, connector))
    try:
        yield
    finally:
        _voice.reset(before)


def speaker() -> str | None:
    """The connector of a group for which this thread works; None: of a job with one run, or none in particular."""
    return _voice.get().connector


def emit(event: str, **facts: object) -> None:
    """Print an event for the process that started the job."""
    voice = _voice.get()
    if voice.connector is not None:
        facts = {"connector": voice.connector, **facts}
    line = event_line(event, token=voice.token, **facts) + "\n"
    with _printing:
        for keep in _keepers if event in _ENDS else ():
            keep(line)
        sys.stdout.write(line)
        sys.stdout.flush()
    if event == "progress":
        for listener in voice.listeners:
            listener(facts)


def emit_error(error: ConnectError) -> dict[str, Any]:
    """Print the event of a run that has failed; returns its facts."""
    facts: dict[str, Any] = {
        "error": type(error).__name__,
        "message": str(error),
        "exit_code": error.exit_code,
        "errors": error.errors if isinstance(error, ConfigError) else None,
    }
    emit("error", **facts)
    return facts


@contextmanager
def ends_kept(keep: Callable[[str], object]) -> Iterator[None]:
    """Within the block `keep` is called with the line of each event with which a run of this process ends."""
    _keepers.append(keep)
    try:
        yield
    finally:
        _keepers.remove(keep)


@contextmanager
def progress_told(listener: Callable[[Mapping[str, Any]], None]) -> Iterator[None]:
    """Within the block `listener` is called with each ``progress`` event of this run, from any of its threads."""
    listeners = _voice.get().listeners
    listeners.append(listener)
    try:
        yield
    finally:
        listeners.remove(listener)


@dataclass(frozen=True)
class ProgressAddress:
    """Where executors send their counts; the token keeps out stray datagrams."""

    host: str
    port: int
    token: str


class ProgressSender:
    """Used by a task: sends its cumulative count at most twice a second."""

    def __init__(self, address: ProgressAddress, split: int, interval_s: float = 0.5) -> None:
        self._address, self._split, self._interval_s = address, split, interval_s
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._last = 0.0

    def send(self, records: int, *, done: bool = False) -> None:
        """Send counts to the driver; errors are ignored."""
        now = time.monotonic()
        if not done and now - self._last < self._interval_s:
            return
        self._last = now
        text = json.dumps([self._address.token, self._split, records, done])
        try:
            self._socket.sendto(text.encode(), (self._address.host, self._address.port))
        except OSError:
            return


class ProgressMonitor:
    """Used by the driver around a Spark job: prints a ``progress`` event every `interval_s` seconds.

    :param host: address of the driver that executors can reach.
    :param tasks: number of splits.
    :param expected: the expected number of records, if known.
    """

    def __init__(self, host: str, tasks: int, expected: int | None = None, interval_s: float = 5.0) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.bind((host, 0))
        except OSError:  # the address by which executors reach the driver may not be one of this machine (NAT)
            self._socket.bind(("", 0))
        self._socket.settimeout(0.5)
        self.address = ProgressAddress(host, self._socket.getsockname()[1], secrets.token_hex(8))
        self._tasks, self._expected, self._interval_s = tasks, expected, interval_s
        self._counts: dict[int, int] = {}
        self._done: set[int] = set()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=copy_context().run, args=(self._run,), name="progress", daemon=True)

    def __enter__(self) -> ProgressMonitor:
        self._started = time.monotonic()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._socket.sendto(b"0", self._socket.getsockname())  # wakes the thread, so that nothing waits for it
        self._thread.join()
        self._socket.close()

    def _run(self) -> None:
        printed = time.monotonic()
        while not self._stop.is_set():
            self._receive()
            if time.monotonic() - printed >= self._interval_s:
                printed = time.monotonic()
                self._print()

    def _receive(self) -> None:
        try:
            message = json.loads(self._socket.recv(512))
        except (TimeoutError, ValueError):
            return
        if isinstance(message, list) and len(message) == 4 and message[0] == self.address.token:
            _, split, records, done = message
            self._counts[split] = records
            if done:
                self._done.add(split)

    def _print(self) -> None:
        elapsed = time.monotonic() - self._started
        records = sum(self._counts.values())
        emit(
            "progress",
            records=records,
            rate=round(records / elapsed, 1),
            tasks_done=len(self._done),
            tasks=self._tasks,
            elapsed_s=round(elapsed, 1),
            expected=self._expected,
        )
