"""What the tests' database servers have in common: installation, starting as an unprivileged user, and databases."""

from __future__ import annotations

import ctypes
import fcntl
import os
import pwd
import secrets
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, TypeVar

import duckdb

from airflow_kconnect.local.ports import free_port
from tests.support import unique

START_SECONDS = 180
USER = "kconnect"
_PR_SET_PDEATHSIG = 1


@dataclass(frozen=True)
class Database(ABC):
    """One database: what a connector's configuration needs, and direct SQL access.

    :param url: JDBC URL.
    :param user: None if the database has no users.
    """

    url: str
    name: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    @abstractmethod
    def connect(self) -> Any:
        """A connection of Python's DB-API that commits each statement."""

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Run one statement (PostgreSQL without parameters: several) and commit; returns the rows of a query."""
        with closing(self.connect()) as connection, closing(connection.cursor()) as cursor:
            cursor.execute(sql, *([tuple(parameters)] if parameters else []))
            return [tuple(row) for row in cursor.fetchall()] if cursor.description else []

    @property
    def config(self) -> dict[str, str]:
        """The keys of a connector's configuration that refer to this database."""
        keys = {"connection.url": self.url, "connection.user": self.user, "connection.password": self.password}
        return {key: value for key, value in keys.items() if value is not None}


@dataclass(frozen=True)
class SqliteDatabase(Database):
    """A SQLite file."""

    @classmethod
    def create(cls, folder: Path) -> SqliteDatabase:
        path = folder / f"{unique('sqlite')}.db"
        return cls(f"jdbc:sqlite:{path}", str(path))

    def connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.name, isolation_level=None)


@dataclass(frozen=True)
class DuckDbDatabase(Database):
    """A DuckDB file; between two statements it is not open."""

    @classmethod
    def create(cls, folder: Path) -> DuckDbDatabase:
        path = folder / f"{unique('duck')}.duckdb"
        duckdb.connect(path).close()
        return cls(f"jdbc:duckdb:{path}", str(path))

    def connect(self) -> duckdb.DuckDBPyConnection:
        return duckdb.connect(self.name)

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with closing(self.connect()) as connection:
            return connection.execute(sql, list(parameters) or None).fetchall()


D = TypeVar("D", bound=Database)


class Server(ABC, Generic[D]):
    """A database server on a free port of the loopback address, with its own data in a temporary folder.

    :raises RuntimeError: it does not start.
    """

    runs_as: ClassVar[str]
    """The user as which it runs if the tests are run by root."""
    ends_by: ClassVar[signal.Signals]
    """The signal that ends it together with its connections."""
    first_database: ClassVar[str]
    """The database that every server has."""

    def __init__(self) -> None:
        self._owner = Owner.choose(self.runs_as)
        # Not pytest's folder: the server's user has no access to the folders above it.
        self._folder = Path(tempfile.mkdtemp(prefix=f"kconnect-{self.runs_as}-"))
        self._owner.own(self._folder)
        self._log = self._folder / "server.log"
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        self.user, self.password = USER, secrets.token_urlsafe(12)
        self._init()
        self.start()

    @abstractmethod
    def _init(self) -> None:
        """Create the data directory, including the user."""

    @abstractmethod
    def _command(self) -> list[str | Path]:
        """The command that starts the server."""

    @abstractmethod
    def _database(self, name: str) -> D: ...

    @abstractmethod
    def create_database(self) -> D:
        """A new database that no other test uses."""

    @property
    def database(self) -> D:
        """The database that every server has."""
        return self._database(self.first_database)

    @property
    def url(self) -> str:
        """JDBC URL of the database that every server has."""
        return self.database.url

    def execute(self, sql: str, parameters: Any = ()) -> list[tuple[Any, ...]]:
        """Run SQL in the database that every server has."""
        return self.database.execute(sql, parameters)

    def start(self) -> None:
        """Start and wait until it answers."""
        self._process = self._owner.spawn(self._command(), self._log, self.ends_by)
        wait_until_up(self._process, self._log, lambda: self.execute("select 1"))

    def stop(self) -> None:
        """Stop; open connections are closed."""
        if self._process is not None:
            end(self._process, self.ends_by)
            self._process = None

    def restart(self) -> None:
        """Stop, which closes all connections, and start on the same port with the same data."""
        self.stop()
        self.start()

    def remove(self) -> None:
        """Stop, and remove the data."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _write(self, name: str, text: str) -> Path:
        """A file that only the server's user may read."""
        path = self._folder / name
        path.touch(mode=0o600)
        path.write_text(text)
        self._owner.own(path)
        return path


def program(name: str, *folders: str) -> Path | None:
    """A program on PATH or in one of several folders (patterns; the last match, which is the newest version)."""
    if on_path := shutil.which(name):
        return Path(on_path).resolve()
    matches = [path for folder in folders for path in sorted(Path("/").glob(f"{folder.lstrip('/')}/{name}"))]
    return matches[-1] if matches else None


def install(package: str) -> bool:
    """Install a package of the distribution, which only root may do; returns whether that worked."""
    if os.getuid() != 0 or shutil.which("apt-get") is None:
        return False
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    command = ["apt-get", "install", "-y", "--no-install-recommends", package]
    with (Path(tempfile.gettempdir()) / "kconnect-tests-install.lock").open("w") as lock:
        # Another process of the same test run may be installing.
        fcntl.flock(lock, fcntl.LOCK_EX)
        for attempt in (command, ["apt-get", "update"], command):
            done = subprocess.run(attempt, env=environment, capture_output=True, check=False, timeout=600)
            if attempt is command and done.returncode == 0:
                return True
    return False


@dataclass(frozen=True)
class Owner:
    """The user as which a server runs: servers refuse to run as root."""

    name: str | None

    @classmethod
    def choose(cls, preferred: str) -> Owner:
        """This user; for root, the preferred one or `nobody`."""
        if os.getuid() != 0:
            return cls(None)
        names = {entry.pw_name for entry in pwd.getpwall()}
        return cls(preferred if preferred in names else "nobody")

    def own(self, path: Path) -> None:
        """Make this user the owner of a folder or file."""
        if self.name:
            shutil.chown(path, self.name, pwd.getpwnam(self.name).pw_gid)

    def run(self, command: Sequence[str | Path]) -> None:
        """Run to the end. :raises RuntimeError: it failed; the text is its output."""
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **self._identity())
        if done.returncode != 0:
            raise RuntimeError(f"{command[0]} failed: {done.stdout}{done.stderr}")

    def spawn(self, command: Sequence[str | Path], log: Path, death_signal: signal.Signals) -> subprocess.Popen[bytes]:
        """Start in the background; it gets the signal when this process dies, however it dies."""
        libc = ctypes.CDLL(None)

        def die_with_parent() -> None:
            libc.prctl(_PR_SET_PDEATHSIG, int(death_signal))

        with log.open("ab") as out:
            return subprocess.Popen(
                list(map(str, command)),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                preexec_fn=die_with_parent,
                start_new_session=True,
                **self._identity(),
            )

    def _identity(self) -> dict[str, Any]:
        if self.name is None:
            return {"cwd": "/"}
        return {"cwd": "/", "user": self.name, "group": pwd.getpwnam(self.name).pw_gid, "extra_groups": []}


def wait_until_up(process: subprocess.Popen[bytes], log: Path, answers: Callable[[], object]) -> None:
    """Wait until a server answers.

    :param answers: sends it a request; raises while it is not up.
    :raises RuntimeError: it ended, or did not answer in time; the text has the end of its log.
    """
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            answers()
            return
        except Exception as error:
            if process.poll() is not None or time.monotonic() > deadline:
                said = log.read_text(errors="replace")[-2000:]
                raise RuntimeError(f"The server does not answer ({error}); its log ends with:\n{said}") from error
        time.sleep(0.1)


def end(process: subprocess.Popen[bytes], how: signal.Signals) -> None:
    """End a server, by force if it takes longer than half a minute."""
    process.send_signal(how)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
