"""A private MariaDB server for tests."""

from __future__ import annotations

import signal
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from airflow_kconnect.local.ports import LOOPBACK
from tests.support import unique
from tests.support.certificates import self_signed
from tests.support.databases.servers import USER, Database, Server, install, program

_BINARY_LOG = ("--server-id=1", "--log-bin=binlog", "--binlog-format=ROW", "--binlog-row-image=FULL")


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


class MariaServer(Server[MariaDatabase]):
    """A server without fsync; connections may be encrypted.

    :param binary_log: whether it writes a binary log as Debezium needs it.
    :raises RuntimeError: MariaDB is not installed, or it does not start.
    """

    runs_as = "mysql"
    ends_by = signal.SIGTERM
    first_database = "mysql"

    def __init__(self, *, binary_log: bool = False) -> None:
        if not available():
            raise RuntimeError("MariaDB is needed: install it (Debian: apt-get install mariadb-server)")
        self._binary_log = binary_log
        super().__init__()

    def create_database(self) -> MariaDatabase:
        name = unique("db").replace("-", "_")
        self.execute(f"create database {name} character set utf8mb4")
        return self._database(name)

    @property
    def certificate(self) -> Path:
        """The server's certificate, PEM."""
        return self._folder / "certificate.pem"

    def _init(self) -> None:
        certificate, key = self_signed()
        self._write(self.certificate.name, certificate)
        self._write("key.pem", key)
        self._write(
            "users.sql",
            f"create or replace user {USER}@'%' identified by '{self.password}';\n"
            f"grant all privileges on *.* to {USER}@'%' with grant option;\n",
        )
        self._owner.run(
            [
                *(_program("mariadb-install-db"), "--no-defaults", f"--datadir={self._folder / 'data'}"),
                *("--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"),
            ]
        )

    def _command(self) -> list[str | Path]:
        return [
            *(_program("mariadbd"), "--no-defaults", f"--datadir={self._folder / 'data'}", f"--port={self.port}"),
            *(f"--bind-address={LOOPBACK}", f"--socket={self._folder / 'socket'}", "--skip-name-resolve"),
            *(f"--pid-file={self._folder / 'pid'}", f"--init-file={self._folder / 'users.sql'}"),
            *("--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync", "--default-time-zone=+00:00"),
            *("--innodb-buffer-pool-size=64M", "--performance-schema=OFF"),
            *(f"--ssl-cert={self.certificate}", f"--ssl-key={self._folder / 'key.pem'}"),
            *(_BINARY_LOG if self._binary_log else ()),
        ]

    def _database(self, name: str) -> MariaDatabase:
        url = f"jdbc:mariadb://{LOOPBACK}:{self.port}/{name}"
        return MariaDatabase(url, name, self.user, self.password, self.port)


@cache
def available() -> bool:
    """Whether MariaDB is installed; if root runs the tests, it is installed now."""
    return _installed() or (install("mariadb-server") and _installed())


def _installed() -> bool:
    return all(program(name, "/usr/sbin") for name in ("mariadbd", "mariadb-install-db"))


def _program(name: str) -> Path:
    path = program(name, "/usr/sbin")
    assert path is not None
    return path
