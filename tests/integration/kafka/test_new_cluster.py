"""Consumer groups of a cluster that has just started: their topic is created with the first request for one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.local.broker import EmbeddedBroker

# It takes some seconds to create them.
_SLOW = {"offsets.topic.num.partitions": "500"}
_TIMEOUT_S = 0.2


@pytest.fixture
def bootstrap(tmp_path: Path) -> Iterator[str]:
    """`host:port` of a broker that no one has asked for a group before."""
    embedded = EmbeddedBroker(tmp_path, settings=_SLOW)
    embedded.start()
    yield embedded.bootstrap
    embedded.stop()


def test_a_run_waits_until_a_new_cluster_has_coordinators_and_others_are_told_why_there_is_none(bootstrap: str) -> None:
    config = {"bootstrap.servers": bootstrap}
    with pytest.raises(RetriableError, match=r"no broker coordinates it after 0\.2 s\..*replication\.factor"):
        KafkaAdmin(config, _TIMEOUT_S).group_state("connect-orders")
    assert GroupAdmin(config, _TIMEOUT_S).group_state("connect-orders").name == "DEAD"
