"""A private PostgreSQL server for tests and benchmarks."""

from __future__ import annotations

import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airflow_kconnect.local.ports import LOOPBACK, free_port
from tests.support import unique
from tests.support.databases import Database, Owner, Server, end, install, program, wait_until_up

USER = "kconnect"
_SETTINGS = {
    "fsync": "off",
    "max_prepared_transactions": "20",
    "max_connections": "100",
    "unix_socket_directories": "",
    "listen_addresses": LOOPBACK,
    "timezone": "UTC",
    "log_timezone": "UTC",
}


@dataclass(frozen=True)
class PostgresDatabase(Database):
    """A database of a server."""

    port: int = 0

    def connect(self) -> Any:
        import psycopg

        return psycopg.connect(
            host=LOOPBACK,
            port=self.port,
            dbname=self.name,
            user=self.user,
            password=self.password,
            autocommit=True,
            connect_timeout=10,
        )


class PostgresServer(Server):
    """A cluster of its own in a temporary folder, without sync to disk; passwords are asked for.

    :param settings: more settings of the server (`wal_level`, ...).
    :raises RuntimeError: PostgreSQL is not installed and cannot be; or it does not start.
    """

    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        self._programs = _programs()
        self.settings = {**_SETTINGS, **(settings or {})}
        self._owner = Owner.choose("postgres")
        # Not pytest's folder: the server's user cannot pass the folders above it.
        self._folder = Path(tempfile.mkdtemp(prefix="kconnect-postgres-"))
        self._owner.own(self._folder)
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        self.user, self.password = USER, secrets.token_urlsafe(12)
        self._init()
        self.start()

    @property
    def url(self) -> str:
        """JDBC URL of the database that every cluster has."""
        return self.database.url

    @property
    def database(self) -> PostgresDatabase:
        """The database that every cluster has."""
        return self._database("postgres")

    def execute(self, sql: str, parameters: Any = ()) -> list[tuple[Any, ...]]:
        """SQL in the database that every cluster has."""
        return self.database.execute(sql, parameters)

    def create_database(self) -> PostgresDatabase:
        name = unique("db").replace("-", "_")
        self.execute(f"create database {name}")
        return self._database(name)

    def start(self) -> None:
        """Start and wait until it answers."""
        settings = [word for key, value in self.settings.items() for word in ("-c", f"{key}={value}")]
        command = [self._programs / "postgres", "-D", self._data, "-p", str(self.port), *settings]
        # SIGINT ends connections; SIGTERM would wait for them.
        self._process = self._owner.spawn(command, self._log, signal.SIGINT)
        wait_until_up(self._process, self._log, lambda: self.execute("select 1"))

    def stop(self) -> None:
        """Stop; open connections end."""
        if self._process is not None:
            end(self._process, signal.SIGINT)
            self._process = None

    def remove(self) -> None:
        """Stop, and remove the data."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    @property
    def _log(self) -> Path:
        return self._folder / "server.log"

    def _database(self, name: str) -> PostgresDatabase:
        url = f"jdbc:postgresql://{LOOPBACK}:{self.port}/{name}"
        return PostgresDatabase(url, name, self.user, self.password, self.port)

    def _init(self) -> None:
        password_file = self._folder / "password"
        password_file.write_text(self.password)
        self._owner.own(password_file)
        self._owner.run(
            [
                *(self._programs / "initdb", "-D", self._data, "-U", self.user, f"--pwfile={password_file}"),
                *("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"),
            ]
        )


class PostgresReplica(PostgresServer):
    """A hot standby of another server, with all of its databases.

    :param primary: must stay as long as this one.
    """

    def __init__(self, primary: PostgresServer) -> None:
        self._primary = primary
        super().__init__(primary.settings)

    def of(self, database: PostgresDatabase) -> PostgresDatabase:
        """A database of the primary, as it is here."""
        return self._database(database.name)

    def _init(self) -> None:
        self.user, self.password = self._primary.user, self._primary.password
        passwords = self._folder / "passwords"
        passwords.touch(mode=0o600)
        passwords.write_text(f"*:*:*:{self.user}:{self.password}\n")
        self._owner.own(passwords)
        primary = f"host={LOOPBACK} port={self._primary.port} user={self.user} passfile={passwords}"
        self._owner.run(
            [
                *(self._programs / "pg_basebackup", "-D", self._data, "-d", primary),
                *("--write-recovery-conf", "--checkpoint=fast", "--no-sync"),
            ]
        )


def _programs() -> Path:
    """The folder with `initdb` and `postgres`."""
    for _ in range(2):
        if found := program("initdb", "/usr/lib/postgresql/*/bin", "/usr/local/pgsql/bin", "/opt/homebrew/opt/*/bin"):
            return found.parent
        if not install("postgresql"):
            break
    raise RuntimeError(
        "PostgreSQL is needed for these tests: install it (Debian: apt-get install postgresql) or put the folder "
        "with `initdb` on PATH"
    )
