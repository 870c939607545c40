"""What `kconnect migrate` does not do to a real Connect cluster, and what it says instead."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.migration.here import Here
from airflow_kconnect.submit.operations import target_state
from tests.integration.migration.conftest import Side, wait_until
from tests.integration.runtime.conftest import NumberedFile
from tests.support import unique
from tests.support.connect.worker import ConnectWorker
from tests.support.kafka import read_values

pytestmark = [pytest.mark.connect, pytest.mark.exhaustive, pytest.mark.timeout(300)]

Start = Callable[[dict[str, str]], None]

MOCK = "org.apache.kafka.connect.tools.MockSourceConnector"


@pytest.fixture
def running(source: dict[str, str], numbered: NumberedFile, bootstrap: str, start_in_connect: Start) -> dict[str, str]:
    """A file source that has written ten records in Connect."""
    numbered.append(10)
    start_in_connect(source)
    wait_until(lambda: len(read_values(bootstrap, source["topic"])) >= 10, "Connect writing")
    return source


def test_a_dry_run_changes_nothing(
    side: Callable[..., Side], running: dict[str, str], connect: ConnectWorker, bootstrap: str
) -> None:
    ours = side()
    answer = json.loads(ours.type("--connector", running["name"]).stdout)
    (found,) = answer["connectors"]
    assert (answer["problems"], answer["warnings"]) == ([], [])
    assert (found["verdict"], found["how"], found["state"]) == ("can move", "Spark", "RUNNING")
    assert not ours.folder.exists()
    assert KafkaAdmin({"bootstrap.servers": bootstrap}).partitions(ours.keys["config.storage.topic"]) == 0
    assert connect.status(running["name"])["connector"]["state"] == "RUNNING"


def test_another_group_than_connects_is_noticed(side: Callable[..., Side], running: dict[str, str]) -> None:
    ours = side(**{"group.id": unique("kconnect")})
    (warning,) = json.loads(ours.type("--connector", running["name"]).stdout)["warnings"]
    assert warning.startswith(f"no worker of Connect is in group {ours.keys['group.id']}")


def test_the_config_topic_of_connect_is_refused(
    side: Callable[..., Side], running: dict[str, str], connect: ConnectWorker
) -> None:
    ours = side(**{"config.storage.topic": connect.properties["config.storage.topic"]})
    done = ours.type("--connector", running["name"], "--apply")
    assert done.exit_code == 1
    (problem,) = json.loads(done.stdout)["problems"]
    assert "is the topic in which a Connect cluster keeps its connectors" in problem
    assert connect.status(running["name"])["connector"]["state"] == "RUNNING"


def test_what_cannot_move_keeps_running_in_connect(
    side: Callable[..., Side], running: dict[str, str], connect: ConnectWorker, start_in_connect: Start
) -> None:
    mock = {"name": unique("mock"), "connector.class": MOCK, "mock_mode": "task-failure", "delay_ms": "600000"}
    connect.create(mock["name"], mock)
    ours = side()
    done = ours.type("--apply")
    moved = {move["name"] for move in json.loads(done.stdout)["moves"]}
    assert done.exit_code == 0
    assert (running["name"] in moved, mock["name"] in moved) == (True, False)
    assert connect.status(mock["name"])["connector"]["state"] == "RUNNING"
    connect.delete(mock["name"])


def test_a_move_that_failed_after_the_stop_continues(
    side: Callable[..., Side],
    running: dict[str, str],
    numbered: NumberedFile,
    bootstrap: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ours, name = side(**{"offset.storage.topic": unique("offsets")}), running["name"]

    def fails(*_: object) -> str:
        raise RetriableError("the broker is unavailable")

    with monkeypatch.context() as patched:
        patched.setattr(Here, "alter_offsets", fails)
        assert ours.type("--connector", name, "--apply").exit_code == 3
    assert ours.survey(name)["handover"] == "ARRIVING"
    assert target_state(name, ours.keys) == "STOPPED"
    ours.move(name)
    numbered.append(5)
    ours.run(name)
    assert read_values(bootstrap, running["topic"]) == numbered.expected()


def test_a_connector_with_an_unfinished_run_is_not_given_back(
    side: Callable[..., Side], running: dict[str, str], numbered: NumberedFile, bootstrap: str
) -> None:
    ours, name = side(), running["name"]
    ours.move(name)
    sound = numbered.path.read_bytes()
    numbered.path.write_bytes(sound + b"line-10\nline-\xff1\n")
    with pytest.raises(DataError):
        ours.run(name)
    refused = ours.type("--connector", name, "--back", "--apply")
    assert refused.exit_code == 1
    assert "is not finished, and its plan would override altered offsets" in refused.stdout
    assert target_state(name, ours.keys) == "STARTED"

    numbered.path.write_bytes(sound + b"line-10\nline-11\n")
    numbered.lines = 12
    ours.run(name)
    ours.back(name)
    numbered.append(3)
    wait_until(lambda: len(read_values(bootstrap, running["topic"])) >= 15, "Connect continuing")
    assert read_values(bootstrap, running["topic"]) == numbered.expected()


def test_a_connector_that_was_deleted_in_connect_is_created_again(
    side: Callable[..., Side],
    running: dict[str, str],
    connect: ConnectWorker,
    numbered: NumberedFile,
    bootstrap: str,
) -> None:
    ours, name = side(**{"offset.storage.topic": unique("offsets")}), running["name"]
    ours.move(name)
    numbered.append(5)
    ours.run(name)
    connect.delete(name)
    ours.back(name)
    numbered.append(5)
    wait_until(lambda: len(read_values(bootstrap, running["topic"])) >= 20, "Connect continuing")
    assert read_values(bootstrap, running["topic"]) == numbered.expected()


def test_a_connector_that_was_resumed_in_connect_is_not_moved_back_and_forth(
    side: Callable[..., Side], running: dict[str, str], connect: ConnectWorker
) -> None:
    ours, name = side(), running["name"]
    ours.move(name)
    connect.resume(name)
    done = ours.type("--connector", name, "--back", "--apply")
    assert done.exit_code == 1
    assert "has moved here, but is RUNNING in Connect" in done.stdout
