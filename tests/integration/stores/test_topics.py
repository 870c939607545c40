"""Internal topics on a cluster of one broker, as workers and connectors configure them."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.stores.topics import ensure_config_topic, ensure_dead_letter_topic, ensure_offset_topic
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support import unique

_DEAD_LETTERS = "errors.deadletterqueue.topic.replication.factor"


@pytest.fixture
def admin(bootstrap: str) -> KafkaAdmin:
    return KafkaAdmin({"bootstrap.servers": bootstrap, "log_level": 2})


def _worker(bootstrap: str, **keys: str) -> WorkerConfig:
    return WorkerConfig.from_props({"bootstrap.servers": bootstrap, **keys})


class TestInternalTopics:
    def test_one_broker_suffices_for_an_offset_topic(self, admin: KafkaAdmin, bootstrap: str) -> None:
        assert ensure_offset_topic(admin, _worker(bootstrap), unique("offsets")) == 25

    def test_one_broker_suffices_for_a_config_topic(self, admin: KafkaAdmin, bootstrap: str) -> None:
        worker = _worker(bootstrap, **{"config.storage.topic": unique("configs")})
        assert ensure_config_topic(admin, worker) == 1

    def test_a_factor_that_is_set_is_obeyed(self, admin: KafkaAdmin, bootstrap: str) -> None:
        name = unique("offsets")
        worker = _worker(bootstrap, **{"offset.storage.replication.factor": "3"})
        with pytest.raises(ConfigError) as caught:
            ensure_offset_topic(admin, worker, name)
        assert "or -1 for the brokers' default" in caught.value.errors["offset.storage.replication.factor"][0]
        assert admin.partitions(name) == 0

    def test_a_worker_that_creates_none_names_the_missing_one(self, admin: KafkaAdmin, bootstrap: str) -> None:
        worker, name = _worker(bootstrap, **{"internal.topics.automatic.creation.enable": "false"}), unique("offsets")
        with pytest.raises(
            ConfigError, match=f"Topic '{name}' specified via the 'offset.storage.topic' property is miss"
        ):
            ensure_offset_topic(admin, worker, name)
        assert admin.partitions(name) == 0

    def test_a_worker_that_creates_none_uses_those_that_exist(self, admin: KafkaAdmin, bootstrap: str) -> None:
        name = unique("offsets")
        ensure_offset_topic(admin, _worker(bootstrap), name)
        worker = _worker(bootstrap, **{"internal.topics.automatic.creation.enable": "false"})
        assert ensure_offset_topic(admin, worker, name) == 25


class TestDeadLetterTopics:
    def test_one_broker_suffices(self, admin: KafkaAdmin) -> None:
        name = unique("dead")
        ensure_dead_letter_topic(admin, name, {})
        assert admin.partitions(name) == 1

    def test_a_factor_that_is_set_is_obeyed(self, admin: KafkaAdmin) -> None:
        with pytest.raises(ConfigError, match="brokers") as caught:
            ensure_dead_letter_topic(admin, unique("dead"), {_DEAD_LETTERS: "3"})
        assert list(caught.value.errors) == [_DEAD_LETTERS]
