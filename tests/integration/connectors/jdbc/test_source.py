"""The JDBC source on PostgreSQL: modes, resuming, splits."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.runtime.conftest import Run
from tests.support import unique
from tests.support.kafka import read_all
from tests.support.postgres import PostgresDatabase, PostgresServer

JSON = "org.apache.kafka.connect.json.JsonConverter"
Config = Callable[..., dict[str, str]]


@pytest.fixture
def db(postgres: PostgresServer) -> PostgresDatabase:
    return postgres.create_database()


@pytest.fixture
def source(db: PostgresDatabase) -> Config:
    def config(**more: str) -> dict[str, str]:
        name = unique("jdbc")
        return {
            "name": name,
            "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
            **db.config,
            "mode": "incrementing",
            "topic.prefix": f"{name}-",
            "value.converter": JSON,
            "value.converter.schemas.enable": "false",
            **more,
        }

    return config


def values(bootstrap: str, topic: str) -> list[Any]:
    return [json.loads(record.value or b"null") for record in read_all(bootstrap, topic)]


def test_second_run_moves_only_the_new_rows(
    db: PostgresDatabase, source: Config, run_here: Run, bootstrap: str
) -> None:
    db.execute("create table orders (id bigserial primary key, what text, price numeric(10,2), at timestamp default now(), z timestamptz default now(), d date default current_date)")
    db.execute("insert into orders (what, price) select 'n' || n, n / 100.0 from generate_series(1, 5000) n")
    config = source(**{"split.rows": "1000", "value.converter.decimal.format": "NUMERIC"})
    report = run_here(config)
    print(report)
    db.execute("insert into orders (what) select 'n' || n from generate_series(5001, 5010) n")
    report = run_here(config)
    print(report)
    assert report.records["written"] == 10
    found = values(bootstrap, f"{config['topic.prefix']}orders")
    print(found[0], found[-1])
    assert sorted(value["id"] for value in found) == list(range(1, 5011))
