"""Settings of a run: topic creation groups, bounds, names, and timeouts that contradict each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.runtime.settings import RunSettings, run_settings
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.worker_config.keys import WorkerConfig

CONNECTOR = {"name": "fs", "connector.class": "FileStreamSource", "file": "/data/in", "topic": "t"}
DEFAULTS = {"topic.creation.default.partitions": "5", "topic.creation.default.replication.factor": "3"}
GROUPS = {
    **DEFAULTS,
    "topic.creation.default.cleanup.policy": "delete",
    "topic.creation.groups": "logs, all",
    "topic.creation.logs.include": "log-.*, audit",
    "topic.creation.logs.exclude": "log-secret",
    "topic.creation.logs.partitions": "1",
    "topic.creation.logs.retention.ms": "1000",
    "topic.creation.all.include": ".*-.*",
    "topic.creation.all.replication.factor": "2",
}


def settings(config: dict[str, str] | None = None, **worker: str) -> RunSettings:
    keys = {key.replace("_", "."): value for key, value in worker.items()}
    parsed = WorkerConfig.from_props({"bootstrap.servers": "localhost:9092", **keys})
    return run_settings(validate_connector({**CONNECTOR, **(config or {})}, worker=parsed), parsed, "run-1")


def created(config: dict[str, str], topic: str) -> tuple[int, int, Mapping[str, str]]:
    group = settings(config).topic_creation.for_topic(topic)
    return group.partitions, group.replication, group.settings


class TestTopicCreation:
    @pytest.mark.parametrize(
        ("topic", "expected"),
        [
            pytest.param("log-a", (1, 3, {"retention.ms": "1000"}), id="first group"),
            pytest.param("audit", (1, 3, {"retention.ms": "1000"}), id="second pattern of a group"),
            pytest.param("log-secret", (5, 2, {}), id="excluded from the first group, in the second"),
            pytest.param("a-b", (5, 2, {}), id="second group, its partitions from the default"),
            pytest.param("plain", (5, 3, {"cleanup.policy": "delete"}), id="no group: the default"),
            pytest.param("xlog-a", (5, 2, {}), id="a pattern matches the whole name"),
        ],
    )
    def test_group_of_a_topic(self, topic: str, expected: Any) -> None:
        assert created(GROUPS, topic) == expected

    @pytest.mark.parametrize("order", ["logs,all", "all,logs"])
    def test_the_first_group_that_matches_counts(self, order: str) -> None:
        first = {"logs,all": 1, "all,logs": 5}[order]
        assert created({**GROUPS, "topic.creation.groups": order}, "log-a")[0] == first

    def test_without_any_key_the_broker_decides(self) -> None:
        assert created({}, "t") == (-1, -1, {})

    def test_defaults_alone_are_for_every_topic(self) -> None:
        assert created(DEFAULTS, "t") == (5, 3, {})

    @pytest.mark.parametrize("enabled", [True, False])
    def test_the_worker_says_whether_topics_are_created(self, enabled: bool) -> None:
        keys = {"topic_creation_enable": str(enabled).lower()}
        assert settings(GROUPS, **keys).topic_creation.enabled is enabled


class TestTransactionTimeout:
    @pytest.mark.parametrize(
        ("interval", "timeout"),
        [(None, None), ("10000", "20000"), ("30000", None), ("1", "1000")],
        ids=["defaults", "half", "half of the default", "far below"],
    )
    def test_an_interval_up_to_half_of_it_is_fine(self, interval: str | None, timeout: str | None) -> None:
        config = {
            **({"transaction.boundary.interval.ms": interval} if interval else {}),
            **({"producer.override.transaction.timeout.ms": timeout} if timeout else {}),
        }
        assert settings(config).chunk_ms == int(interval or 10_000)

    @pytest.mark.parametrize(
        ("interval", "timeout"),
        [("10001", "20000"), ("30001", "60000"), ("60000", "60000"), ("10000", "10000")],
        ids=["just over half", "just over half of the default", "equal", "the default interval"],
    )
    def test_a_longer_interval_is_refused_with_both_numbers(self, interval: str, timeout: str) -> None:
        config = {
            "transaction.boundary.interval.ms": interval,
            "producer.override.transaction.timeout.ms": timeout,
        }
        with pytest.raises(ConfigError, match=rf"`transaction\.boundary\.interval\.ms`: {interval} ms .* {timeout} ms"):
            settings(config)

    def test_the_default_interval_can_be_too_long_too(self) -> None:
        with pytest.raises(ConfigError, match="10000 ms is too near"):
            settings({"producer.override.transaction.timeout.ms": "15000"})

    def test_at_least_once_has_no_such_limit(self) -> None:
        config = {"transaction.boundary.interval.ms": "60000"}
        assert settings(config, exactly_once_source_support="disabled").chunk_ms == 60_000

    def test_a_timeout_that_is_not_a_number_is_a_config_error(self) -> None:
        with pytest.raises(ConfigError):
            settings({"producer.override.transaction.timeout.ms": "1m"})


class TestNames:
    """They decide who fences whom: Connect's names, so that Connect's tasks are fenced too."""

    def test_transactional_id_of_a_task_is_connects(self) -> None:
        assert settings(group_id="cluster").task_id(3) == "cluster-fs-3"

    def test_transactional_id_of_the_driver_is_not_a_tasks_id(self) -> None:
        assert settings(group_id="cluster").driver_id == "cluster-fs-driver"

    @pytest.mark.parametrize(
        ("own", "expected"),
        [({}, "connect-offsets"), ({"offsets.storage.topic": "mine"}, "mine")],
        ids=["worker", "own"],
    )
    def test_offset_topic(self, own: dict[str, str], expected: str) -> None:
        assert settings(own).offset_topic == expected


class TestBounds:
    @pytest.mark.parametrize("attribute", ["max_records", "max_duration_ms", "splits_max"])
    def test_there_is_none_by_default(self, attribute: str) -> None:
        assert getattr(settings(), attribute) is None

    @pytest.mark.parametrize(
        ("key", "attribute"),
        [
            ("kconnect.max.records", "max_records"),
            ("kconnect.max.duration.ms", "max_duration_ms"),
            ("kconnect.splits.max", "splits_max"),
        ],
    )
    def test_it_is_what_the_connector_says(self, key: str, attribute: str) -> None:
        assert getattr(settings({key: "7"}), attribute) == 7


@pytest.mark.parametrize(
    ("support", "expected"),
    [
        ("enabled", True),
        ("ENABLED", True),
        ("preparing", False),
        ("disabled", False),
    ],
)
def test_transactions_follow_the_workers_support(support: str, expected: bool) -> None:
    assert settings(exactly_once_source_support=support).exactly_once is expected


def test_a_client_key_that_cannot_be_honoured_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match=r"ssl\.engine\.factory\.class"):
        settings({"producer.override.ssl.engine.factory.class": "evil"})
