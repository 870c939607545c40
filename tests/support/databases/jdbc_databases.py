"""Databases that tests reach by JDBC alone: they live in the JVM of this Python process, as long as it does."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from airflow_kconnect.connectors.jdbc.databases.plain.connection import JdbcConnection
from airflow_kconnect.connectors.jdbc.driver import jvm
from airflow_kconnect.connectors.jdbc.driver.drivers import driver_jars, driver_of
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
from airflow_kconnect.local.ports import free_port
from tests.support import unique
from tests.support.databases.servers import Database


@dataclass(frozen=True)
class JdbcDatabase(Database):
    """A database in this process.

    :param name: its URL here.
    """

    def connect(self) -> JdbcConnection:
        return JdbcConnection(_driver(self.name).connect(self.name, _class("java.util.Properties")()))

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        with closing(self.connect().java) as connection, closing(connection.prepareStatement(sql)) as statement:
            for number, value in enumerate(parameters, 1):
                statement.setObject(number, value)
            return _rows(statement.getResultSet()) if statement.execute() else []


@dataclass(frozen=True)
class H2Database(JdbcDatabase):
    """An H2 database with a server, for other processes."""

    @classmethod
    def create(cls, folder: Path) -> H2Database:
        name = unique("h2")
        created = cls(
            f"jdbc:h2:tcp://127.0.0.1:{_h2_port()}/mem:{name}",
            f"jdbc:h2:mem:{name};DB_CLOSE_DELAY=-1;DATABASE_TO_UPPER=false",
        )
        created.connect().close()
        return created


@dataclass(frozen=True)
class DerbyDatabase(JdbcDatabase):
    """A Derby database, embedded; each keeps some 10 MB."""

    @classmethod
    def create(cls, parameters: str = "") -> DerbyDatabase:
        url = f"jdbc:derby:memory:{unique('derby')};create=true{parameters}"
        created = cls(url, url)
        created.connect().close()
        return created


@dataclass(frozen=True)
class HsqldbDatabase(JdbcDatabase):
    """An HSQLDB database with a server of its own, for other processes."""

    @classmethod
    def create(cls, folder: Path, parameters: str = "") -> HsqldbDatabase:
        name, port = unique("hsqldb"), free_port()
        created = cls(f"jdbc:hsqldb:hsql://127.0.0.1:{port}/{name}", f"jdbc:hsqldb:mem:{name}{parameters}")
        created.connect().close()
        server = _class(_driver(created.name).getClass().getClassLoader().loadClass("org.hsqldb.server.Server"))()
        for writer in (server.setLogWriter, server.setErrWriter):
            writer(None)
        server.setSilent(True)
        server.setDaemon(True)
        server.setAddress("127.0.0.1")
        server.setPort(port)
        server.setDatabaseName(0, name)
        server.setDatabasePath(0, f"mem:{name}")
        server.start()
        return created


def _class(name: Any) -> Any:
    from jpype import JClass

    return JClass(name)


@cache
def _driver(url: str) -> Any:
    driver = driver_of(JdbcUrl.parse(url), {})
    jvm.start()
    # Else Derby has a log in the current folder.
    _class("java.lang.System").setProperty("derby.stream.error.file", "/dev/null")
    return jvm.new_driver(driver.class_name, driver_jars(driver))


@cache
def _h2_port() -> int:
    loader = _driver("jdbc:h2:mem:x").getClass().getClassLoader()
    server = loader.loadClass("org.h2.tools.Server")
    arguments = _class("java.lang.String")[:](["-tcpPort", "0", "-tcpDaemon", "-ifNotExists"])
    started = _class(server).createTcpServer(arguments).start()
    return int(started.getPort())


def _rows(result: Any) -> list[tuple[Any, ...]]:
    numbers = range(1, result.getMetaData().getColumnCount() + 1)
    rows = []
    while result.next():
        rows.append(tuple(_value(result, number) for number in numbers))
    return rows


_BY_TYPE: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT"), int),
    **dict.fromkeys(("REAL", "FLOAT", "DOUBLE", "DOUBLE PRECISION"), float),
    **dict.fromkeys(("DECIMAL", "NUMERIC"), Decimal),
    "BOOLEAN": lambda text: text.lower() == "true",
    "DATE": datetime.date.fromisoformat,
    # HSQLDB's hours have one digit.
    "TIME": lambda text: datetime.time.fromisoformat(text if text[1] != ":" else f"0{text}"),
    "TIMESTAMP": datetime.datetime.fromisoformat,
}


def _value(result: Any, number: int) -> Any:
    """As Python's other drivers have it."""
    kind = str(result.getMetaData().getColumnTypeName(number)).partition("(")[0]
    if kind in ("BLOB", "BINARY VARYING", "VARBINARY"):
        data = result.getBytes(number)
        return None if data is None else bytes(data)
    text = result.getString(number)
    return None if text is None else _BY_TYPE.get(kind, str)(str(text))
