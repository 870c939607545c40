"""VerifiableSource: its tasks as plain Python."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from airflow_kconnect.connect.connector.task import SourceTaskContext
from airflow_kconnect.connect.data import INT32_SCHEMA, INT64_SCHEMA, Shape
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.connectors.verifiable.source import (
    COMPLETE_VALUE_SCHEMA,
    VerifiableSourceConnector,
    VerifiableSourceTask,
)

PROPS = {"name": "counter", "topic": "numbers"}


def started(task_props: dict[str, str], offsets: dict[str, dict[str, int]] | None = None) -> VerifiableSourceTask:
    task = VerifiableSourceTask()
    task.initialize(SourceTaskContext(task_props, offsets or {}))
    task.start(task_props)
    return task


def polled(task: VerifiableSourceTask) -> list[SourceRecord]:
    records: list[SourceRecord] = []
    while (batch := task.poll()) is not None:
        records += batch
    return records


def log_lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


class TestConnector:
    def test_each_task_has_its_id(self) -> None:
        configs = VerifiableSourceConnector(PROPS).task_configs(3)
        assert [config["id"] for config in configs] == ["0", "1", "2"]
        assert all(config["topic"] == "numbers" for config in configs)

    @pytest.mark.parametrize(("complete", "schema"), [("false", INT64_SCHEMA), ("true", COMPLETE_VALUE_SCHEMA)])
    def test_shapes_are_those_of_the_records(self, complete: str, schema: object) -> None:
        props = {**PROPS, "complete.record.data": complete, "max.seqno": "0"}
        connector = VerifiableSourceConnector(props)
        (record,) = polled(started(connector.task_configs(1)[0]))
        assert connector.shapes().values == (Shape(record.value_schema),)
        assert connector.shapes().keys == (Shape(record.key_schema),)
        assert record.value_schema == schema

    @pytest.mark.parametrize(
        ("key", "value"), [("topic", ""), ("throughput", "-2"), ("throughput", "x"), ("max.seqno", "-1")]
    )
    def test_a_wrong_value_is_refused(self, key: str, value: str) -> None:
        with pytest.raises(ConfigError) as raised:
            VerifiableSourceConnector({**PROPS, key: value})
        assert list(raised.value.errors) == [key]


class TestTask:
    def test_counts_from_zero_to_the_last_seqno(self) -> None:
        records = polled(started({**PROPS, "id": "7", "max.seqno": "2500"}))
        assert [record.value for record in records] == list(range(2501))
        assert records[42] == SourceRecord(
            source_partition={"id": 7},
            source_offset={"seqno": 42},
            topic="numbers",
            key=7,
            key_schema=INT32_SCHEMA,
            value=42,
            value_schema=INT64_SCHEMA,
        )

    def test_resumes_after_the_committed_seqno(self) -> None:
        task = started({**PROPS, "id": "1", "max.seqno": "12"}, {'{"id":1}': {"seqno": 9}, '{"id":0}': {"seqno": 3}})
        assert [record.value for record in polled(task)] == [10, 11, 12]

    def test_has_caught_up_when_the_last_seqno_was_committed(self) -> None:
        assert started({**PROPS, "id": "0", "max.seqno": "9"}, {'{"id":0}': {"seqno": 9}}).poll() is None

    def test_a_complete_record_says_where_it_comes_from(self) -> None:
        before = int(time.time() * 1000)
        task = started({**PROPS, "id": "3", "max.seqno": "0", "complete.record.data": "TRUE"})
        (record,) = polled(task)
        assert before <= record.value["time_ms"] <= time.time() * 1000
        del record.value["time_ms"]
        assert record.value == {"name": "counter", "task": 3, "topic": "numbers", "seqno": 0}

    def test_throughput_is_kept_and_pauses_are_reported(self) -> None:
        task = started({**PROPS, "id": "0", "max.seqno": "39", "throughput": "200"})
        start_s, batches = time.monotonic(), []
        while (batch := task.poll()) is not None:
            batches.append(len(batch))
        assert 0.2 <= time.monotonic() - start_s < 30
        assert batches[0] == 0
        assert sum(batches) == 40

    def test_records_and_commits_are_logged(self, tmp_path: Path) -> None:
        task = started({**PROPS, "id": "5", "max.seqno": "1", "log.file": str(tmp_path / "log")})
        records = polled(task)
        task.commit_record(records[0])
        task.commit()
        task.stop()
        lines = log_lines(tmp_path / "log-5")
        assert [(line["seqno"], line.get("committed")) for line in lines] == [(0, None), (1, None), (0, True)]
        assert list(lines[0]) == ["name", "task", "topic", "time_ms", "seqno"]

    def test_can_be_stopped_before_it_was_started(self) -> None:
        VerifiableSourceTask().stop()
