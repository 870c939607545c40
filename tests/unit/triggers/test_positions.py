"""The trigger of deferred sensors, as Airflow stores it."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

from airflow_kconnect.triggers.positions import ConnectorPositionTrigger

KWARGS: dict[str, Any] = {
    "connector": {"name": "orders", "topics": "orders"},
    "worker_config": {"offset.storage.topic": "offsets"},
    "kafka_conn_id": "my_kafka",
    "condition": {"kind": "lag", "min_records": 5},
    "poke_interval": 30.0,
}


def test_round_trip() -> None:
    _, kwargs = ConnectorPositionTrigger(**KWARGS).serialize()

    assert json.loads(json.dumps(kwargs)) == KWARGS


def test_the_path_leads_to_the_class() -> None:
    module, _, name = ConnectorPositionTrigger(**KWARGS).serialize()[0].rpartition(".")

    assert getattr(import_module(module), name) is ConnectorPositionTrigger
