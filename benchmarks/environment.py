"""What every benchmark needs: a folder, a broker, a console, and an end that leaves nothing running."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.local.registry import LocalRegistry
from airflow_kconnect.submit.submit import sigterm_as_exit
from benchmarks.database_tables import start_postgres
from benchmarks.measure import Say
from tests.support.databases.postgres import PostgresDatabase


@dataclass(frozen=True)
class Environment:
    """Where a benchmark runs.

    :param folder: removed at the end.
    :param broker_pid: of the broker's process.
    """

    folder: Path
    bootstrap: str
    broker_pid: int


def console() -> Say:
    """Prints lines for people; one that only repeats the last one is not printed."""
    console, last = Console(), None

    def say(line: object) -> None:
        nonlocal last
        if line != last:
            console.print(line, soft_wrap=True, highlight=False)
        last = line

    return say


@contextmanager
def broker(say: Say) -> Iterator[Environment]:
    """A broker and a folder; stopped and removed at the end, on SIGTERM too."""
    with sigterm_as_exit(), tempfile.TemporaryDirectory(prefix="kconnect-bench-") as name:
        folder = Path(name)
        embedded = EmbeddedBroker(folder / "broker", heap_mb=1024, progress=say)
        try:
            pid = embedded.start().pid
            assert pid is not None
            yield Environment(folder, embedded.bootstrap, pid)
        finally:
            embedded.stop()


@contextmanager
def database() -> Iterator[PostgresDatabase]:
    """A database of a PostgreSQL server of its own."""
    postgres = start_postgres()
    try:
        yield postgres.create_database()
    finally:
        postgres.remove()


@contextmanager
def registry(folder: Path, say: Say) -> Iterator[str]:
    """The URL of a schema registry of its own, for `schema.registry.url`."""
    local = LocalRegistry(folder / "registry", progress=say)
    try:
        yield str(local.start(timeout_s=120).url)
    finally:
        local.stop()
