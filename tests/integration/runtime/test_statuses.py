"""What runs tell the status topic, and what they do if they cannot."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError, ConnectError
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns, RunState
from airflow_kconnect.stores.status_topic.state import ConnectorStatus
from airflow_kconnect.stores.status_topic.store import StatusStore
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.integration.runtime.conftest import STRING, NumberedFile, Run, Source
from tests.support import unique
from tests.support.kafka import create_topic, produce


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


@pytest.fixture
def told(bootstrap: str, statuses: str) -> Callable[[str], ConnectorRuns]:
    """What the runs of a connector have told."""

    def read(name: str) -> ConnectorRuns:
        store = StatusStore(WorkerConfig.from_props({"bootstrap.servers": bootstrap, "status.storage.topic": statuses}))
        store.refresh()
        return store.runs(name) or ConnectorRuns()

    return read


Seen = Callable[[str], ConnectorStatus]
Told = Callable[[str], ConnectorRuns]


def _states(status: ConnectorStatus) -> tuple[str | None, list[str]]:
    connector = None if status.status is None else status.status.state.value
    return connector, [task.state.value for task in status.tasks.values()]


def test_a_source_is_running_and_its_topic_is_known(
    run_here: Run, file_source: Source, numbered: NumberedFile, statuses: str, seen: Seen, told: Told
) -> None:
    numbered.append(3)
    config = file_source()
    report = run_here(config, **{"status.storage.topic": statuses})
    assert _states(seen(config["name"])) == ("RUNNING", ["RUNNING"])
    assert list(seen(config["name"]).topics) == [config["topic"]]
    runs = told(config["name"])
    assert (runs.kind, runs.connector_class, runs.topics) == ("source", config["connector.class"], (config["topic"],))
    assert runs.config == config
    (run,) = runs.runs
    assert (run.id, run.state, run.records, run.complete) == (report.run_id, RunState.SUCCESS, report.records, True)


def test_each_run_has_its_entry_also_if_it_has_nothing_to_do(
    run_here: Run, file_source: Source, numbered: NumberedFile, statuses: str, told: Told
) -> None:
    numbered.append(3)
    config = file_source()
    for _ in range(2):
        run_here(config, **{"status.storage.topic": statuses})
    assert [run.records["written"] for run in told(config["name"]).runs] == [0, 3]


def test_a_sink_uses_the_topics_of_which_it_has_read_records(
    run_here: Run, bootstrap: str, topic: Callable[..., str], statuses: str, seen: Seen, told: Told, tmp_path: Path
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
    assert told(config["name"]).group == f"connect-{config['name']}"


def test_a_replay_has_an_entry_and_leaves_the_status_alone(
    run_here: Run, topic: Callable[..., str], statuses: str, seen: Seen, told: Told, tmp_path: Path
) -> None:
    config = {
        "name": unique("sink"),
        "connector.class": "FileStreamSink",
        "topics": topic(),
        "file": str(tmp_path / "out.txt"),
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": topic(),
    }
    run_here(config, replay=True, **{"status.storage.topic": statuses})
    assert seen(config["name"]) == ConnectorStatus()
    (run,) = told(config["name"]).runs
    assert (run.state, run.replay) == (RunState.SUCCESS, "dead letters")
    assert told(config["name"]).dead_letter_topic == config["errors.deadletterqueue.topic.name"]


def test_a_bad_record_fails_the_task_and_the_next_run_heals_it(
    run_here: Run, file_source: Source, numbered: NumberedFile, statuses: str, seen: Seen, told: Told
) -> None:
    numbered.append(1)
    cast = {"transforms": "t", "transforms.t.type": "Cast$Value", "transforms.t.spec": "int8"}
    config = file_source(**cast)
    with pytest.raises(ConnectError):
        run_here(config, **{"status.storage.topic": statuses})
    assert _states(seen(config["name"])) == ("RUNNING", ["FAILED"])
    assert "line-0" in (seen(config["name"]).tasks[0].trace or "")
    (run,) = told(config["name"]).runs
    assert (run.state, "line-0" in (run.error or "")) == (RunState.FAILED, True)
    run_here({**config, "errors.tolerance": "all"}, **{"status.storage.topic": statuses})
    assert _states(seen(config["name"])) == ("RUNNING", ["RUNNING"])


def test_a_wrong_configuration_fails_the_connector_and_its_secret_is_not_told(
    run_here: Run, file_source: Source, statuses: str, seen: Seen, told: Told, tmp_path: Path
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
    (run,) = told(config["name"]).runs
    assert "tasks.max" in (run.error or "")
    assert b"hunter2" not in told(config["name"]).encode()


def test_a_secret_without_a_variable_is_not_told_either(
    run_here: Run, file_source: Source, statuses: str, seen: Seen, told: Told
) -> None:
    config = file_source(**{"tasks.max": "hunter22", "my.password": "hunter22"})
    with pytest.raises(ConfigError):
        run_here(config, **{"status.storage.topic": statuses})
    status = seen(config["name"]).status
    assert status is not None
    assert "[hidden]" in (status.trace or "")
    assert "hunter22" not in (status.trace or "")
    (run,) = told(config["name"]).runs
    assert "hunter22" not in (run.error or "")


def test_an_entry_that_is_too_large_for_the_topic_leaves_the_statuses_alone(
    run_here: Run,
    bootstrap: str,
    file_source: Source,
    numbered: NumberedFile,
    statuses: str,
    seen: Seen,
    caplog: pytest.LogCaptureFixture,
) -> None:
    create_topic(bootstrap, statuses, 1, {"cleanup.policy": "compact", "max.message.bytes": "4000"})
    numbered.append(1)
    cast = {"transforms": "t", "transforms.t.type": "Cast$Value", "transforms.t.spec": "int8"}
    config = file_source(**cast, **{f"note.{n}": random.randbytes(900).hex() for n in range(9)})
    with caplog.at_level(logging.WARNING), pytest.raises(ConnectError):
        run_here(config, **{"status.storage.topic": statuses})
    assert "the run was not added" in caplog.text
    assert _states(seen(config["name"])) == ("RUNNING", ["FAILED"])


def test_a_dry_run_says_nothing(
    run_here: Run, file_source: Source, numbered: NumberedFile, statuses: str, seen: Seen, told: Told
) -> None:
    numbered.append(3)
    config = file_source()
    run_here(config, dry_run=True, **{"status.storage.topic": statuses})
    assert seen(config["name"]) == ConnectorStatus()
    assert told(config["name"]) == ConnectorRuns()


def test_a_variable_without_a_value_is_how_a_run_failed(
    run_here: Run, file_source: Source, statuses: str, seen: Seen, told: Told
) -> None:
    config = file_source(**{"value.converter": "${env:KCONNECT_IS_NOT_SET}"})
    with pytest.raises(ConfigError):
        run_here(config, **{"status.storage.topic": statuses})
    assert _states(seen(config["name"])) == ("FAILED", ["FAILED"])
    (run,) = told(config["name"]).runs
    assert "KCONNECT_IS_NOT_SET" in (run.error or "")


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
