"""What runs tell the status topic, and what they do if they cannot."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.connect.validation.worker_keys import WorkerConfig
from airflow_kconnect.stores.status_topic.state import ConnectorStatus
from airflow_kconnect.stores.status_topic.store import StatusStore
from tests.integration.runtime.conftest import STRING, NumberedFile, Run
from tests.support import unique
from tests.support.kafka import produce

Source = Callable[..., dict[str, str]]


@pytest.fixture
def statuses(worker_props: dict[str, str]) -> str:
    """The name of a status topic that does not exist; worker key for the runs of the test."""
    return unique("status")


@pytest.fixture
def seen(bootstrap: str, statuses: str) -> Callable[[str], ConnectorStatus]:
    """The status of a connector."""

    def read(name: str) -> ConnectorStatus:
        store = StatusStore(WorkerConfig.from_props({"bootstrap.servers": bootstrap, "status.storage.topic": statuses}))
        store.refresh()
        return store.connector(name)

    return read


Seen = Callable[[str], ConnectorStatus]


def _states(status: ConnectorStatus) -> tuple[str | None, list[str]]:
    connector = None if status.status is None else status.status.state.value
    return connector, [task.state.value for task in status.tasks.values()]


def test_a_source_is_running_and_its_topic_is_known(
    run_here: Run, file_source: Source, numbered: NumberedFile, statuses: str, seen: Seen
) -> None:
    numbered.append(3)
    config = file_source()
    run_here(config, **{"status.storage.topic": statuses})
    assert _states(seen(config["name"])) == ("RUNNING", ["RUNNING"])
    assert list(seen(config["name"]).topics) == [config["topic"]]


def test_a_sink_uses_the_topics_of_which_it_has_read_records(
    run_here: Run, bootstrap: str, topic: Callable[..., str], statuses: str, seen: Seen, tmp_path: Path
) -> None:
    empty, full = topic(), topic()
    produce(bootstrap, full, ["a"])
    config = {
        "name": unique("sink"),
        "connector.class": "FileStreamSink",
        "topics": f"{empty},{full}",
        "file": str(tmp_path / "out.txt"),
        "value.converter": STRING,
        "key.converter": STRING,
    }
    run_here(config, **{"status.storage.topic": statuses})
    assert _states(seen(config["name"])) == ("RUNNING", ["RUNNING"])
    assert list(seen(config["name"]).topics) == [full]


def test_a_bad_record_fails_the_task_and_the_next_run_heals_it(
    run_here: Run, file_source: Source, numbered: NumberedFile, statuses: str, seen: Seen
) -> None:
    numbered.append(1)
    cast = {"transforms": "t", "transforms.t.type": "Cast$Value", "transforms.t.spec": "int8"}
    config = file_source(**cast)
    with pytest.raises(ConnectError):
        run_here(config, **{"status.storage.topic": statuses})
    assert _states(seen(config["name"])) == ("RUNNING", ["FAILED"])
    assert "line-0" in (seen(config["name"]).tasks[0].trace or "")
    run_here({**config, "errors.tolerance": "all"}, **{"status.storage.topic": statuses})
    assert _states(seen(config["name"])) == ("RUNNING", ["RUNNING"])


def test_a_wrong_configuration_fails_the_connector_and_its_secret_is_not_told(
    run_here: Run, file_source: Source, statuses: str, seen: Seen, tmp_path: Path
) -> None:
    secrets = tmp_path / "secrets.properties"
    secrets.write_text("tasks=hunter2\n")
    config = file_source(**{"tasks.max": f"${{file:{secrets}:tasks}}"})
    with pytest.raises(ConfigError):
        run_here(config, **{"status.storage.topic": statuses})
    found = seen(config["name"])
    assert _states(found) == ("FAILED", ["FAILED"])
    assert found.status is not None
    assert "tasks.max" in (found.status.trace or "")
    assert "hunter2" not in (found.status.trace or "")


def test_a_dry_run_says_nothing(
    run_here: Run, file_source: Source, numbered: NumberedFile, statuses: str, seen: Seen
) -> None:
    numbered.append(3)
    config = file_source()
    run_here(config, dry_run=True, **{"status.storage.topic": statuses})
    assert seen(config["name"]) == ConnectorStatus()


def test_a_status_that_cannot_be_written_is_a_warning(
    run_here: Run,
    file_source: Source,
    numbered: NumberedFile,
    topic: Callable[..., str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    numbered.append(3)
    with caplog.at_level(logging.WARNING):
        report = run_here(file_source(), **{"status.storage.topic": topic()})
    assert report.records["written"] == 3
    assert "was not written: " in caplog.text
