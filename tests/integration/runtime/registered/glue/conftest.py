"""AWS Glue's registry in runs: a database that sources read, folders that sinks write, and converters' keys."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.support import unique
from tests.support.glue import Glue

Config = dict[str, str]
PACKAGE = "com.amazonaws.services.schemaregistry.kafkaconnect"


@pytest.fixture(autouse=True)
def login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIA")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cr3t")


def converter(aws: Glue, name: str, **keys: str) -> Config:
    """The keys of a converter of Amazon's."""
    given = aws.keys(**keys)
    return {"value.converter": f"{PACKAGE}.{name}", **{f"value.converter.{key}": given[key] for key in given}}


@pytest.fixture
def directory(tmp_path: Path) -> Callable[..., Config]:
    """The configuration of a directory sink: `directory(topic, **more)`."""

    def config(topic: str, **more: str) -> Config:
        base = {"name": unique("sink"), "connector.class": "DirectorySink", "directory": str(tmp_path / "out")}
        return {**base, "topics": topic, **more}

    return config


class Shop:
    """A database with tables, and the source that reads them."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "shop.sqlite"
        self.name, self.prefix = unique("source"), f"{unique('t')}-"

    def execute(self, *statements: str) -> None:
        with closing(sqlite3.connect(self._path)) as connection, connection:
            for statement in statements:
                connection.execute(statement)

    def source(self, *tables: str, **more: str) -> Config:
        return {
            "name": self.name,
            "connector.class": "JdbcSource",
            "connection.url": f"jdbc:sqlite:{self._path}",
            "mode": "incrementing",
            "incrementing.column.name": "id",
            "topic.prefix": self.prefix,
            "table.whitelist": ",".join(tables),
            **more,
        }


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    made = Shop(tmp_path)
    for table in ("orders", "items"):
        made.execute(f"create table {table} (id integer primary key, item text)",
                     f"insert into {table} (item) values ('chair'), ('table'), (null)")  # fmt: skip
    return made
