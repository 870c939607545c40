"""A private PostgreSQL server for tests and benchmarks."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airflow_kconnect.local.ports import LOOPBACK
from tests.support import unique
from tests.support.databases.servers import Database, Server, install, program

_SETTINGS = {
    "fsync": "off",
    "max_prepared_transactions": "20",
    "max_connections": "100",
    # Replication slots of change data capture; a test that makes a slot drops it, since it keeps WAL.
    "wal_level": "logical",
    "max_replication_slots": "20",
    "max_wal_senders": "20",
    "unix_socket_directories": "",
    "listen_addresses": LOOPBACK,
    "timezone": "UTC",
    "log_timezone": "UTC",
}


@dataclass(frozen=True)
class PostgresDatabase(Database):
    """A database of a server."""

    port: int = 0

    @property
    def airflow_url(self) -> str:
        """For Airflow's `sql_alchemy_conn`."""
        return f"postgresql+psycopg://{self.user}:{self.password}@{LOOPBACK}:{self.port}/{self.name}"

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


class PostgresServer(Server[PostgresDatabase]):
    """A cluster without fsync; passwords are required.

    :param settings: additional settings of the server (`wal_level`, ...).
    :raises RuntimeError: PostgreSQL is not installed and cannot be installed, or it does not start.
    """

    runs_as = "postgres"
    ends_by = signal.SIGINT  # SIGTERM would wait for connections
    first_database = "postgres"

    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        self._programs = programs()
        self.settings = {**_SETTINGS, **(settings or {})}
        super().__init__()

    def create_database(self) -> PostgresDatabase:
        name = unique("db").replace("-", "_")
        self.execute(f"create database {name}")
        return self._database(name)

    def _init(self) -> None:
        passwords = self._write("password", self.password)
        self._owner.run(
            [
                *(self._programs / "initdb", "-D", self._data, "-U", self.user, f"--pwfile={passwords}"),
                *("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"),
            ]
        )

    def _command(self) -> list[str | Path]:
        settings = [word for key, value in self.settings.items() for word in ("-c", f"{key}={value}")]
        return [self._programs / "postgres", "-D", self._data, "-p", str(self.port), *settings]

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    def _database(self, name: str) -> PostgresDatabase:
        url = f"jdbc:postgresql://{LOOPBACK}:{self.port}/{name}"
        return PostgresDatabase(url, name, self.user, self.password, self.port)


class PostgresReplica(PostgresServer):
    """A hot standby of another server, with all its databases.

    :param primary: must outlive this one.
    """

    def __init__(self, primary: PostgresServer) -> None:
        self._primary = primary
        super().__init__(primary.settings)

    def of(self, database: PostgresDatabase) -> PostgresDatabase:
        """A database of the primary, as seen on this server."""
        return self._database(database.name)

    def _init(self) -> None:
        self.user, self.password = self._primary.user, self._primary.password
        passwords = self._write("passwords", f"*:*:*:{self.user}:{self.password}\n")
        primary = f"host={LOOPBACK} port={self._primary.port} user={self.user} passfile={passwords}"
        self._owner.run(
            [
                *(self._programs / "pg_basebackup", "-D", self._data, "-d", primary),
                *("--write-recovery-conf", "--checkpoint=fast", "--no-sync"),
            ]
        )


def programs() -> Path:
    """The folder with `initdb` and `postgres`."""
    for _ in range(2):
        if initdb := program("initdb", "/usr/lib/postgresql/*/bin", "/usr/local/pgsql/bin", "/opt/homebrew/opt/*/bin"):
            return initdb.parent
        if not install("postgresql"):
            break
    raise RuntimeError(
        "PostgreSQL is needed for these tests: install it (Debian: apt-get install postgresql) or put the folder "
        "with `initdb` on PATH"
    )
