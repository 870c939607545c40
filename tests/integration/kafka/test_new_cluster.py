"""Consumer groups of a cluster that has just started: their topic is created with the first request for one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.admin_answers import GroupState
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.kafka.polling_admin import PollingAdmin
from airflow_kconnect.local.broker import EmbeddedBroker
from tests.support.kafka import create_topic

_TOO_MANY_REPLICAS = {"offsets.topic.replication.factor": "3"}


@pytest.fixture
def bootstrap(tmp_path: Path) -> Iterator[str]:
    """`host:port` of a broker that no one has asked for a group before, and that cannot create their topic."""
    embedded = EmbeddedBroker(tmp_path, settings=_TOO_MANY_REPLICAS)
    embedded.start()
    yield embedded.bootstrap
    embedded.stop()


@pytest.fixture
def slow_bootstrap(bootstrap: str) -> Iterator[str]:
    """`host:port` of a broker that can coordinate groups two seconds later."""
    later = Timer(2.0, create_topic, [bootstrap, "__consumer_offsets", 5, {"cleanup.policy": "compact"}])
    later.start()
    yield bootstrap
    later.join()


class TestFirstRequest:
    """The client itself gives up its search after half a second, without a word."""

    def test_it_waits_for_the_coordinator(self, slow_bootstrap: str) -> None:
        assert KafkaAdmin({"bootstrap.servers": slow_bootstrap}).group_state("connect-orders").name == "DEAD"

    def test_it_waits_for_those_of_many_groups(self, slow_bootstrap: str) -> None:
        states = PollingAdmin({"bootstrap.servers": slow_bootstrap}).group_states(f"connect-{n}" for n in range(20))
        assert list(states.values()) == [GroupState("DEAD", 0, True)] * 20

    def test_a_client_that_had_given_up_survives_it(self, slow_bootstrap: str) -> None:
        config = {"bootstrap.servers": slow_bootstrap}
        impatient = KafkaAdmin(config, timeout_s=0.2)
        with pytest.raises(RetriableError):
            impatient.group_state("connect-orders")
        # The wait for a coordinator is longer than that for other answers.
        assert GroupAdmin(config, timeout_s=0.2).group_state("connect-orders").name == "DEAD"
        assert impatient.group_state("connect-orders").name == "DEAD"


def test_a_cluster_that_cannot_create_the_topic_of_groups_is_told_what_to_look_at(bootstrap: str) -> None:
    told = r"no broker coordinates it after 1 s\..*`offsets\.topic\.replication\.factor`"
    with pytest.raises(RetriableError, match=told):
        KafkaAdmin({"bootstrap.servers": bootstrap}, timeout_s=1.0).group_state("connect-orders")
