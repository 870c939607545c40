"""A `SourceTask` as the beginning of a frame, without a Spark session."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pytest
from pyspark import TaskContext

from airflow_kconnect.connect.data import INT32_SCHEMA, INT64_SCHEMA, STRING_SCHEMA, Shape, struct
from airflow_kconnect.connect.error_cells import error_from_column, record_error
from airflow_kconnect.connect.errors import ConnectError, DataError, RetriableError
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.connect.source_connector import RecordShapes
from airflow_kconnect.connect.task import SourceTask, SourceTaskContext
from airflow_kconnect.converters.header_text.converter import SimpleHeaderConverter
from airflow_kconnect.runtime.conversion.header_stage import RAW, HeaderStage
from airflow_kconnect.runtime.source import poll as poll_source
from airflow_kconnect.runtime.source.acknowledgements import AckWriter
from airflow_kconnect.runtime.source.poll import (
    PollSettings,
    _arrow,
    _columns,
    _error_batch,
    _HostedTask,
    _part,
    _poller,
)

PARTITION = {"id": 0}
ID = '{"id":0}'
POINT = struct(("x", INT64_SCHEMA))
SHAPES = RecordShapes((Shape(INT32_SCHEMA),), (Shape(STRING_SCHEMA), Shape(POINT)))


def records(*numbers: int) -> list[SourceRecord]:
    return [SourceRecord(PARTITION, {"n": n}, "t", f"value {n}", STRING_SCHEMA) for n in numbers]


def numbers(batches: Iterator[list[SourceRecord]]) -> list[list[int]]:
    return [[record.source_offset["n"] for record in batch if record.source_offset] for batch in batches]


class ScriptedTask(SourceTask):
    """Polls what the script says; writes down what is called."""

    script: ClassVar[list[Sequence[SourceRecord] | Exception | None]] = []
    calls: ClassVar[list[str]] = []

    def initialize(self, context: SourceTaskContext) -> None:
        super().initialize(context)
        self.calls.append("initialize")

    def start(self, props: Mapping[str, str]) -> None:
        self.calls.append("start")

    def poll(self) -> Sequence[SourceRecord] | None:
        self.calls.append("poll")
        polled = self.script.pop(0) if self.script else None
        if isinstance(polled, Exception):
            raise polled
        return polled

    def commit_record(self, record: SourceRecord) -> None:
        assert record.source_offset
        self.calls.append(f"commit_record {record.source_offset['n']}")

    def commit(self) -> None:
        self.calls.append("commit")

    def stop(self) -> None:
        self.calls.append("stop")


class NoStart(ScriptedTask):
    def start(self, props: Mapping[str, str]) -> None:
        raise RetriableError("database away")


class NoConstructor(ScriptedTask):
    def __init__(self) -> None:
        raise OSError("no driver")


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """`scripted(polled, polled, ...)` sets what `ScriptedTask` polls; returns the list of its calls."""

    def prepare(*script: Sequence[SourceRecord] | Exception | None) -> list[str]:
        monkeypatch.setattr(ScriptedTask, "script", list(script))
        monkeypatch.setattr(ScriptedTask, "calls", [])
        return ScriptedTask.calls

    return prepare


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., PollSettings]:
    """`settings(TaskClass, max_records=(5,))`; acknowledgements lie in the test's own folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def make(task_class: type[SourceTask] = ScriptedTask, **changed: Any) -> PollSettings:
        defaults: dict[str, Any] = {
            "task_class": task_class,
            "configs": ({"task": "0"},),
            "offsets": {ID: {"n": 41}},
            "shapes": SHAPES,
            "max_records": (None,),
            "deadline_epoch_s": None,
            "plan_id": "plan",
            "stop_timeout_s": 5.0,
        }
        return PollSettings(**{**defaults, **changed})

    return make


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits is handed on after each poll instead of each second."""
    monkeypatch.setattr(poll_source, "_HAND_ON_S", 0)


MakeSettings = Callable[..., PollSettings]
Scripted = Callable[..., list[str]]


@pytest.fixture
def acks(settings: MakeSettings) -> AckWriter:
    """The writing end of the same Spark task."""
    return AckWriter("plan", 0)


def wait_for(calls: list[str], last: str) -> list[str]:
    deadline = time.monotonic() + 5
    while calls[-1:] != [last] and time.monotonic() < deadline:
        time.sleep(0.005)
    return calls


class TestLifecycle:
    def test_callbacks_come_in_the_order_of_the_contract(
        self, scripted: Scripted, settings: MakeSettings, acks: AckWriter
    ) -> None:
        calls = scripted(records(1, 2), None)
        list(_HostedTask(settings(), 0).batches())
        acks.committed(2)
        acks.finished()
        assert wait_for(calls, "stop") == [
            "initialize",
            "start",
            "poll",
            "poll",
            "commit_record 1",
            "commit_record 2",
            "commit",
            "stop",
        ]

    @pytest.mark.usefixtures("at_once")
    def test_what_is_committed_while_polling_is_called_back_between_polls(
        self, scripted: Scripted, settings: MakeSettings, acks: AckWriter
    ) -> None:
        calls = scripted(records(1), records(2), [])
        batches = _HostedTask(settings(), 0).batches()
        next(batches)
        acks.committed(1)
        assert (next(batches), len(next(batches))) == ([], 1)
        assert calls == ["initialize", "start", "poll", "poll", "commit_record 1", "commit"]
        batches.close()

    @pytest.mark.usefixtures("at_once")
    def test_no_record_is_called_back_twice(self, scripted: Scripted, settings: MakeSettings, acks: AckWriter) -> None:
        calls = scripted(records(1), records(2), None)
        batches = _HostedTask(settings(), 0).batches()
        next(batches)
        acks.committed(1)
        list(batches)
        acks.committed(2)
        acks.finished()
        wait_for(calls, "stop")
        assert [call for call in calls if call.startswith("commit_record")] == ["commit_record 1", "commit_record 2"]

    def test_records_that_were_never_committed_are_not_called_back(
        self, scripted: Scripted, settings: MakeSettings, acks: AckWriter
    ) -> None:
        calls = scripted(records(1), None)
        list(_HostedTask(settings(), 0).batches())
        acks.finished()
        assert wait_for(calls, "stop") == ["initialize", "start", "poll", "poll", "stop"]

    def test_the_final_commit_is_not_waited_for_for_ever(self, scripted: Scripted, settings: MakeSettings) -> None:
        calls = scripted(None)
        list(_HostedTask(settings(stop_timeout_s=0.05), 0).batches())
        assert wait_for(calls, "stop")[-1] == "stop"

    def test_the_writing_end_learns_that_the_task_is_stopped(self, scripted: Scripted, settings: MakeSettings) -> None:
        calls = scripted(None)
        list(_HostedTask(settings(), 0).batches())
        started = time.monotonic()
        AckWriter("plan", 0, patience_s=30).finished()
        assert (calls[-1], time.monotonic() - started < 25) == ("stop", True)

    @pytest.mark.parametrize("error", [DataError("bad"), ValueError("bad")], ids=["of ours", "any other"])
    def test_a_task_is_stopped_after_an_error(
        self, scripted: Scripted, settings: MakeSettings, error: Exception
    ) -> None:
        calls = scripted(error)
        with pytest.raises(type(error)):
            list(_HostedTask(settings(), 0).batches())
        assert calls == ["initialize", "start", "poll", "stop"]

    def test_a_task_that_cannot_start_is_stopped(self, scripted: Scripted, settings: MakeSettings) -> None:
        calls = scripted()
        with pytest.raises(RetriableError):
            list(_HostedTask(settings(NoStart), 0).batches())
        assert calls == ["initialize", "stop"]

    @pytest.mark.usefixtures("at_once")
    def test_a_task_is_stopped_when_the_batches_are_no_longer_wanted(
        self, scripted: Scripted, settings: MakeSettings
    ) -> None:
        calls = scripted(records(1), records(2))
        batches = _HostedTask(settings(), 0).batches()
        next(batches)
        batches.close()
        assert calls[-1] == "stop"

    def test_the_task_is_given_its_configuration_and_the_committed_offsets(
        self, settings: MakeSettings, scripted: Scripted
    ) -> None:
        scripted(None)
        task = _HostedTask(settings(configs=({"task": "0"}, {"task": "1"}), max_records=(None, None)), 1)
        list(task.batches())
        assert isinstance(task._task, ScriptedTask)
        assert (task._task.context.configs["task"], task._task.context.offset(PARTITION)) == ("1", {"n": 41})


class TestPolling:
    def test_polling_ends_when_the_task_has_caught_up(self, scripted: Scripted, settings: MakeSettings) -> None:
        scripted(records(1), None, records(2))
        assert numbers(_HostedTask(settings(), 0).batches()) == [[1]]

    def test_nothing_yet_is_not_the_end(self, scripted: Scripted, settings: MakeSettings) -> None:
        scripted([], [], records(1), None)
        assert numbers(_HostedTask(settings(), 0).batches()) == [[1]]

    @pytest.mark.usefixtures("at_once")
    def test_in_time_what_waits_is_handed_on_and_pushed_through_spark(
        self, scripted: Scripted, settings: MakeSettings
    ) -> None:
        scripted(records(1), [], records(2), None)
        assert numbers(_HostedTask(settings(), 0).batches()) == [[1], [], [2], []]

    def test_an_empty_poll_alone_hands_nothing_on(self, scripted: Scripted, settings: MakeSettings) -> None:
        """Spark would hold it back, and to push it each time would cost more than it is worth."""
        scripted(records(1), [], records(2), [], None)
        assert numbers(_HostedTask(settings(), 0).batches()) == [[1, 2]]

    def test_small_polls_travel_together(self, scripted: Scripted, settings: MakeSettings) -> None:
        scripted(*(records(n) for n in range(50)), None)
        assert [len(batch) for batch in _HostedTask(settings(), 0).batches()] == [50]

    def test_many_records_do_not_wait_for_the_end(self, scripted: Scripted, settings: MakeSettings) -> None:
        scripted(records(*range(5000)), records(5000), None)
        assert [len(batch) for batch in _HostedTask(settings(), 0).batches()] == [5000, 1]

    @pytest.mark.parametrize(
        ("most", "expected"),
        [(0, []), (1, [[1]]), (2, [[1, 2]]), (3, [[1, 2, 3]]), (4, [[1, 2, 3, 4]]), (9, [[1, 2, 3, 4]])],
        ids=str,
    )
    def test_at_most_so_many_records(
        self, scripted: Scripted, settings: MakeSettings, most: int, expected: list[list[int]]
    ) -> None:
        scripted(records(1, 2), records(3, 4), None)
        assert numbers(_HostedTask(settings(max_records=(most,)), 0).batches()) == expected

    def test_a_task_at_its_bound_is_not_polled_again(self, scripted: Scripted, settings: MakeSettings) -> None:
        calls = scripted(records(1, 2), records(3))
        list(_HostedTask(settings(max_records=(2,)), 0).batches())
        assert calls.count("poll") == 1

    def test_after_the_deadline_a_task_is_polled_once(self, scripted: Scripted, settings: MakeSettings) -> None:
        """So that each run gets on: a task may have had to wait for a core, and its clock may be ahead."""
        scripted(records(1), records(2))
        batches = _HostedTask(settings(deadline_epoch_s=time.time() - 1), 0).batches()
        assert numbers(batches) == [[1]]


@pytest.fixture
def spark_task(monkeypatch: pytest.MonkeyPatch) -> TaskContext:
    """This process pretends to be the first attempt of Spark partition 0."""
    context = TaskContext._getOrCreate()
    context._partitionId, context._attemptNumber = 0, 0
    monkeypatch.setattr(TaskContext, "_taskContext", context)
    return context


def run_poller(settings: PollSettings) -> list[dict[str, Any]]:
    rows = pa.RecordBatch.from_arrays([pa.array([0])], ["id"])
    return [row for batch in _poller(settings)(iter([rows])) for row in batch.to_pylist()]


@pytest.mark.usefixtures("spark_task")
class TestErrors:
    def error(self, settings: PollSettings) -> ConnectError:
        return error_from_column(run_poller(settings)[-1]["error"], "task 0")

    def test_an_error_of_ours_becomes_the_last_row(self, scripted: Scripted, settings: MakeSettings) -> None:
        scripted(RetriableError("database away"))
        error = self.error(settings())
        assert (type(error), str(error)) == (RetriableError, "database away")

    def test_any_other_error_becomes_a_data_error_with_the_tasks_name(
        self, scripted: Scripted, settings: MakeSettings
    ) -> None:
        scripted(KeyError("column"))
        error = self.error(settings())
        assert (type(error), str(error)) == (DataError, "ScriptedTask of task 0 failed: KeyError: 'column'")

    def test_records_before_an_error_come_before_it(
        self, scripted: Scripted, settings: MakeSettings, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(poll_source, "_BATCH_ROWS", 1)
        scripted(records(1), ValueError("bad"))
        assert [row["topic"] for row in run_poller(settings())] == ["t", None]

    def test_an_error_of_start_becomes_the_only_row(self, scripted: Scripted, settings: MakeSettings) -> None:
        scripted()
        assert isinstance(self.error(settings(NoStart)), RetriableError)

    def test_a_schema_that_was_not_declared_becomes_the_last_row(
        self, scripted: Scripted, settings: MakeSettings
    ) -> None:
        scripted([SourceRecord(PARTITION, {"n": 1}, "t", 1.5, INT64_SCHEMA)], None)
        assert "did not declare" in str(self.error(settings()))

    def test_an_error_of_the_constructor_becomes_the_only_row(self, settings: MakeSettings) -> None:
        assert "no driver" in str(self.error(settings(NoConstructor)))

    def test_a_second_attempt_is_left_to_the_next_run(
        self, scripted: Scripted, settings: MakeSettings, spark_task: TaskContext
    ) -> None:
        """Its offsets were read before the first attempt, which may have committed since."""
        calls = scripted(records(1))
        spark_task._attemptNumber = 1
        assert (type(self.error(settings())), calls) == (RetriableError, [])

    def test_a_run_without_errors_has_none(self, scripted: Scripted, settings: MakeSettings) -> None:
        scripted(records(1, 2), None)
        assert [row["error"] for row in run_poller(settings(stop_timeout_s=0.0))] == [None, None]


def row_of(record: SourceRecord, shapes: RecordShapes = SHAPES, headers: HeaderStage = RAW) -> dict[str, Any]:
    rows: list[dict[str, Any]] = _arrow(_columns(shapes), shapes, [record], headers).to_pylist()
    (row,) = rows
    return row


class TestArrow:
    @pytest.mark.parametrize(
        ("changed", "column", "expected"),
        [
            pytest.param({}, "topic", "t", id="topic"),
            pytest.param({}, "partition", None, id="no partition"),
            pytest.param({"kafka_partition": 3}, "partition", 3, id="partition"),
            pytest.param({}, "timestamp", None, id="no timestamp"),
            pytest.param({"timestamp": 0}, "timestamp", 0, id="the first timestamp"),
            pytest.param({}, "headers", None, id="no headers"),
            pytest.param(
                {"headers": (("h", b"\xff"), ("h", None))},
                "headers",
                [{"key": "h", "value": b"\xff"}, {"key": "h", "value": None}],
                id="headers",
            ),
            pytest.param({"source_partition": None}, "source_partition", None, id="no source partition"),
            pytest.param({"source_offset": None}, "source_offset", None, id="no source offset"),
            pytest.param({}, "error", None, id="no error"),
        ],
    )
    def test_column(self, changed: dict[str, Any], column: str, expected: Any) -> None:
        fields = {"source_partition": PARTITION, "source_offset": {"n": 1}, "topic": "t", "value": None}
        assert row_of(SourceRecord(**{**fields, **changed}))[column] == expected

    @pytest.mark.parametrize(("column", "expected"), [("source_partition", PARTITION), ("source_offset", {"n": 1})])
    def test_source_partition_and_offset_are_json(self, column: str, expected: dict[str, Any]) -> None:
        assert json.loads(row_of(SourceRecord(PARTITION, {"n": 1}, "t", None))[column]) == expected

    def test_every_column_is_declared(self) -> None:
        expected = [
            "topic",
            "partition",
            "timestamp",
            "headers",
            "key_tag",
            "key_0",
            "key_1",
            "value_tag",
            "value_0",
            "value_1",
            "value_2",
            "source_partition",
            "source_offset",
            "error",
        ]
        assert _columns(SHAPES).names == expected

    def test_an_error_batch_has_the_same_columns(self) -> None:
        assert _error_batch(_columns(SHAPES), DataError("bad")).schema == _columns(SHAPES)

    def test_no_records_are_an_empty_batch(self) -> None:
        assert _arrow(_columns(SHAPES), SHAPES, [], RAW).num_rows == 0


class TestHeaders:
    SIMPLE = HeaderStage.of(SimpleHeaderConverter({}, is_key=False))

    def row(self, stage: HeaderStage, *values: Any) -> dict[str, Any]:
        headers = tuple(("h", value) for value in values)
        return row_of(SourceRecord(None, None, "t", None, headers=headers), headers=stage)

    def test_values_are_written_by_the_header_converter(self) -> None:
        row = self.row(self.SIMPLE, 5, "x", [1, True], date(2020, 1, 2))
        assert [cell["value"] for cell in row["headers"]] == [b"5", b"x", b"[1,true]", b"2020-01-02"]
        assert row["error"] is None

    def test_bytes_and_none_pass_as_they_are(self) -> None:
        row = self.row(self.SIMPLE, b"\xff", None)
        assert [cell["value"] for cell in row["headers"]] == [b"\xff", None]

    def test_what_cannot_be_written_is_an_error_of_the_record(self) -> None:
        error = record_error(self.row(RAW, b"x", 5)["error"])
        assert error is not None
        assert (error.stage, error.executing) == ("HEADER_CONVERTER", RAW.executing)
        assert "not compatible with objects of type int" in error.message


class TestPart:
    """The tagged union: the last shape is schemaless."""

    DECLARED = (Shape(STRING_SCHEMA), Shape(POINT))

    @pytest.mark.parametrize(
        ("schema", "value", "tag", "cells"),
        [
            pytest.param(None, None, None, (None, None, None), id="nothing at all"),
            pytest.param(STRING_SCHEMA, "x", 0, ("x", None, None), id="first shape"),
            pytest.param(POINT, {"x": 1}, 1, (None, {"x": 1}, None), id="second shape"),
            pytest.param(STRING_SCHEMA, None, 0, (None, None, None), id="null with a schema"),
            pytest.param(None, {"a": [1]}, 2, (None, None, json.dumps({"a": [1]})), id="schemaless object"),
            pytest.param(None, "x", 2, (None, None, '"x"'), id="schemaless text"),
            pytest.param(None, 0, 2, (None, None, "0"), id="schemaless zero"),
            pytest.param(None, False, 2, (None, None, "false"), id="schemaless false"),
        ],
    )
    def test_one_row(self, schema: Any, value: Any, tag: int | None, cells: tuple[Any, ...]) -> None:
        found = _part("value", self.DECLARED, [(schema, value)])
        assert (found["value_tag"], *(found[f"value_{n}"] for n in range(3))) == ([tag], *([cell] for cell in cells))

    def test_rows_keep_their_order(self) -> None:
        found = _part("value", self.DECLARED, [(STRING_SCHEMA, "a"), (None, 1), (STRING_SCHEMA, "b")])
        assert found["value_0"] == ["a", None, "b"]

    def test_an_equal_schema_is_the_declared_one(self) -> None:
        assert _part("value", self.DECLARED, [(struct(("x", INT64_SCHEMA)), {"x": 1})])["value_tag"] == [1]

    @pytest.mark.parametrize(
        "schema",
        [INT64_SCHEMA, STRING_SCHEMA.as_optional(), struct(("y", INT64_SCHEMA))],
        ids=["type", "optional", "field"],
    )
    def test_another_schema_is_an_error(self, schema: Any) -> None:
        with pytest.raises(DataError, match="a record's key has a schema that the connector did not declare"):
            _part("key", self.DECLARED, [(schema, None)])
