"""The connections that the documentation shows for managed Kafka: the Kafka client takes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support.airflow.home import use_own_airflow_home
from tests.support.logins.cloud import IDENTITY_HEADER, cloud
from tests.support.pages.markdown import REPOSITORY, Block, blocks

use_own_airflow_home()

PAGES = [REPOSITORY / "docs" / name for name in ("ecosystem.md", "guides/cloud-logins.md")]
SHOWN = [block for page in PAGES for block in blocks(page) if block.info == "jsonc"]


@pytest.fixture
def identities(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """What clouds give to those who run in them."""
    with cloud() as found:
        (tmp_path / "key.json").write_text(json.dumps(found.service_account()))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "key.json"))
        monkeypatch.setenv("IDENTITY_ENDPOINT", f"{found.url}/azure/msi")
        monkeypatch.setenv("IDENTITY_HEADER", IDENTITY_HEADER)
        monkeypatch.setenv("AWS_CONTAINER_CREDENTIALS_FULL_URI", f"{found.url}/aws/container")
        monkeypatch.setenv("AWS_ENDPOINT_URL_STS", f"{found.url}/aws/sts/")
        yield


def _worker(block: Block) -> dict[str, str]:
    from airflow.sdk import Connection

    from airflow_kconnect.hooks.connections import kconnect_worker_keys

    shown = json.loads(block.text)
    return kconnect_worker_keys(Connection(conn_id="kafka_default", **{**shown, "extra": json.dumps(shown["extra"])}))


@pytest.mark.usefixtures("identities")
@pytest.mark.parametrize("block", SHOWN, ids=str)
def test_the_client_takes_the_connection(block: Block) -> None:
    worker = WorkerConfig.from_props(_worker(block))
    assert worker.warnings == ()
    Producer(ClientConfigs(worker.props).producer("an-id"))


@pytest.mark.usefixtures("identities")
def test_each_login_reaches_the_client() -> None:
    mechanisms = {ClientConfigs(_worker(block)).admin()["sasl.mechanism"] for block in SHOWN}
    assert mechanisms == {"PLAIN", "SCRAM-SHA-512", "OAUTHBEARER"}
