"""A published client of Connect's REST API does its round trip on ours."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kafka_connect import KafkaConnect  # type: ignore[import-untyped]

from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.rest.access import TokenPolicy
from airflow_kconnect.rest.app import create_app
from tests.support.pages.connectors_page import served

CONFIG = {"connector.class": "FileStreamSource", "file": "/data/in.txt", "topic": "t"}


@pytest.fixture(scope="module")
def url(plane: ControlPlane) -> Iterator[str]:
    """The URL of a server."""
    with served(create_app(lambda: plane, TokenPolicy(None))) as found:
        yield found


@pytest.fixture
def client(url: str) -> Iterator[KafkaConnect]:
    """The client; what it has created is deleted."""
    connect = KafkaConnect(url)
    yield connect
    connect.delete_all_connectors()


@pytest.fixture
def created(client: KafkaConnect) -> KafkaConnect:
    """The client, with a connector `one`."""
    client.create_connector({"name": "one", "config": CONFIG})
    return client


def test_it_reads_the_version_lists_plugins_and_validates(client: KafkaConnect) -> None:
    assert client.get_cluster_info()["version"] == "4.3.0"
    classes = {plugin["class"] for plugin in client.list_connector_plugins()}
    assert "org.apache.kafka.connect.file.FileStreamSourceConnector" in classes
    infos = client.validate_connector_config("FileStreamSource", {**CONFIG, "name": "one", "tasks.max": "0"})
    assert infos["error_count"] == 1


def test_it_finds_changes_and_deletes_what_it_has_created(created: KafkaConnect) -> None:
    assert created.list_connectors() == ["one"]
    assert list(created.list_connectors(expand="status", pattern="o.*", state="RUNNING")) == ["one"]
    created.update_connector("one", {**CONFIG, "topic": "u"})
    assert created.get_connector_config("one")["topic"] == "u"
    created.reset_connector_topics("one")
    assert created.list_connector_topics("one") == {"one": {"topics": []}}
    created.delete_connector("one")
    assert created.list_connectors() == []


def test_it_pauses_resumes_stops_and_restarts(created: KafkaConnect) -> None:
    for call, state in (("pause", "PAUSED"), ("resume", "RUNNING"), ("stop", "STOPPED")):
        getattr(created, f"{call}_connector")("one")
        assert created.get_connector_status("one")["connector"]["state"] == state
    created.restart_connector("one", include_tasks=True)
    assert created.get_connector("one")["name"] == "one"
