"""The binary log of a MySQL or MariaDB server, as Debezium's connectors read it: where it ends, and what is kept of it.

Between two runs the server keeps changes as long as its settings say; no reader holds them back. Read with PyMySQL and
the connector's own `database.*` keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, RetriableError, first_line
from airflow_kconnect.credentials.refused_logins import login_refused

CLASSES = ("io.debezium.connector.mysql.MySqlConnector", "io.debezium.connector.mariadb.MariaDbConnector")
"""The connectors that read a binary log."""

_DEFAULT_PORT = "3306"
_REQUIRED = ("database.hostname", "database.user")
_CONNECT_SECONDS = 10
# MySQL's and MariaDB's words for the same modes.
_PLAIN, _UNVERIFIED = ("disabled", "disable"), ("required", "trust")
_VERIFIED = ("verify_ca", "verify_identity", "verify-ca", "verify-full")
# MySQL 8.2 and newer; MariaDB and older MySQL.
_STATUS = ("show binary log status", "show master status")
_SYNTAX, _DENIED = 1064, (1044, 1045, 1227)


@dataclass(frozen=True, order=True)
class BinlogPosition:
    """A place in the binary log. Of two, the later one is the greater.

    :param number: of the file, which its name ends with.
    """

    number: int
    position: int
    file: str = field(compare=False)

    @classmethod
    def of(cls, file: object, position: object) -> BinlogPosition | None:
        """From a file's name, such as `binlog.000012`, and the position in it; None if these are something else."""
        name = str(file or "")
        number = name.rpartition(".")[2]
        if not (number.isdecimal() and isinstance(position, int)):
            return None
        return cls(int(number), position, name)


@dataclass(frozen=True)
class BinlogAddress:
    """Where the binary log of a connector is. Its repr shows no password.

    :param ssl_mode: Debezium's `database.ssl.mode`.
    """

    host: str
    port: str
    user: str
    password: str | None = field(default=None, repr=False)
    ssl_mode: str = ""

    @classmethod
    def of(cls, connector_class: str, config: Mapping[str, str]) -> BinlogAddress | None:
        """From the keys of a connector, variables resolved; None if it reads no binary log, or keys are missing."""
        if connector_class not in CLASSES or not all(config.get(key, "").strip() for key in _REQUIRED):
            return None
        return cls(
            config["database.hostname"].strip(),
            config.get("database.port", "").strip() or _DEFAULT_PORT,
            config["database.user"].strip(),
            config.get("database.password"),
            config.get("database.ssl.mode", "").strip().lower(),
        )

    @property
    def server(self) -> str:
        """The server, for messages."""
        return f"{self.host}:{self.port}"


@dataclass(frozen=True)
class Binlog:
    """What a server says about its binary log.

    :param end: where it ends; None if it is off.
    :param kept_bytes: the size of all files that the server still has.
    :param expire_s: after how many seconds it removes a file; None: it does not by age.
    """

    end: BinlogPosition | None
    kept_bytes: int
    expire_s: int | None

    def facts(self) -> dict[str, Any]:
        """Small, JSON: for XCom and reports."""
        at = {} if self.end is None else {"file": self.end.file, "position": self.end.position}
        facts = {**at, "kept_bytes": self.kept_bytes, "expire_s": self.expire_s}
        return {key: value for key, value in facts.items() if value is not None}


def read_binlog(address: BinlogAddress) -> Binlog:
    """The binary log as it is now. Blocks.

    :raises ConfigError: PyMySQL is missing, cannot verify the server as the configuration wants it, or the server
        refuses the user.
    :raises RetriableError: the server is unavailable.
    """
    connection = _connect(address)
    import pymysql

    try:
        with connection, connection.cursor() as cursor:
            cursor.execute("show variables like '%expire_logs%'")
            expiry = dict(cursor.fetchall())
            end = _end(cursor)
            sizes = 0
            if end is not None:
                cursor.execute("show binary logs")
                sizes = sum(int(row[1]) for row in cursor.fetchall())
            return Binlog(end, sizes, _expire_s(expiry))
    except pymysql.Error as error:
        raise _translated(error, address) from None


def _end(cursor: Any) -> BinlogPosition | None:
    import pymysql

    for statement in _STATUS:
        try:
            cursor.execute(statement)
        except pymysql.Error as error:
            if error.args[0] == _SYNTAX and statement != _STATUS[-1]:
                continue
            raise
        row = cursor.fetchone()
        return None if row is None else BinlogPosition.of(row[0], row[1])
    return None


def _expire_s(variables: Mapping[str, str]) -> int | None:
    """Seconds count where both are set; 0 means never."""
    seconds = int(float(variables.get("binlog_expire_logs_seconds") or 0))
    return seconds or int(float(variables.get("expire_logs_days") or 0) * 86400) or None


def _connect(address: BinlogAddress) -> Any:
    try:
        import pymysql
    except ImportError:
        cure = "pip install 'airflow-kconnect[jdbc]'"
        raise ConfigError({"database.hostname": [f"the binary log can only be read with PyMySQL: {cure}"]}) from None
    if address.ssl_mode in _VERIFIED:
        text = f"is {address.ssl_mode}, with a trust store of Java's, which only Debezium itself can read"
        raise ConfigError({"database.ssl.mode": [text]})
    unverified = {"check_hostname": False, "verify_mode": "none"}
    try:
        return pymysql.connect(
            host=address.host,
            port=int(address.port),
            user=address.user,
            password=address.password or "",
            connect_timeout=_CONNECT_SECONDS,
            ssl=unverified if address.ssl_mode in _UNVERIFIED else None,
            ssl_disabled=address.ssl_mode in _PLAIN,
        )
    except ValueError:
        raise ConfigError({"database.port": [f"is {address.port}: expected a number"]}) from None
    except (pymysql.Error, OSError) as error:
        raise _translated(error, address) from None


def _translated(error: Exception, address: BinlogAddress) -> ConfigError | RetriableError:
    number = error.args[0] if error.args else None
    text = first_line(error.args[1] if len(error.args) > 1 else error)
    if number in _DENIED:
        return login_refused(address.server, address.user, text, keys="database")
    return RetriableError(f"the database at {address.server} is unavailable: {text}")
