"""A published client of Connect's REST API does its round trip on ours, served by `kconnect rest`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kafka_connect import KafkaConnect  # type: ignore[import-untyped]

from tests.support.control import control_worker, write_worker
from tests.support.pages.rest_server import rest_server

CONFIG = {"connector.class": "FileStreamSource", "file": "/data/in.txt", "topic": "t"}


@pytest.fixture(scope="module")
def url(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server that `kconnect rest` has started."""
    with rest_server(write_worker(tmp_path_factory.mktemp("worker"), control_worker(bootstrap))) as found:
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


def test_it_reads_the_version(client: KafkaConnect) -> None:
    assert client.get_cluster_info()["version"] == "4.3.0"


def test_it_lists_what_it_has_created(created: KafkaConnect) -> None:
    assert created.list_connectors() == ["one"]


def test_it_finds_connectors_by_pattern_and_state(created: KafkaConnect) -> None:
    assert list(created.list_connectors(expand="status", pattern="o.*", state="RUNNING")) == ["one"]


def test_it_changes_a_configuration(created: KafkaConnect) -> None:
    created.update_connector("one", {**CONFIG, "topic": "u"})
    assert created.get_connector_config("one")["topic"] == "u"


@pytest.mark.parametrize(("call", "state"), [("pause", "PAUSED"), ("stop", "STOPPED")])
def test_it_pauses_and_stops(call: str, state: str, created: KafkaConnect) -> None:
    getattr(created, f"{call}_connector")("one")
    assert created.get_connector_status("one")["connector"]["state"] == state


def test_it_resumes(created: KafkaConnect) -> None:
    created.pause_connector("one")
    created.resume_connector("one")
    assert created.get_connector_status("one")["connector"]["state"] == "RUNNING"


def test_it_restarts(created: KafkaConnect) -> None:
    created.restart_connector("one", include_tasks=True)
    assert created.get_connector("one")["name"] == "one"


def test_it_reads_and_resets_topics(created: KafkaConnect) -> None:
    created.reset_connector_topics("one")
    assert created.list_connector_topics("one") == {"one": {"topics": []}}


def test_it_lists_plugins(client: KafkaConnect) -> None:
    classes = {plugin["class"] for plugin in client.list_connector_plugins()}
    assert "org.apache.kafka.connect.file.FileStreamSourceConnector" in classes


def test_it_validates(client: KafkaConnect) -> None:
    infos = client.validate_connector_config("FileStreamSource", {**CONFIG, "name": "one", "tasks.max": "0"})
    assert infos["error_count"] == 1


def test_it_deletes(created: KafkaConnect) -> None:
    created.delete_connector("one")
    assert created.list_connectors() == []
