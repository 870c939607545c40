"""A private MariaDB server for tests."""

from __future__ import annotations

import secrets
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from airflow_kconnect.local.ports import LOOPBACK, free_port
from tests.support import unique
from tests.support.certificates import self_signed
from tests.support.databases import Database, Owner, Server, end, install, program, wait_until_up

USER = "kconnect"


@dataclass(frozen=True)
class MariaDatabase(Database):
    """A database of a server."""

    port: int = 0

    def connect(self) -> Any:
        import pymysql

        return pymysql.connect(
            host=LOOPBACK,
            port=self.port,
            database=self.name,
            user=self.user,
            password=self.password or "",
            charset="utf8mb4",
            autocommit=True,
            connect_timeout=10,
        )

    @property
    def mysql_url(self) -> str:
        """The URL for MySQL's driver instead of MariaDB's."""
        return self.url.replace("jdbc:mariadb:", "jdbc:mysql:", 1)


class MariaServer(Server):
    """A server with data of its own in a temporary folder, without sync to disk; connections may be encrypted.

    :raises RuntimeError: MariaDB is not installed; or it does not start.
    """

    def __init__(self) -> None:
        if not available():
            raise RuntimeError("MariaDB is needed: install it (Debian: apt-get install mariadb-server)")
        self._owner = Owner.choose("mysql")
        self._folder = Path(tempfile.mkdtemp(prefix="kconnect-mariadb-"))
        self._owner.own(self._folder)
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()
        self.user, self.password = USER, secrets.token_urlsafe(12)
        self._init()
        self.start()

    @property
    def url(self) -> str:
        """JDBC URL of the database that every server has."""
        return self.database.url

    @property
    def certificate(self) -> Path:
        """The server's certificate, PEM."""
        return self._folder / "certificate.pem"

    @property
    def database(self) -> MariaDatabase:
        """The database that every server has."""
        return self._database("mysql")

    def execute(self, sql: str, parameters: Any = ()) -> list[tuple[Any, ...]]:
        """SQL in the database that every server has."""
        return self.database.execute(sql, parameters)

    def create_database(self) -> MariaDatabase:
        name = unique("db").replace("-", "_")
        self.execute(f"create database {name} character set utf8mb4")
        return self._database(name)

    def start(self) -> None:
        """Start and wait until it answers."""
        command = [
            *(_program("mariadbd"), "--no-defaults", f"--datadir={self._folder / 'data'}", f"--port={self.port}"),
            *(f"--bind-address={LOOPBACK}", f"--socket={self._folder / 'socket'}", "--skip-name-resolve"),
            *(f"--pid-file={self._folder / 'pid'}", f"--init-file={self._folder / 'users.sql'}"),
            *("--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync", "--default-time-zone=+00:00"),
            *("--innodb-buffer-pool-size=64M", "--performance-schema=OFF"),
            *(f"--ssl-cert={self.certificate}", f"--ssl-key={self._folder / 'key.pem'}"),
        ]
        self._process = self._owner.spawn(command, self._log, signal.SIGTERM)
        wait_until_up(self._process, self._log, lambda: self.execute("select 1"))

    def stop(self) -> None:
        """Stop; open connections end."""
        if self._process is not None:
            end(self._process, signal.SIGTERM)
            self._process = None

    def remove(self) -> None:
        """Stop, and remove the data."""
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def _log(self) -> Path:
        return self._folder / "server.log"

    def _database(self, name: str) -> MariaDatabase:
        url = f"jdbc:mariadb://{LOOPBACK}:{self.port}/{name}"
        return MariaDatabase(url, name, self.user, self.password, self.port)

    def _init(self) -> None:
        users = self._folder / "users.sql"
        users.touch(mode=0o600)
        users.write_text(
            f"create or replace user {USER}@'%' identified by '{self.password}';\n"
            f"grant all privileges on *.* to {USER}@'%' with grant option;\n"
        )
        self._owner.own(users)
        for file, text in zip((self.certificate, self._folder / "key.pem"), self_signed(), strict=True):
            file.touch(mode=0o600)
            file.write_text(text)
            self._owner.own(file)
        self._owner.run(
            [
                *(_program("mariadb-install-db"), "--no-defaults", f"--datadir={self._folder / 'data'}"),
                *("--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"),
            ]
        )


@cache
def available() -> bool:
    """Whether MariaDB is installed; where root runs the tests, it is installed now."""
    return _installed() or (install("mariadb-server") and _installed())


def _installed() -> bool:
    return all(program(name, "/usr/sbin") for name in ("mariadbd", "mariadb-install-db"))


def _program(name: str) -> Path:
    found = program(name, "/usr/sbin")
    assert found is not None
    return found
