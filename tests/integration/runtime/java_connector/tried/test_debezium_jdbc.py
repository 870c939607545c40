"""Debezium's JDBC sink, a Java sink, into a real PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support import unique
from tests.support.connect.tried import example
from tests.support.databases.postgres import PostgresServer
from tests.support.kafka import produce

COORDINATES = "io.debezium:debezium-connector-jdbc:3.5.0.Final"

pytestmark = pytest.mark.exhaustive


def _with_schema(fields: dict[str, str], row: dict[str, Any]) -> str:
    """As the JSON converter writes it with schemas."""
    described = [{"field": name, "type": kind, "optional": name != "id"} for name, kind in fields.items()]
    return json.dumps({"schema": {"type": "struct", "optional": False, "fields": described}, "payload": row})


def _send(bootstrap: str, topic: str, row_id: int, item: str | None) -> None:
    """An order, or its deletion."""
    key = _with_schema({"id": "int32"}, {"id": row_id})
    value = None if item is None else _with_schema({"id": "int32", "item": "string"}, {"id": row_id, "item": item})
    produce(bootstrap, topic, [value], key=key)


@pytest.mark.timeout(900)
def test_rows_are_inserted_updated_and_deleted_and_a_second_run_writes_only_what_is_new(
    bootstrap: str, topic: Callable[..., str], postgres: PostgresServer, run_hosted: Callable[..., Any]
) -> None:
    database, orders = postgres.create_database(), topic()
    places = {
        "topics": orders,
        "connection.url": database.url,
        "connection.username": str(database.user),
        "connection.password": str(database.password),
    }
    config = example("orders-to-postgres", places)
    for number in range(20):
        _send(bootstrap, orders, number, f"item {number}")
    worker = {"kconnect.plugin.coordinates": COORDINATES, "group.id": unique("group")}
    first = run_hosted(config, **worker)
    assert (first.complete, first.lag_max, first.records["written"]) == (True, 0, 20)
    assert database.execute("select id, item from orders order by id") == [(n, f"item {n}") for n in range(20)]

    _send(bootstrap, orders, 3, "changed")
    _send(bootstrap, orders, 4, None)
    _send(bootstrap, orders, 20, "new")
    second = run_hosted(config, **worker)
    assert (second.complete, second.records["read"]) == (True, 3)
    rows = dict(database.execute("select id, item from orders"))
    assert len(rows) == 20
    assert (rows[3], rows.get(4), rows[20], rows[5]) == ("changed", None, "new", "item 5")
