"""The connections that docs/ecosystem.md shows for managed Kafka: the Kafka client takes them."""

from __future__ import annotations

import json

import pytest
from confluent_kafka import Producer

from airflow_kconnect.connect.validation.worker_keys import WorkerConfig
from airflow_kconnect.kafka.clients import ClientConfigs
from tests.support.airflow.home import use_own_airflow_home
from tests.support.pages.markdown import REPOSITORY, Block, blocks

use_own_airflow_home()

SHOWN = [block for block in blocks(REPOSITORY / "docs" / "ecosystem.md") if block.info == "jsonc"]


def _worker(block: Block) -> dict[str, str]:
    from airflow.sdk import Connection

    from airflow_kconnect.hooks.connections import kconnect_worker_keys

    shown = json.loads(block.text)
    return kconnect_worker_keys(Connection(conn_id="kafka_default", **{**shown, "extra": json.dumps(shown["extra"])}))


@pytest.mark.parametrize("block", SHOWN, ids=str)
def test_the_client_takes_the_connection(block: Block) -> None:
    worker = WorkerConfig.from_props(_worker(block))
    assert worker.warnings == ()
    Producer(ClientConfigs(worker.props).producer("an-id"))


def test_each_login_reaches_the_client() -> None:
    mechanisms = {ClientConfigs(_worker(block)).admin()["sasl.mechanism"] for block in SHOWN}
    assert mechanisms == {"PLAIN", "SCRAM-SHA-512", "OAUTHBEARER"}
