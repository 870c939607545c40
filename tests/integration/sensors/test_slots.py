"""The sensor for replication slots, with a real server; what all sensors share is tested in test_sensors.py."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import TaskDeferred

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.errors import ConnectorConfigError
from airflow_kconnect.sensors.slots import ReplicationSlotSensor
from airflow_kconnect.triggers.positions import ConnectorPositionTrigger
from tests.support import unique
from tests.support.databases.postgres import PostgresDatabase, PostgresServer
from tests.support.databases.slots import debezium_config, slot_of, write_wal

CONTEXT: Any = {"ti": SimpleNamespace(get_first_reschedule_date=lambda context: None)}


@pytest.fixture(scope="module")
def database(postgres: PostgresServer) -> Iterator[PostgresDatabase]:
    database = postgres.create_database()
    with slot_of(database, "shop"):
        yield database


@pytest.fixture(autouse=True)
def connections(
    bootstrap: str, worker_topics: str, database: PostgresDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`kafka_default` and the database `shop`."""
    kafka = {"conn_type": "kafka", "extra": {"bootstrap.servers": bootstrap}}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps(kafka))
    shop = {"conn_type": "postgres", "login": database.user, "password": database.password}
    monkeypatch.setenv("AIRFLOW_CONN_SHOP", json.dumps(shop))


def _sensor(database: PostgresDatabase, **parameters: Any) -> ReplicationSlotSensor:
    secret = {"database.password": "${airflow:shop:password}"}
    config = {"name": unique("shop"), **debezium_config(database, "shop"), **secret}
    return ReplicationSlotSensor(**{"task_id": "wait", "connector": config} | parameters)


def test_it_returns_what_the_slot_keeps(database: PostgresDatabase) -> None:
    write_wal(database, 1)
    found = _sensor(database, min_bytes="1000000").execute(CONTEXT)
    assert (found["slot"], found["wal_status"]) == ("shop", "reserved")
    assert found["kept_bytes"] >= 1_000_000


def test_the_trigger_waits_with_the_database_keys_and_without_the_password(database: PostgresDatabase) -> None:
    with pytest.raises(TaskDeferred) as caught:
        _sensor(database, min_bytes=10**12, deferrable=True).execute(CONTEXT)
    stored = json.dumps(caught.value.trigger.serialize())
    assert database.name in stored and str(database.password) not in stored


def test_the_trigger_sees_the_slot(database: PostgresDatabase) -> None:
    with pytest.raises(TaskDeferred) as caught:
        _sensor(database, min_bytes=10**12, deferrable=True).execute(CONTEXT)
    _, stored = caught.value.trigger.serialize()
    trigger = ConnectorPositionTrigger(**stored | {"condition": {"kind": "slot", "min_bytes": 0}})

    async def first_event() -> dict[str, Any]:
        [event] = [event async for event in trigger.run()]
        return dict(event.payload)

    event = asyncio.run(first_event())
    assert (event["status"], event["position"]["slot"]) == ("met", "shop")


def test_a_literal_password_is_not_stored_in_airflows_database(database: PostgresDatabase) -> None:
    config = {"name": "shop", **debezium_config(database, "shop")}
    with pytest.raises(ConnectorConfigError, match=r"database\.password.*is a secret"):
        _sensor(database, connector=config, max_bytes=0, deferrable=True).execute(CONTEXT)


def test_another_connector_has_no_slot(database: PostgresDatabase) -> None:
    with pytest.raises(ConnectorConfigError, match="only Debezium's connector for PostgreSQL"):
        _sensor(database, connector={"name": "files", "file": "/data"}, max_bytes=0).execute(CONTEXT)


def test_wrong_bounds_are_reported_when_the_dag_is_parsed(database: PostgresDatabase) -> None:
    with pytest.raises(ConfigError, match="min_bytes"):
        _sensor(database, min_bytes=-1)
