"""Consumer groups of a cluster that has just started: their topic is created with the first request for one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.kafka.admin_answers import GroupState
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.kafka.polling_admin import PollingAdmin
from airflow_kconnect.local.broker import EmbeddedBroker
from tests.support.kafka import create_topic

_TOO_MANY_REPLICAS = {"offsets.topic.replication.factor": "3"}


def test_the_first_requests_wait_for_the_coordinator_and_tell_what_to_look_at_if_there_is_none(tmp_path: Path) -> None:
    """The client itself silently gives up its search after half a second."""
    broker = EmbeddedBroker(tmp_path, settings=_TOO_MANY_REPLICAS)
    broker.start()
    try:
        config = {"bootstrap.servers": broker.bootstrap}
        impatient = KafkaAdmin(config, timeout_s=1.0)
        told = r"no broker coordinates it after 1 s\..*`offsets\.topic\.replication\.factor`"
        with pytest.raises(RetriableError, match=told):
            impatient.group_state("connect-orders")
        with ThreadPoolExecutor() as threads:
            # The wait for a coordinator is longer than that for other answers.
            of_one = threads.submit(GroupAdmin(config, timeout_s=0.2).group_state, "connect-orders")
            of_many = threads.submit(PollingAdmin(config).group_states, [f"connect-{n}" for n in range(20)])
            with pytest.raises(RetriableError, match=told):  # by now the others ask, and their clients have given up
                impatient.group_state("connect-orders")
            create_topic(broker.bootstrap, "__consumer_offsets", 5, {"cleanup.policy": "compact"})
            assert of_one.result().name == "DEAD"
            assert list(of_many.result().values()) == [GroupState("DEAD", 0, True)] * 20
        # A client that had given up survives it.
        assert impatient.group_state("connect-orders").name == "DEAD"
    finally:
        broker.stop()
