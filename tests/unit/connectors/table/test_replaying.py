"""Which table sinks can replay an interval, and what is said about it."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.table.replaying import replay_warning
from airflow_kconnect.connectors.table.sink import SparkTableSinkConnector
from airflow_kconnect.runs.replays import check_replay
from airflow_kconnect.runs.warnings import Kind, kind_of

COORDINATES = {"table.metadata.columns": "topic,partition,offset:kafka_offset"}
UPSERT = {"insert.mode": "upsert", "pk.mode": "record_key", "pk.fields": "id"}


def config(**more: str) -> dict[str, str]:
    return {"name": "c", "connector.class": "SparkTableSink", "topics": "t", "table.format": "iceberg", **more}


def test_rows_that_do_not_say_where_they_are_from_are_not_added_again() -> None:
    with pytest.raises(ConfigError, match=r"would add the rows of the interval again: its tables do not say"):
        check_replay(config())


@pytest.mark.parametrize(
    "more", [COORDINATES, UPSERT, {"insert.mode": "upsert", "pk.mode": "kafka"}, {"insert.mode": "${env:MODE}"}]
)
def test_others_can_replay(more: dict[str, Any]) -> None:
    check_replay(config(**more))


def test_keys_without_coordinates_are_warned_of() -> None:
    warning = replay_warning(SparkTableSinkConnector.settings(config(**UPSERT)))
    assert warning is not None and kind_of(warning) is Kind.TARGET
    assert replay_warning(SparkTableSinkConnector.settings(config(**UPSERT, **COORDINATES))) is None
    assert replay_warning(SparkTableSinkConnector.settings(config(**COORDINATES))) is None
