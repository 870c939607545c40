"""What a sink stores with its data when a user alters its offsets; Kafka itself is left out."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.jdbc.sink_connector import ConfluentJdbcSink
from airflow_kconnect.kafka.admin_answers import Topic
from airflow_kconnect.stores.offset_changes.sink import SinkOffsets
from airflow_kconnect.stores.offset_topic.records import TopicRead
from airflow_kconnect.stores.sink_positions import Position, SinkPositions
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.worker_config.keys import WorkerConfig

ZERO, ONE = TopicPartition("orders", 0), TopicPartition("orders", 1)


@pytest.fixture
def worker(worker_props: dict[str, str]) -> WorkerConfig:
    return WorkerConfig.from_props(worker_props)


@pytest.fixture
def worker_props() -> dict[str, str]:
    return {"bootstrap.servers": "localhost:1", "group.id": "g", "offset.storage.topic": "connect-offsets"}


class TestPartitionThatIsReset:
    """Its rows would else be taken for lost ones, as the group's offset is higher than none."""

    @pytest.mark.parametrize(("reset", "expected"), [("earliest", 5), ("latest", 9)])
    def test_has_the_offset_of_the_group_in_the_target(
        self, worker: WorkerConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reset: str, expected: int
    ) -> None:
        config = {
            "name": "sink",
            "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
            "topics": "orders",
            "connection.url": f"jdbc:sqlite:{tmp_path / 'target.db'}",
            "consumer.override.auto.offset.reset": reset,
        }
        altered: dict[TopicPartition, int] = {}
        offsets = SinkOffsets(validate_connector(config, worker=worker), worker)
        admin = SimpleNamespace(check_reachable=lambda: {"orders": 1}, committed_offsets=lambda _: {})
        positions = SimpleNamespace(look_up=lambda _: None, alter=lambda _, starts: altered.update(starts))
        monkeypatch.setattr(offsets, "_admin", admin)
        monkeypatch.setattr(offsets, "_positions", positions)
        monkeypatch.setattr(offsets, "_ends", lambda _: {ZERO: (5, 9)})
        monkeypatch.setattr(offsets, "_check_group", lambda: None)
        monkeypatch.setattr(offsets, "_driver", nullcontext)
        partition = {"kafka_topic": "orders", "kafka_partition": 0}
        offsets.alter({"offsets": [{"partition": partition, "offset": None}]})
        assert ConfluentJdbcSink(config).stored_offsets([ZERO]) == altered == {ZERO: expected}


class TestRecordOfAlteredOffsets:
    """Whether it says that the target has stored them, too."""

    @pytest.mark.parametrize(
        ("topic_id", "stored_in"),
        [pytest.param("id", "offsets", id="all are of runs"), pytest.param(None, None, id="one is of another tool")],
    )
    def test_does_not_say_so_of_what_another_tool_has_committed(
        self, worker: WorkerConfig, monkeypatch: pytest.MonkeyPatch, topic_id: str | None, stored_in: str | None
    ) -> None:
        positions = SinkPositions(SimpleNamespace(), worker, SimpleNamespace(), "connect-sink")  # type: ignore[arg-type]
        written: dict[str, TopicRead] = {}

        def commit(_: Any, offsets: Mapping[TopicPartition, int]) -> None:
            written.update(positions._as_records(offsets))

        records = SimpleNamespace(read=lambda: {"orders": TopicRead("id", (1, 2), "offsets")})
        monkeypatch.setattr(positions, "_topics", {"orders": Topic(2, "id")})
        monkeypatch.setattr(positions, "read", lambda: {ZERO: Position(1, "id"), ONE: Position(2, topic_id)})
        monkeypatch.setattr(positions, "_records", lambda: records)
        monkeypatch.setattr(positions, "commit", commit)
        positions.alter(SimpleNamespace(), {ZERO: 7})  # type: ignore[arg-type]
        assert written == {"orders": TopicRead("id", (7, 2), stored_in)}


def test_a_group_with_members_gets_no_first_offsets(worker: WorkerConfig) -> None:
    """Brokers take offsets of transactions nevertheless."""
    state = SimpleNamespace(name="STABLE", members=1, simple=False)
    admin = SimpleNamespace(group_state=lambda _: state)
    positions = SinkPositions(SimpleNamespace(), worker, admin, "connect-sink")  # type: ignore[arg-type]
    with pytest.raises(RetriableError, match="consumer group connect-sink is STABLE with 1 members"):
        positions.settle(SimpleNamespace(), {ZERO: 1})  # type: ignore[arg-type]
