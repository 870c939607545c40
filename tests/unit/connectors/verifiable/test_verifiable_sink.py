"""VerifiableSink: its task as plain Python."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.connector.task import SinkTaskContext
from airflow_kconnect.connect.record import SinkRecord, TopicPartition
from airflow_kconnect.connectors.verifiable.sink import VerifiableSinkConnector, VerifiableSinkTask
from airflow_kconnect.validation.connector import inspect_connector

PARTITION = TopicPartition("numbers", 2)


def started(**props: str) -> VerifiableSinkTask:
    config = VerifiableSinkConnector({"name": "checker", **props}).task_configs(2)[1]
    task = VerifiableSinkTask()
    task.initialize(SinkTaskContext(config, (PARTITION,)))
    task.start(config)
    task.open([PARTITION])
    return task


def record(offset: int, topic: str = "numbers", value: Any = None) -> SinkRecord:
    return SinkRecord(topic, 2, offset, key=4, value=offset * 10 if value is None else value)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_records_are_logged_when_put_and_again_when_flushed(tmp_path: Path) -> None:
    task = started(**{"log.file": str(tmp_path / "log")})
    task.put([record(5), record(6)])
    put = lines(tmp_path / "log-numbers-2")
    assert list(put[0]) == ["name", "task", "sinkTask", "topic", "time_ms", "seqno", "offset"]
    assert {**put[0], "time_ms": 0} == {
        "name": "checker", "task": 4, "sinkTask": 1, "topic": "numbers", "time_ms": 0, "seqno": 50, "offset": 5,
    }  # fmt: skip
    task.flush({PARTITION: 7})
    task.put([record(7)])
    task.flush({PARTITION: 8})
    task.close([PARTITION])
    task.stop()
    logged = [(line["offset"], line.get("flushed")) for line in lines(tmp_path / "log-numbers-2")]
    assert logged == [(5, None), (6, None), (5, True), (6, True), (7, None), (7, True)]


def test_a_later_run_appends(tmp_path: Path) -> None:
    for offset in (1, 2):
        task = started(**{"log.file": str(tmp_path / "log")})
        task.put([record(offset)])
        task.stop()
    assert [line["offset"] for line in lines(tmp_path / "log-numbers-2")] == [1, 2]


def test_a_record_that_was_routed_elsewhere_has_a_log_too(tmp_path: Path) -> None:
    task = started(**{"log.file": str(tmp_path / "log")})
    task.put([record(1), record(2, topic="routed")])
    task.flush({PARTITION: 3})
    assert len(lines(tmp_path / "log-routed-2")) == 2


@pytest.mark.parametrize(("value", "shown"), [(b"\xff", "b'\\xff'"), ({"a": [1, None]}, {"a": [1, None]}), ("ä", "ä")])
def test_any_value_can_be_logged(tmp_path: Path, value: Any, shown: Any) -> None:
    task = started(**{"log.file": str(tmp_path / "log")})
    task.put([record(1, value=value)])
    assert lines(tmp_path / "log-numbers-2")[0]["seqno"] == shown


def test_without_a_log_nothing_is_kept(tmp_path: Path) -> None:
    task = started()
    task.put([record(1)])
    task.flush({PARTITION: 2})
    task.stop()


def test_retries_of_its_tasks_are_no_warning() -> None:
    config = {"name": "n", "connector.class": "VerifiableSink", "topics": "t", "errors.retry.timeout": "60000"}
    assert inspect_connector(config).warnings == []
