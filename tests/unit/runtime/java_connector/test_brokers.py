"""When a hosted run gives up brokers that do not answer."""

from __future__ import annotations

import pytest

from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.runtime.java_connector.brokers import BrokersUnavailable, BrokerWatch


class Admin(KafkaAdmin):
    """Brokers that answer or do not."""

    def __init__(self) -> None:
        super().__init__({"bootstrap.servers": "kafka:9092"})
        self.unavailable, self.asked = False, 0

    def problem(self) -> str | None:
        self.asked += 1
        return "connection refused" if self.unavailable else None


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Its only item is the time."""
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


def test_they_are_not_asked_while_records_flow(clock: list[float]) -> None:
    admin = Admin()
    watch = BrokerWatch(admin, "orders")
    for count in range(10):
        clock[0] += 10
        assert not watch.unavailable(count)
    assert admin.asked == 0


def test_they_may_be_unavailable_for_a_while_and_come_back(clock: list[float]) -> None:
    admin = Admin()
    admin.unavailable = True
    watch = BrokerWatch(admin, "orders")
    assert not watch.unavailable(1)
    for _ in range(10):
        clock[0] += 10
        assert watch.unavailable(1)
    admin.unavailable = False
    clock[0] += 10
    assert not watch.unavailable(1)
    admin.unavailable = True
    clock[0] += 100
    assert watch.unavailable(1)


def test_after_two_minutes_the_error_names_connector_and_brokers(clock: list[float]) -> None:
    admin = Admin()
    admin.unavailable = True
    watch = BrokerWatch(admin, "orders")
    watch.unavailable(1)
    clock[0] += 5
    assert watch.unavailable(1)
    clock[0] += 120
    with pytest.raises(
        BrokersUnavailable, match="connector orders: no Kafka broker has answered at kafka:9092 for 120 s"
    ):
        watch.unavailable(1)


def test_a_request_that_failed_asks_at_once(clock: list[float]) -> None:
    admin = Admin()
    admin.unavailable = True
    assert BrokerWatch(admin, "orders").unavailable(1, ask=True)
