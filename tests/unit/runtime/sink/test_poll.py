"""A `SinkTask` as the writer of a split."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.connector.task import SinkTask, SinkTaskContext
from airflow_kconnect.connect.data import INT32_SCHEMA, SCHEMALESS, STRING_SCHEMA, Shape
from airflow_kconnect.connect.error_cells import record_error, stage_prefix
from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.connect.frame import ABSENT, Union, single
from airflow_kconnect.connect.record import SinkRecord, TopicPartition
from airflow_kconnect.converters.json.converter import JsonConverter
from airflow_kconnect.runtime.bad_records import ErrorHandling
from airflow_kconnect.runtime.conversion.header_stage import HeaderStage
from airflow_kconnect.runtime.process.progress import ProgressAddress, ProgressSender
from airflow_kconnect.runtime.sink.bad_records import DeadLetters
from airflow_kconnect.runtime.sink.delivery import Terms
from airflow_kconnect.runtime.sink.poll import TaskWriter
from airflow_kconnect.runtime.sink.writer import SinkReport, SplitSink

SPLIT = SinkSplit("t", 3, 5, 8)
QUIET = ErrorHandling("c")
LOGGED = ErrorHandling("c", tolerant=True, log=True)
PLACE = TopicPartition("t", 3)
VALUE = Union((Shape(STRING_SCHEMA), SCHEMALESS), ("value_0", "value_1"), "value_tag")
KEY = Union((Shape(INT32_SCHEMA),), ("key_0",), "key_tag")
_HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
_SCHEMA = pa.schema(
    [
        ("kafka_offset", pa.int64()),
        ("timestamp", pa.int64()),
        ("headers", _HEADERS),
        ("key_0", pa.int32()),
        ("key_tag", pa.int32()),
        ("value_0", pa.string()),
        ("value_1", pa.string()),
        ("value_tag", pa.int32()),
        ("error", pa.string()),
    ]
)


def rows(*records: dict[str, Any]) -> pa.RecordBatch:
    """Records of the split; what is not given is null, offsets count from 5."""
    empty = dict.fromkeys(_SCHEMA.names)
    return pa.RecordBatch.from_pylist(
        [{**empty, "kafka_offset": 5 + n, **row} for n, row in enumerate(records)], _SCHEMA
    )


class WritingTask(SinkTask):
    """Writes down what is called and put."""

    calls: ClassVar[list[str]] = []
    put_records: ClassVar[list[SinkRecord]] = []

    def initialize(self, context: SinkTaskContext) -> None:
        super().initialize(context)
        self.calls.append(f"initialize {' '.join(map(str, context.assignment))}")

    def start(self, props: Mapping[str, str]) -> None:
        self.calls.append(f"start {props['name']}")

    def open(self, partitions: Sequence[TopicPartition]) -> None:
        self.calls.append(f"open {' '.join(map(str, partitions))}")

    def put(self, records: Sequence[SinkRecord]) -> None:
        self.calls.append(f"put {len(records)}")
        self.put_records.extend(records)

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        self.calls.append(
            "flush " + " ".join(f"{topic_partition}@{offset}" for topic_partition, offset in offsets.items())
        )

    def close(self, partitions: Sequence[TopicPartition]) -> None:
        self.calls.append(f"close {' '.join(map(str, partitions))}")

    def stop(self) -> None:
        self.calls.append("stop")


class CarefulTask(WritingTask):
    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        return {topic_partition: offset - 1 for topic_partition, offset in offsets.items()}


class UndecidedTask(WritingTask):
    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        return {}


class EarlierTask(WritingTask):
    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        return dict.fromkeys(offsets, 0)


class ForgetfulTask(WritingTask):
    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        return None  # type: ignore[return-value]


class PausedTask(WritingTask):
    def put(self, records: Sequence[SinkRecord]) -> None:
        self.context.pause(PLACE)


class GoesBackTask(WritingTask):
    """Reports each record, and wants it again."""

    def put(self, records: Sequence[SinkRecord]) -> None:
        assert self.context.errant_record_reporter
        for record in records:
            self.context.errant_record_reporter.report(record, ValueError("bad"))
        self.context.offset({PLACE: 5})


class CatchesTask(WritingTask):
    """Reports each record, and takes no notice of what comes of it."""

    def put(self, records: Sequence[SinkRecord]) -> None:
        for record in records:
            with suppress(DataError):
                self.context.report(record, ValueError("odd"))


class NoStart(WritingTask):
    def start(self, props: Mapping[str, str]) -> None:
        raise RetriableError("unavailable")


class NoPut(WritingTask):
    def put(self, records: Sequence[SinkRecord]) -> None:
        raise ValueError("too long")


class TargetUnavailable(WritingTask):
    def put(self, records: Sequence[SinkRecord]) -> None:
        raise RetriableError("database is unavailable")


class NoFlush(WritingTask):
    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        raise OSError("disk full")


class NoClose(WritingTask):
    def close(self, partitions: Sequence[TopicPartition]) -> None:
        raise ValueError("not open")


class NoPutNoClose(TargetUnavailable):
    def close(self, partitions: Sequence[TopicPartition]) -> None:
        raise ValueError("not open")


@pytest.fixture(autouse=True)
def _fresh_notes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WritingTask, "calls", [])
    monkeypatch.setattr(WritingTask, "put_records", [])


def writer(task_class: type[SinkTask] = WritingTask, key: Union = KEY, value: Union = VALUE) -> TaskWriter:
    return TaskWriter(task_class, {"name": "sink"}, key, value)


@pytest.fixture
def opened() -> Iterator[Callable[..., TaskWriter]]:
    """`opened(TaskClass)` is a writer of the split, ready to write."""

    def make(task_class: type[SinkTask] = WritingTask, **unions: Union) -> TaskWriter:
        made = writer(task_class, **unions)
        made.open(SPLIT)
        return made

    yield make


class TestLifecycle:
    def test_callbacks_come_in_the_order_of_the_contract(self, opened: Callable[..., TaskWriter]) -> None:
        made = opened()
        made.write(rows({}, {}))
        made.write(rows({"kafka_offset": 7}))
        made.close(8)
        expected = ["initialize t-3", "start sink", "open t-3", "put 2", "put 1", "flush t-3@8", "close t-3", "stop"]
        assert WritingTask.calls == expected

    def test_the_task_flushes_each_interval(
        self, opened: Callable[..., TaskWriter], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made = opened()
        start = time.monotonic()
        for second, row in ((59, {"kafka_offset": 5}), (61, {"kafka_offset": 6}), (62, {"kafka_offset": 7})):
            monkeypatch.setattr(time, "monotonic", lambda now=start + second: now)
            made.write(rows(row))
        made.close(8)
        assert WritingTask.calls[3:-2] == ["put 1", "put 1", "flush t-3@7", "put 1", "flush t-3@8"]

    def test_after_an_error_the_task_is_closed_and_stopped(self, opened: Callable[..., TaskWriter]) -> None:
        opened().abort()
        assert WritingTask.calls[3:] == ["close t-3", "stop"]

    def test_a_task_that_failed_while_closing_is_not_closed_again(self, opened: Callable[..., TaskWriter]) -> None:
        made = opened()
        made.close(8)
        made.abort()
        assert WritingTask.calls.count("close t-3") == 1

    def test_an_abort_before_opening_does_nothing(self) -> None:
        writer().abort()
        assert WritingTask.calls == []

    def test_each_split_gets_a_new_task(self) -> None:
        made = writer()
        for _ in range(2):
            made.open(SPLIT)
            made.close(8)
        assert WritingTask.calls.count("initialize t-3") == 2


class TestSafeOffsets:
    @pytest.mark.parametrize(
        ("task_class", "safe"),
        [(WritingTask, 8), (CarefulTask, 7), (UndecidedTask, 5), (EarlierTask, 5)],
        ids=["flush", "pre_commit", "pre_commit of nothing", "pre_commit of what is committed"],
    )
    def test_close_returns_which_offset_is_safe(
        self, opened: Callable[..., TaskWriter], task_class: type[SinkTask], safe: int
    ) -> None:
        assert opened(task_class).close(8)["safe"] == safe


def test_a_record_whose_topic_was_changed_knows_where_it_was_read(opened: Callable[..., TaskWriter]) -> None:
    renamed = rows({}).append_column("topic", pa.array(["all"]))
    opened(WritingTask).write(renamed)
    (record,) = WritingTask.put_records
    assert (record.topic, record.read_topic) == ("all", "t")


class TestErrors:
    @pytest.mark.parametrize(
        ("task_class", "text"),
        [(NoPut, "NoPut failed: ValueError: too long"), (TargetUnavailable, "database is unavailable")],
        ids=["any error", "an error of ours"],
    )
    def test_of_put(self, opened: Callable[..., TaskWriter], task_class: type[SinkTask], text: str) -> None:
        made = opened(task_class)
        with pytest.raises((DataError, RetriableError), match=text):
            made.write(rows({}))

    def test_of_start_keeps_its_class(self) -> None:
        with pytest.raises(RetriableError, match="unavailable"):
            writer(NoStart).open(SPLIT)

    def test_of_flush_is_a_data_error(self, opened: Callable[..., TaskWriter]) -> None:
        with pytest.raises(DataError, match="NoFlush failed: OSError: disk full"):
            opened(NoFlush).close(8)

    def test_a_pre_commit_that_returns_nothing_is_a_data_error(self, opened: Callable[..., TaskWriter]) -> None:
        with pytest.raises(DataError, match=r"ForgetfulTask.pre_commit must return .*, and has returned None"):
            opened(ForgetfulTask).close(8)

    def test_of_close_is_a_data_error(self, opened: Callable[..., TaskWriter]) -> None:
        with pytest.raises(DataError, match="NoClose failed: ValueError: not open"):
            opened(NoClose).close(8)

    def test_after_an_error_of_close_the_task_is_stopped(self, opened: Callable[..., TaskWriter]) -> None:
        with pytest.raises(DataError):
            opened(NoClose).close(8)
        assert WritingTask.calls[-1] == "stop"


def write_split(task_class: type[SinkTask], *batches: pa.RecordBatch, errors: ErrorHandling = QUIET) -> SinkReport:
    """The split as `sink_writer` writes it; the run waits for nothing."""
    report, made = SinkReport(0, SPLIT.end), replace(writer(task_class), terms=Terms(patience_s=0))
    progress = ProgressSender(ProgressAddress("127.0.0.1", 9, "t"), 0)
    with DeadLetters(errors, {}, SPLIT) as dead_letters:
        SplitSink(SPLIT, made, report, progress, dead_letters).write(iter(batches or [rows({})]))
    return report


class TestWithinASplit:
    @pytest.mark.parametrize(
        ("task_class", "end"), [(WritingTask, 8), (CarefulTask, 7), (UndecidedTask, 5)], ids=["all", "some", "none"]
    )
    def test_offsets_are_committed_only_up_to_what_is_safe(self, task_class: type[SinkTask], end: int) -> None:
        assert write_split(task_class).end == end

    def test_bad_records_after_a_pause_are_reported_by_the_run_that_passes_them(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        bad = f"{stage_prefix('VALUE_CONVERTER', 'c')}no JSON"
        following = rows({"kafka_offset": 6, "error": bad}, {"kafka_offset": 7})
        report = write_split(PausedTask, rows({}), following, errors=LOGGED)
        assert (report.end, report.paused, report.dead_lettered, caplog.text) == (6, True, 0, "")

    @pytest.mark.parametrize("errors", [QUIET, ErrorHandling("c", log=True)], ids=["quiet", "logged"])
    def test_a_bad_record_ends_the_run_even_if_the_task_catches_the_error(self, errors: ErrorHandling) -> None:
        with pytest.raises(DataError, match=r"bad record at t-3@5: .*odd"):
            write_split(CatchesTask, rows({}), errors=errors)

    def test_counts_are_of_records_that_were_put(self) -> None:
        report = write_split(GoesBackTask, rows({}, {}), errors=LOGGED)
        assert (report.end, report.written, report.dead_lettered) == (5, 0, 2)

    @pytest.mark.parametrize("task_class", [NoPut, TargetUnavailable, NoFlush])
    def test_after_an_error_the_task_is_stopped(self, task_class: type[SinkTask]) -> None:
        with pytest.raises((DataError, RetriableError)):
            write_split(task_class)
        assert WritingTask.calls[-2:] == ["close t-3", "stop"]

    def test_a_task_that_cannot_start_is_stopped(self) -> None:
        with pytest.raises(RetriableError):
            write_split(NoStart)
        assert WritingTask.calls[-1] == "stop"

    def test_an_error_of_close_does_not_hide_the_first_one(self) -> None:
        with pytest.raises(RetriableError, match="database is unavailable"):
            write_split(NoPutNoClose)


def put(row: dict[str, Any], key: Union = KEY, value: Union = VALUE) -> SinkRecord:
    made = writer(key=key, value=value)
    made.open(SPLIT)
    made.write(rows(row))
    (record,) = WritingTask.put_records
    return record


class TestRecords:
    def test_place(self) -> None:
        record = put({})
        assert (record.topic, record.partition, record.kafka_offset) == ("t", 3, 5)

    def test_offsets_are_those_of_the_rows(self, opened: Callable[..., TaskWriter]) -> None:
        opened().write(rows({"kafka_offset": 5}, {"kafka_offset": 9}))
        assert [record.kafka_offset for record in WritingTask.put_records] == [5, 9]

    @pytest.mark.parametrize(
        ("row", "attribute", "expected"),
        [
            pytest.param({"timestamp": 1234}, "timestamp", 1234, id="timestamp"),
            pytest.param({}, "timestamp", None, id="no timestamp"),
            pytest.param({}, "headers", (), id="no headers"),
            pytest.param(
                {"headers": [{"key": "a", "value": b"\xff"}, {"key": "a", "value": None}]},
                "headers",
                (("a", b"\xff"), ("a", None)),
                id="headers keep order, doubles and nulls",
            ),
            pytest.param({"key_0": 7, "key_tag": 0}, "key", 7, id="key"),
            pytest.param({"key_0": 7, "key_tag": 0}, "key_schema", INT32_SCHEMA, id="schema of the key"),
            pytest.param({"value_tag": 0, "value_0": "x"}, "value", "x", id="value"),
            pytest.param({"value_tag": 0, "value_0": "x"}, "value_schema", STRING_SCHEMA, id="schema of the value"),
            pytest.param({"value_tag": 0}, "value", None, id="null with a schema"),
            pytest.param({"value_tag": 0}, "value_schema", STRING_SCHEMA, id="schema of a null"),
            pytest.param({"value_tag": 1, "value_1": '{"a":[1,null]}'}, "value", {"a": [1, None]}, id="schemaless"),
            pytest.param({"value_tag": 1, "value_1": "null"}, "value", None, id="schemaless JSON null"),
            pytest.param({"value_tag": 1}, "value", None, id="schemaless SQL null"),
            pytest.param({"value_tag": 1, "value_1": "1"}, "value_schema", None, id="schemaless has no schema"),
            pytest.param({}, "value", None, id="tombstone"),
            pytest.param({}, "value_schema", None, id="a tombstone has no schema"),
        ],
    )
    def test_part(self, row: dict[str, Any], attribute: str, expected: Any) -> None:
        assert getattr(put(row), attribute) == expected

    def test_a_part_that_no_record_has(self) -> None:
        record = put({"key_0": 7}, key=ABSENT)
        assert (record.key, record.key_schema) == (None, None)

    def test_a_part_that_has_the_same_shape_in_every_record(self) -> None:
        record = put({"key_0": 7}, key=single(Shape(INT32_SCHEMA), "key_0"))
        assert (record.key, record.key_schema) == (7, INT32_SCHEMA)


class TestHeaders:
    JSON = HeaderStage.of(JsonConverter({"schemas.enable": "false"}, is_key=False))
    CELLS = [{"key": "a", "value": b'{"n":[1]}'}, {"key": "b", "value": None}]
    WRONG = [{"key": "a", "value": b"1"}, {"key": "b", "value": b"{"}]

    def writer(self) -> TaskWriter:
        made = TaskWriter(WritingTask, {"name": "sink"}, KEY, VALUE, self.JSON)
        made.open(SPLIT)
        return made

    def test_values_are_read_by_the_header_converter(self) -> None:
        self.writer().write(rows({"headers": self.CELLS}))
        assert WritingTask.put_records[0].headers == (("a", {"n": [1]}), ("b", None))

    def test_what_cannot_be_read_is_an_error_of_the_record(self) -> None:
        checked = self.writer().checked(rows({"headers": self.CELLS}, {"headers": self.WRONG}, {}))
        good, wrong, without = checked.column("error").to_pylist()
        assert (good, without) == (None, None)
        error = record_error(wrong)
        assert error is not None
        assert (error.stage, error.executing) == ("HEADER_CONVERTER", self.JSON.executing)

    def test_an_earlier_error_stays(self) -> None:
        checked = self.writer().checked(rows({"headers": self.WRONG, "error": "earlier"}))
        assert checked.column("error").to_pylist() == ["earlier"]

    def test_good_batches_stay_as_they_are(self) -> None:
        batch = rows({"headers": self.CELLS})
        assert self.writer().checked(batch) is batch

    def test_wrong_headers_never_get_lost(self) -> None:
        with pytest.raises(DataError, match=r"bad record at t-3@5: HEADER_CONVERTER by .*JsonConverter"):
            self.writer().write(rows({"headers": self.WRONG}))


def test_json_of_a_thousand_levels_reaches_the_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(WritingTask, "put_records", [])
    writer = TaskWriter(WritingTask, {"name": "n"}, ABSENT, VALUE)
    writer.open(SPLIT)

    writer.write(rows({"value_1": "[" * 1_000 + "]" * 1_000, "value_tag": 1}))

    assert len(WritingTask.put_records) == 1
