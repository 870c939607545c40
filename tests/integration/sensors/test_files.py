"""The sensor for new files, in folders and in a store; what all sensors share is tested in test_sensors.py."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.exceptions import AirflowRescheduleException
from airflow.providers.common.compat.sdk import AirflowSensorTimeout, TaskDeferred

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.errors import ConnectorConfigError
from airflow_kconnect.places.local import LocalPlace
from airflow_kconnect.places.registry import open_place
from airflow_kconnect.sensors.files import NewFilesSensor
from airflow_kconnect.triggers.positions import ConnectorPositionTrigger
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support import unique
from tests.support.positions import commit_source
from tests.support.stores import Store, moto_store

CONTEXT: Any = {"ti": SimpleNamespace(get_first_reschedule_date=lambda context: None)}


@pytest.fixture(autouse=True)
def kafka_connection(bootstrap: str, worker_topics: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`kafka_default` is the broker of this test run."""
    connection = {"conn_type": "kafka", "extra": {"bootstrap.servers": bootstrap}}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps(connection))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with moto_store("arrivals") as made:
        yield made


def sensor(directory: Path | str, config: dict[str, str] | None = None, **parameters: Any) -> NewFilesSensor:
    connector = {
        "name": unique("files"),
        "connector.class": "FilesSource",
        "directory": str(directory),
        "topic": "t",
        "input.file.pattern": r".*\.csv",
        **(config or {}),
    }
    defaults: dict[str, Any] = {"task_id": "wait", "connector": connector, "timeout": 0.1, "poke_interval": 0.1}
    return NewFilesSensor(**defaults | parameters)


def is_read(bootstrap: str, waiting: NewFilesSensor, name: str, version: str) -> None:
    """As a run commits it."""
    topic = WorkerConfig.from_props({"bootstrap.servers": bootstrap}).offset_topic
    assert isinstance(waiting.connector, dict)
    commit_source(bootstrap, topic, waiting.connector["name"], {"file": name}, {"version": version, "done": True})


def version_of(folder: Path, name: str) -> str:
    found = open_place(str(folder), {}).find(name)
    assert found is not None
    return found.version


def event_of(deferred: TaskDeferred) -> dict[str, Any]:
    _, stored = deferred.trigger.serialize()

    async def first() -> dict[str, Any]:
        [event] = [event async for event in ConnectorPositionTrigger(**stored).run()]
        return dict(event.payload)

    return asyncio.run(first())


def test_it_returns_which_files_there_are(folder: Path) -> None:
    (folder / "2026").mkdir()
    (folder / "2026" / "a.csv").write_text("id\n1\n")
    found = sensor(folder).execute(CONTEXT)
    assert (found["files"], found["names"]) == (1, ["2026/a.csv"])


def test_what_a_run_would_leave_out_is_not_waited_for(folder: Path) -> None:
    for name in (".a.csv", "_a.csv", "a.csv.part"):
        (folder / name).write_text("id\n")
    with pytest.raises(AirflowSensorTimeout):
        sensor(folder).execute(CONTEXT)


def test_a_file_that_was_read_is_not_new(folder: Path, bootstrap: str) -> None:
    (folder / "a.csv").write_text("id\n1\n")
    waiting = sensor(folder, mode="reschedule", timeout=60)
    is_read(bootstrap, waiting, "a.csv", version_of(folder, "a.csv"))
    with pytest.raises(AirflowRescheduleException):
        waiting.execute(CONTEXT)
    (folder / "b.csv").write_text("id\n2\n")
    assert waiting.execute(CONTEXT)["names"] == ["b.csv"]


def test_one_that_has_changed_since_fails_the_task(folder: Path, bootstrap: str) -> None:
    (folder / "a.csv").write_text("id\n1\n")
    waiting = sensor(folder)
    is_read(bootstrap, waiting, "a.csv", "another")
    with pytest.raises(ConnectorConfigError, match="was changed or replaced after it was read"):
        waiting.execute(CONTEXT)


def test_it_waits_for_enough(folder: Path) -> None:
    (folder / "a.csv").write_text("id\n")
    waiting = sensor(folder, min_files="2")
    with pytest.raises(AirflowSensorTimeout):
        waiting.execute(CONTEXT)
    (folder / "b.csv").write_text("id\n")
    assert waiting.execute(CONTEXT)["files"] == 2


def test_no_file_is_opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(*_: Any) -> Any:
        raise AssertionError("a file was opened")

    (folder / "a.csv").write_text("id\n")
    monkeypatch.setattr(LocalPlace, "read", opened)
    assert sensor(folder).execute(CONTEXT)["files"] == 1


def test_a_folder_that_is_missing_has_none_yet(folder: Path) -> None:
    with pytest.raises(AirflowSensorTimeout):
        sensor(folder / "later").execute(CONTEXT)


def test_a_store_is_reached_by_its_connection_and_no_secret_is_stored(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = store.settings["store.secret.access.key"]
    keys: dict[str, Any] = {"conn_type": "aws", "login": store.settings["store.access.key.id"], "password": secret}
    keys |= {"extra": {"region_name": "us-east-1", "endpoint_url": store.settings["store.endpoint"]}}
    monkeypatch.setenv("AIRFLOW_CONN_LAKE", json.dumps(keys))
    waiting = sensor(f"{store.address}/in", {"kconnect.store.conn_id": "lake"}, deferrable=True)
    with pytest.raises(TaskDeferred) as caught:
        waiting.execute(CONTEXT)
    assert "lake" in (stored := json.dumps(caught.value.trigger.serialize()))
    assert secret not in stored

    place = open_place(f"{store.address}/in", store.settings)
    staging = place.stage("a.csv")
    staging.write(b"id\n1\n")
    place.publish(staging.finish())
    event = event_of(caught.value)
    assert (event["status"], event["position"]["names"]) == ("met", ["a.csv"])


def test_a_literal_secret_is_not_stored_in_airflows_database(folder: Path) -> None:
    with pytest.raises(ConnectorConfigError, match=r"store\.secret\.access\.key.*is a secret"):
        sensor("s3://lake/in", {"store.secret.access.key": "s3cret"}, deferrable=True).execute(CONTEXT)


def test_another_connector_has_no_files_to_wait_for(folder: Path) -> None:
    with pytest.raises(ConnectorConfigError, match="only FilesSource has files"):
        sensor(folder, {"connector.class": "FileStreamSource", "file": "/data"}).execute(CONTEXT)


def test_a_wrong_bound_is_reported_when_the_dag_is_parsed(folder: Path) -> None:
    with pytest.raises(ConfigError, match="min_files"):
        sensor(folder, min_files=0)
