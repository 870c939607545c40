"""Clients that a process shares: who shares them, how many there are, what happens when a cluster is unavailable."""

from __future__ import annotations

import time

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.kafka import shared
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.shared import MOST_CLUSTERS, SharedKafka, shared_kafka

UNAVAILABLE = "127.0.0.1:1"


def _shared(servers: str, connector: str = "orders", **worker: str) -> SharedKafka:
    clients = ClientConfigs({"bootstrap.servers": servers, **worker}, {}, connector)
    return shared_kafka(clients, f"connect-{connector}")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared, "TIMEOUT_S", 0.3)


class TestSharing:
    def test_connectors_share_what_reaches_kafka_in_the_same_way(self, bootstrap: str) -> None:
        assert _shared(bootstrap, "orders") is _shared(bootstrap, "customers")

    def test_another_setting_is_another_client(self, bootstrap: str) -> None:
        assert _shared(bootstrap) is not _shared(bootstrap, **{"admin.retry.backoff.ms": "150"})

    def test_the_one_that_was_not_used_for_longest_gives_way(self) -> None:
        first = _shared("first:9092")
        for number in range(MOST_CLUSTERS):
            _shared(f"other-{number}:9092")

        assert _shared("first:9092") is not first

    def test_the_one_in_use_stays(self) -> None:
        first = _shared("first:9092")
        for number in range(2 * MOST_CLUSTERS):
            _shared(f"other-{number}:9092")
            assert _shared("first:9092") is first


class TestUnavailable:
    def test_the_next_user_connects_again(self, bootstrap: str) -> None:
        kafka = _shared(bootstrap)
        with pytest.raises(RetriableError), kafka.admin() as before:
            raise RetriableError("a request found no one")

        with kafka.admin() as after:
            assert after is not before

    def test_other_errors_leave_the_connection(self, bootstrap: str) -> None:
        kafka = _shared(bootstrap)
        with pytest.raises(ValueError, match="wrong"), kafka.admin() as before:
            raise ValueError("wrong")

        with kafka.admin() as after:
            assert after is before

    @pytest.mark.usefixtures("impatient")
    def test_others_are_told_at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(shared, "UNAVAILABLE_S", 60.0)
        kafka = _shared(UNAVAILABLE)
        with pytest.raises(RetriableError), kafka.admin():
            pass

        monkeypatch.setattr(shared, "TIMEOUT_S", 30.0)
        started = time.monotonic()
        with pytest.raises(RetriableError, match=f"no Kafka broker answers at {UNAVAILABLE}"), kafka.admin():
            pass
        assert time.monotonic() - started < 15
