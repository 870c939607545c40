"""What the tests of the JDBC source share: a configuration, runs, and the records that they made."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.integration.runtime.conftest import preview_here, run_here
from tests.support import unique
from tests.support.databases.postgres import PostgresDatabase, PostgresServer
from tests.support.databases.servers import Database
from tests.support.kafka import read_all

__all__ = ["preview_here", "run_here"]

JSON = "org.apache.kafka.connect.json.JsonConverter"
CONFLUENT = "io.confluent.connect.jdbc.JdbcSourceConnector"

SourceConfig = Callable[..., dict[str, str]]
Rows = Callable[[Mapping[str, str], str], list[dict[str, Any]]]


@pytest.fixture
def db(postgres: PostgresServer) -> PostgresDatabase:
    """An empty PostgreSQL database."""
    return postgres.create_database()


@pytest.fixture
def jdbc_source() -> SourceConfig:
    """The configuration of a source: `jdbc_source(db, **{"mode": "bulk"})`; tables go to ``<name>-<table>``."""

    def config(database: Database, **more: str) -> dict[str, str]:
        name = unique("jdbc")
        return {
            "name": name,
            "connector.class": CONFLUENT,
            **database.config,
            "connection.attempts": "1",
            "mode": "incrementing",
            "topic.prefix": f"{name}-",
            "value.converter": JSON,
            "value.converter.schemas.enable": "false",
            "value.converter.decimal.format": "NUMERIC",
            "key.converter": JSON,
            "key.converter.schemas.enable": "false",
            **more,
        }

    return config


@pytest.fixture
def rows(bootstrap: str) -> Rows:
    """The values in the topic of a table: `rows(config, "orders")`."""

    def read(config: Mapping[str, str], table: str) -> list[dict[str, Any]]:
        return [json.loads(record.value or b"null") for record in read_all(bootstrap, config["topic.prefix"] + table)]

    return read
