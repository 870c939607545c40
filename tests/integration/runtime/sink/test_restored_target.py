"""A target that goes back, by a failover or because it was restored, is filled again from its own offset."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import TopicPartition as KafkaTopicPartition
from confluent_kafka.admin import AdminClient

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.warnings import Kind, kind_of
from airflow_kconnect.stores.offset_changes.sink import SinkOffsets
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.integration.runtime.conftest import Run
from tests.support import unique
from tests.support.kafka import produce
from tests.support.positions import commit

MakeTopic = Callable[..., str]


@pytest.fixture
def config(topic: MakeTopic, tmp_path: Path) -> dict[str, str]:
    """Rows with an id, inserted into a table of SQLite without a key."""
    return {
        "name": unique("sink"),
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "topics": topic(),
        "connection.url": f"jdbc:sqlite:{tmp_path / 'target.db'}",
        "table.name.format": "t",
        "auto.create": "true",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    }


def file(config: dict[str, str]) -> Path:
    return Path(config["connection.url"].removeprefix("jdbc:sqlite:"))


def send(bootstrap: str, config: dict[str, str], ids: range) -> None:
    schema = {"type": "struct", "optional": False, "fields": [{"type": "int32", "optional": False, "field": "id"}]}
    produce(bootstrap, config["topics"], [json.dumps({"schema": schema, "payload": {"id": n}}) for n in ids])


def ids(config: dict[str, str]) -> list[int]:
    with closing(sqlite3.connect(file(config))) as database:
        return [n for (n,) in database.execute("SELECT id FROM t ORDER BY id")]


def about_target(report: RunReport) -> list[str]:
    return [warning for warning in report.warnings if kind_of(warning) is Kind.TARGET]


def delete_records(bootstrap: str, topic: str, before: int) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap})
    for future in admin.delete_records([KafkaTopicPartition(topic, 0, before)]).values():
        future.result(30)


@pytest.fixture
def backup(config: dict[str, str], bootstrap: str, run_here: Run, tmp_path: Path) -> Path:
    """The target with 10 rows, of a sink that has written 20."""
    send(bootstrap, config, range(10))
    run_here(config)
    copied = Path(shutil.copy(file(config), tmp_path / "backup.db"))
    send(bootstrap, config, range(10, 20))
    run_here(config)
    return copied


def restore(backup: Path, config: dict[str, str]) -> None:
    shutil.copy(backup, file(config))


def test_a_restored_target_gets_the_rows_that_it_lost_and_a_dry_run_says_so(
    backup: Path, config: dict[str, str], bootstrap: str, run_here: Run
) -> None:
    """So does one that was emptied, or whose group is lost, too."""
    restore(backup, config)
    report = run_here(config, dry_run=True)
    assert (len(about_target(report)), report.notes["would_read_offsets"]) == (1, 10)
    send(bootstrap, config, range(20, 25))
    (warning,) = about_target(run_here(config))
    assert ids(config) == list(range(25))
    assert f"{config['topics']}-0 10 of 20" in warning
    assert about_target(run_here(config)) == []

    file(config).unlink()
    assert len(about_target(run_here(config))) == 1
    assert ids(config) == list(range(25))

    restore(backup, config)
    group = f"connect-{config['name']}"
    GroupAdmin({"bootstrap.servers": bootstrap}).delete_group(group)
    assert len(about_target(run_here(config))) == 1
    assert ids(config) == list(range(25))


def test_what_others_commit_or_a_user_alters_is_not_taken_for_a_loss_and_a_run_fails_if_the_records_were_deleted(
    backup: Path, config: dict[str, str], bootstrap: str, run_here: Run, worker_props: dict[str, str]
) -> None:
    restore(backup, config)
    commit(bootstrap, f"connect-{config['name']}", {(config["topics"], 0): 18})
    assert about_target(run_here(config)) == []
    assert ids(config) == [*range(10), 18, 19]

    restore(backup, config)
    worker = WorkerConfig.from_props(worker_props)
    offsets = SinkOffsets(validate_connector(config, worker=worker), worker)
    partition = {"kafka_topic": config["topics"], "kafka_partition": 0}
    offsets.alter({"offsets": [{"partition": partition, "offset": {"kafka_offset": 15}}]})
    assert about_target(run_here(config)) == []
    assert ids(config) == [*range(10), *range(15, 20)]

    restore(backup, config)
    delete_records(bootstrap, config["topics"], 15)
    with pytest.raises(DataError, match=r"the target has lost .* 10 of 20.* offsets 10 to 14 were deleted"):
        run_here(config)


def test_a_table_of_offsets_that_is_newly_set_changes_nothing(
    config: dict[str, str], bootstrap: str, run_here: Run
) -> None:
    send(bootstrap, config, range(10))
    run_here({**config, "offsets.table": ""})
    send(bootstrap, config, range(10, 20))
    assert about_target(run_here(config)) == []
    assert ids(config) == list(range(20))
