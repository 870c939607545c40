"""Runs of Java connectors in this process: validation, secrets, bounds, offsets."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.hosting.keys import hosted_group
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.stores.offset_changes.source import SourceOffsets
from airflow_kconnect.stores.status_topic.runs import RunStatuses
from airflow_kconnect.stores.status_topic.store import StatusStore
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.integration.runtime.conftest import missing_and_doubled
from tests.support import unique
from tests.support.kafka import create_topic, read_all, read_values

pytestmark = pytest.mark.usefixtures("one_jvm")

Config = Callable[..., dict[str, str]]
Run = Callable[..., Any]


def test_all_errors_of_the_java_class_come_at_once_and_nothing_is_created(
    bootstrap: str, java_source: Config, run_hosted: Run, hosting_worker: dict[str, str]
) -> None:
    config = java_source(
        topic="",
        **{"batch.size": "many", "transforms": "t", "transforms.t.type": "org.apache.kafka.connect.transforms.Nothing"},
    )
    with pytest.raises(ConfigError) as caught:
        run_hosted(config)
    assert {"topic", "batch.size", "transforms.t.type"} <= set(caught.value.errors)
    group = hosted_group(config, hosting_worker["group.id"])
    assert not [name for name in KafkaAdmin({"bootstrap.servers": bootstrap}).topics() if name.startswith(group)]


def test_a_source_whose_offset_topic_is_gone_is_refused_before_java_starts(
    bootstrap: str, java_source: Config, run_hosted: Run, hosting_worker: dict[str, str]
) -> None:
    config, topics = java_source(), {f"{store}.storage.topic": unique(store) for store in ("offset", "status")}
    statuses = RunStatuses(WorkerConfig.from_props({**hosting_worker, **topics}), config["name"], "0.1")
    statuses.used([config["topic"]], topics["offset.storage.topic"])
    statuses.close()
    with pytest.raises(DataError, match=rf"{topics['offset.storage.topic']} does not exist"):
        run_hosted(config, **topics)
    create_topic(bootstrap, topics["offset.storage.topic"], 1, {"cleanup.policy": "compact"})
    with pytest.raises(DataError, match=rf"{topics['offset.storage.topic']} has no records"):
        run_hosted(config, **topics)


def test_a_run_that_stopped_at_a_bound_is_completed_by_the_next_without_secrets_in_any_topic(
    bootstrap: str,
    numbered: Any,
    java_source: Config,
    run_hosted: Run,
    hosting_worker: dict[str, str],
    tmp_path: Path,
) -> None:
    numbered.append(30_000)
    secrets = tmp_path / "secrets.properties"
    secrets.write_text("password=tr0ub4dor&3\n")
    config = java_source(**{"batch.size": "500", "some.password": f"${{file:{secrets}:password}}"})
    bounded = run_hosted({**config, "kconnect.max.records": "1000"})
    written = len(read_values(bootstrap, config["topic"]))
    assert (bounded.complete, bounded.notes["ended"]) == (False, "records")
    assert 1000 <= bounded.records["written"] == written
    statuses = {"status.storage.topic": unique("status")}
    whole = run_hosted(config, **statuses)
    assert (whole.complete, whole.records["written"]) == (True, 30_000 - written)
    assert whole.topics == [config["topic"]]
    assert missing_and_doubled(numbered.expected(), read_values(bootstrap, config["topic"])) == (set(), [])
    group = hosted_group(config, hosting_worker["group.id"])
    stored = b"".join((record.value or b"") for record in read_all(bootstrap, f"{group}-configs"))
    assert b"some.password" in stored
    assert b"tr0ub4dor" not in stored
    store = StatusStore(WorkerConfig.from_props({**hosting_worker, **statuses}))
    store.refresh()
    told = store.runs(config["name"])
    assert told is not None
    assert [(run.id, run.records["written"]) for run in told.runs] == [(whole.run_id, 30_000 - written)]
    assert told.config == config  # its class was asked meanwhile which keys are secrets


@pytest.mark.exhaustive
def test_altered_offsets_are_where_the_next_run_begins(
    bootstrap: str, numbered: Any, java_source: Config, run_hosted: Run, hosting_worker: dict[str, str]
) -> None:
    numbered.append(10)
    config = java_source()
    report = run_hosted(config)
    worker = WorkerConfig.from_props(hosting_worker)
    offsets = SourceOffsets(validate_connector(config, worker=worker), worker)
    assert offsets.read() == report.offsets == [{"partition": {"filename": config["file"]}, "offset": {"position": 70}}]
    offsets = SourceOffsets(validate_connector(config, worker=worker), worker)
    offsets.alter({"offsets": [{"partition": {"filename": config["file"]}, "offset": {"position": 56}}]})
    assert run_hosted(config).records["written"] == 2
    assert read_values(bootstrap, config["topic"])[-2:] == [b"line-8", b"line-9"]
