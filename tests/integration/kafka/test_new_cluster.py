"""Consumer groups of a cluster that has just started: their topic is created with the first request for one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.local.broker import EmbeddedBroker

# They take some seconds to be created.
_MANY = {"offsets.topic.num.partitions": "200"}
_TOO_MANY_REPLICAS = {"offsets.topic.replication.factor": "3"}


@pytest.fixture
def bootstrap(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """`host:port` of a broker that no one has asked for a group before, with settings of that topic."""
    embedded = EmbeddedBroker(tmp_path, settings=request.param)
    embedded.start()
    yield embedded.bootstrap
    embedded.stop()


@pytest.mark.parametrize("bootstrap", [_MANY], indirect=True)
def test_what_needs_a_group_waits_for_its_coordinator_and_a_client_that_had_given_up_survives_it(
    bootstrap: str,
) -> None:
    config = {"bootstrap.servers": bootstrap}
    impatient = KafkaAdmin(config, timeout_s=0.2)
    with suppress(RetriableError):
        impatient.group_state("connect-orders")
    # The wait for a coordinator is longer than that for other answers.
    assert GroupAdmin(config, timeout_s=0.2).group_state("connect-orders").name == "DEAD"
    assert impatient.group_state("connect-orders").name == "DEAD"


@pytest.mark.parametrize("bootstrap", [_TOO_MANY_REPLICAS], indirect=True)
def test_a_cluster_that_cannot_create_the_topic_of_groups_is_told_what_to_look_at(bootstrap: str) -> None:
    told = r"no broker coordinates it after 1 s\..*`offsets\.topic\.replication\.factor`"
    with pytest.raises(RetriableError, match=told):
        KafkaAdmin({"bootstrap.servers": bootstrap}, timeout_s=1.0).group_state("connect-orders")
