"""The first stage of a poll source: a `SourceTask` for each split, which yields Arrow batches of records."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from airflow_kconnect.connect.connector.source import Offset, RecordShapes
from airflow_kconnect.connect.connector.task import NewShapes, SourceTask, SourceTaskContext, TransactionContext
from airflow_kconnect.connect.data import SCHEMALESS, ConnectSchema, Shape
from airflow_kconnect.connect.error_cells import DROPPED, END, PADDING, error_cell, stage_prefix
from airflow_kconnect.connect.errors import ConnectError, DataError, RetriableError, in_one_line, named
from airflow_kconnect.connect.frame import BatchFrame, RecordFrame, Union
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.converters import cells
from airflow_kconnect.runs.end import Left
from airflow_kconnect.runtime.conversion.header_stage import RAW, HeaderStage
from airflow_kconnect.runtime.retries import NO_RETRIES, Retries
from airflow_kconnect.runtime.source.acknowledgements import AckReader, NothingCommitted
from airflow_kconnect.runtime.source.retried_poll import RetriedPoll
from airflow_kconnect.runtime.source.together import Together
from airflow_kconnect.runtime.source.transactions import AbortedRecord, Transactions
from airflow_kconnect.runtime.source.variants import with_variants

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger("kconnect.source")

_BATCH_ROWS = 5000
_HAND_ON_S = 1.0
_HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
_CARRIED = ("source_partition", "source_offset", "error")


@dataclass(frozen=True)
class PollSettings:
    """What the polling ends share; pickled into the tasks.

    :param max_records: per task, or None.
    :param max_duration_s: for how long each task may poll, counted from its first poll; None: no limit.
    :param plan_id: of the run; None: the records are only read, and nothing is ever committed.
    :param stop_timeout_s: how long to wait for the final commit before `SourceTask.stop`.
    :param headers: writes the values of headers; otherwise they must be bytes.
    :param at_offsets: whether a bound may end the task only after records with an offset.
    :param retries: of a `poll` that raises `RetriableError`.
    :param transactions: whether the tasks say where transactions end.
    """

    task_class: Callable[[], SourceTask]
    configs: tuple[Mapping[str, str], ...]
    offsets: Mapping[str, Offset]
    shapes: RecordShapes
    max_records: tuple[int | None, ...]
    max_duration_s: float | None
    plan_id: str | None
    stop_timeout_s: float
    headers: HeaderStage = RAW
    retries: Retries = NO_RETRIES
    at_offsets: bool = False
    transactions: bool = False


def polled(settings: PollSettings) -> BatchFrame:
    """The records of all tasks: split n is task n. Schemaless data are JSON texts; the last shape of each part."""
    return BatchFrame(
        _Polling(settings),
        _columns(settings.shapes),
        value=_union("value", settings.shapes.values),
        key=_union("key", settings.shapes.keys),
        topic="topic",
        timestamp="timestamp",
        headers="headers",
        partition="partition",
        carried=_CARRIED,
    )


def poll_frame(spark: SparkSession, settings: PollSettings) -> RecordFrame:
    """The same as a frame of Spark: partition n is task n."""
    from pyspark.sql.pandas.types import from_arrow_schema

    frame, tasks = polled(settings), len(settings.configs)
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", str(_BATCH_ROWS))  # what `_padding` fills
    rows = spark.range(0, tasks, 1, tasks).mapInArrow(_poller(settings), from_arrow_schema(frame.schema))
    return frame.over(with_variants(rows, frame.key.columns[-1:], frame.value.columns[-1:]))


def _union(part: str, declared: tuple[Shape, ...]) -> Union:
    shapes = (*declared, SCHEMALESS)
    return Union(shapes, tuple(f"{part}_{n}" for n in range(len(shapes))), f"{part}_tag")


_NEW_SHAPES = "new shapes: "


def of_new_shapes(found: NewShapes) -> str:
    """What ends a task that has found shapes, for the driver."""
    return _NEW_SHAPES + json.dumps(found.facts)


def new_shapes(bound: str | None) -> dict[str, Any] | None:
    """The facts of a task that has ended so; None if it has not."""
    if bound is None or not bound.startswith(_NEW_SHAPES):
        return None
    facts: dict[str, Any] = json.loads(bound.removeprefix(_NEW_SHAPES))
    return facts


def name_of(task_class: Callable[[], SourceTask]) -> str:
    """What errors call a task: the name of its class."""
    return getattr(task_class, "__name__", type(task_class).__name__)


def _columns(shapes: RecordShapes) -> pa.Schema:
    from airflow_kconnect.converters.types import arrow_type

    fields: list[tuple[str, pa.DataType]] = [
        ("topic", pa.string()),
        ("partition", pa.int32()),
        ("timestamp", pa.int64()),
        ("headers", _HEADERS),
    ]
    for part, declared in (("key", shapes.keys), ("value", shapes.values)):
        fields.append((f"{part}_tag", pa.int32()))
        fields += [(f"{part}_{n}", arrow_type(shape.schema)) for n, shape in enumerate(declared) if shape.schema]
        fields.append((f"{part}_{len(declared)}", pa.string()))
    return pa.schema(fields + [(name, pa.string()) for name in _CARRIED])


def _poller(settings: PollSettings) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def poll(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        for _ in batches:
            pass
        context = TaskContext.get()
        assert context is not None
        try:
            _refuse_second_attempt(context.attemptNumber())
        except ConnectError as error:
            yield _error_batch(_columns(settings.shapes), error)
            return
        yield from _polled(settings, context.partitionId(), padded=True)

    return poll


@dataclass(frozen=True)
class _Polling:
    """Polls a task in the process that writes its records; pickled."""

    settings: PollSettings

    def __call__(self, task: int) -> Generator[pa.RecordBatch, None, None]:
        return _polled(self.settings, task, padded=False)


def _polled(settings: PollSettings, index: int, *, padded: bool) -> Generator[pa.RecordBatch, None, None]:
    """The batches of a task.

    :param padded: whether they pass through Spark, see `_padding`.
    """
    columns, name = _columns(settings.shapes), name_of(settings.task_class)
    try:
        task = _HostedTask(settings, index)
        for records in task.batches():
            if records:
                yield _arrow(columns, settings.shapes, records, settings.headers, name)
            elif padded:
                yield from _padding(columns)
        if task.bound is not None:
            yield _batch_of_cell(columns, f"{END}{task.bound}")
    except ConnectError as error:
        yield _error_batch(columns, error)
    except Exception as error:  # the task is the user's code: any error it raises is the run's result
        yield _error_batch(columns, DataError(f"{name} of task {index} failed: {named(error)}"))


def _refuse_second_attempt(attempt: int) -> None:
    """The offsets passed to this task were read before the first attempt, which may have committed since."""
    if attempt > 0:
        raise RetriableError("Spark started a polling task again after it died; the next run resumes from its offsets")


class _HostedTask:
    """Calls a `SourceTask` according to its contract.

    When the task has caught up, its last records are still on their way to Kafka: a thread of this process waits for
    the final commit, then stops the task. The writing end waits for that. Where nothing is committed, it is stopped at
    once.
    """

    def __init__(self, settings: PollSettings, index: int) -> None:
        self._settings, self._index = settings, index
        self._acks = NothingCommitted() if settings.plan_id is None else AckReader(settings.plan_id, index)
        self._task = settings.task_class()
        self._context = TransactionContext() if settings.transactions else None
        self._transactions = None if self._context is None else Transactions(self._context)
        self._together = Together(settings.at_offsets)
        # Kept for `commit_record` only: a transaction may be large.
        overridden = type(self._task).commit_record is not SourceTask.commit_record
        self._called_back = overridden and settings.plan_id is not None
        self._uncommitted: deque[SourceRecord] = deque()
        self._acknowledged = 0
        self.bound: str | None = None
        """What has ended the polling before the task had caught up: a value of `Left`, or see `of_new_shapes`."""

    def batches(self) -> Generator[list[SourceRecord], None, None]:
        """The polled records, in lists; an empty list: pass on now what Spark may still hold."""
        props = self._settings.configs[self._index]
        try:
            self._task.initialize(SourceTaskContext(props, self._settings.offsets, self._context))
            self._task.start(props)
            yield from self._poll_all()
        except BaseException:
            self._stop()
            raise
        if self._settings.plan_id is None:
            self._stop()
        else:
            threading.Thread(target=self._close, name="task-close", daemon=True).start()

    def _poll_all(self) -> Iterator[list[SourceRecord]]:
        """Poll until the task has caught up, or a bound is reached."""
        left = self._settings.max_records[self._index]
        waiting: list[SourceRecord] = []
        ended: Exception | None = None
        held, handed, last_s = False, 0, time.monotonic()
        limit_s = self._settings.max_duration_s
        end_s = None if limit_s is None else last_s + limit_s
        poll = RetriedPoll(self._task, self._settings.retries, end_s)
        while True:
            try:
                polled = poll()
            except Exception as error:
                ended = error
                break
            if polled is None:
                waiting += self._taken((), left)  # the task may end a transaction without further records
                break
            taken = [] if poll.waits else self._taken(polled, left)
            left = None if left is None else max(0, left - len(taken))
            waiting += taken
            self._acknowledge()
            now = time.monotonic()
            due = now - last_s >= _HAND_ON_S or (self._transactions is not None and bool(taken))
            if waiting and (due or len(waiting) >= _BATCH_ROWS):
                yield waiting
                waiting, held, handed = [], True, handed + len(waiting)
            if due:
                # Where much is polled, later records push earlier ones through.
                if held and handed < 2 * _BATCH_ROWS:
                    yield []
                    held = False
                handed, last_s = 0, now
            if not self._is_open and (left == 0 or (end_s is not None and now >= end_s)):
                self.bound = Left.MAX_RECORDS if left == 0 else Left.MAX_DURATION
                break
        if waiting:
            yield waiting
        self._end_by(ended)

    def _end_by(self, error: Exception | None) -> None:
        """All that was polled has been passed on: what is complete is committed even if an error has ended it."""
        if isinstance(error, NewShapes):
            self.bound = of_new_shapes(error)
        elif error is not None:
            raise error
        elif self.bound is None and self._transactions is not None and self._is_open:
            self.bound = Left.HELD_BACK

    @property
    def _is_open(self) -> bool:
        """Whether the task must not be stopped by a bound now."""
        if self._transactions is None:
            return self._together.open
        return self._settings.at_offsets and self._transactions.is_open

    def _taken(self, polled: Sequence[SourceRecord], left: int | None) -> list[SourceRecord]:
        """What can be passed on, of these records or earlier ones: at most `left`, but what belongs together."""
        if self._transactions is None:
            taken = self._together.taken(polled, left)
            self._remember(taken)
            return taken
        whole: list[SourceRecord] = []
        for records, as_written in self._transactions.ended(polled):
            self._remember(records)
            whole += as_written
        return whole

    def _remember(self, records: Sequence[SourceRecord]) -> None:
        if self._called_back:
            self._uncommitted.extend(records)

    def _acknowledge(self) -> bool:
        """Call back for committed records; returns whether there will be no more."""
        committed, finished = self._acks.read()
        if committed > self._acknowledged:
            for _ in range(committed - self._acknowledged if self._called_back else 0):
                self._task.commit_record(self._uncommitted.popleft())
            self._acknowledged = committed
            self._task.commit()
        return finished

    def _close(self) -> None:
        deadline = time.monotonic() + self._settings.stop_timeout_s
        try:
            while not self._acknowledge() and time.monotonic() < deadline:
                time.sleep(0.02)
        finally:
            self._stop()

    def _stop(self) -> None:
        """What fails here changes nothing: the records are committed, or an earlier error is the one to report."""
        try:
            self._task.stop()
        except Exception as error:
            log.warning("%s could not be stopped: %s", type(self._task).__name__, named(error))
        finally:
            self._acks.stopped()


def _arrow(
    columns: pa.Schema,
    shapes: RecordShapes,
    records: Sequence[SourceRecord],
    header_stage: HeaderStage,
    executing: str = "SourceTask",
) -> pa.RecordBatch:
    """The records; each that Arrow cannot hold has an error.

    :param executing: the task's class, for errors.
    """
    headers = [header_stage.encoded_of_task(record.headers) for record in records]
    data: dict[str, list[Any]] = {
        "topic": [r.topic for r in records],
        "partition": [r.kafka_partition for r in records],
        "timestamp": [r.timestamp for r in records],
        "headers": [cell for cell, _ in headers],
        "source_partition": [_json_or_none(r.source_partition) for r in records],
        "source_offset": [_json_or_none(r.source_offset) for r in records],
        "error": [
            DROPPED if isinstance(record, AbortedRecord) else error
            for record, (_, error) in zip(records, headers, strict=True)
        ],
    }
    data |= _part("key", shapes.keys, [(r.key_schema, r.key) for r in records])
    data |= _part("value", shapes.values, [(r.value_schema, r.value) for r in records])
    arrays = {field.name: _checked(field, data, executing) for field in columns if field.name != "error"}
    arrays["error"] = pa.array(data["error"], pa.string())
    return pa.RecordBatch.from_arrays([arrays[field.name] for field in columns], schema=columns)


def _checked(field: pa.Field, data: dict[str, list[Any]], executing: str) -> pa.Array:
    """A column; values that it cannot hold are errors of their records."""
    column, errors = cells.column(data[field.name], field.type)
    for row, text in errors.items():
        part = field.name.split("_")[0] if field.name.startswith(("key_", "value_")) else field.name
        data["error"][row] = data["error"][row] or f"{stage_prefix('TASK_POLL', executing)}The {part}: {text}"
    return column


def _json_or_none(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else json.dumps(dict(value), allow_nan=False)


def _part(
    part: str, declared: tuple[Shape, ...], data: Sequence[tuple[ConnectSchema | None, Any]]
) -> dict[str, list[Any]]:
    """The tagged union: one list per shape, and the shape of each row."""
    tags = [_tag(part, declared, schema, value) for schema, value in data]
    lists: dict[str, list[Any]] = {f"{part}_tag": tags}
    for n in range(len(declared)):
        lists[f"{part}_{n}"] = [value if tag == n else None for tag, (_, value) in zip(tags, data, strict=True)]
    free = len(declared)
    lists[f"{part}_{free}"] = [
        _text(value) if tag == free else None for tag, (_, value) in zip(tags, data, strict=True)
    ]
    return lists


def _text(value: Any) -> str | DataError:
    """A value without schema as JSON, or why it is none: it is an error of its record, see `cells`."""
    try:
        return json.dumps(value, allow_nan=False)
    except (ValueError, TypeError, RecursionError) as error:
        return DataError(f"without a schema it must be JSON: {in_one_line(error)}")


def _tag(part: str, declared: tuple[Shape, ...], schema: ConnectSchema | None, value: Any) -> int | None:
    if schema is None:
        return None if value is None else len(declared)
    for n, shape in enumerate(declared):
        if shape.schema == schema:
            return n
    raise DataError(f"a record's {part} has a schema that the connector did not declare: {schema}")


def _padding(columns: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Rows that push polled records through Spark to the writer.

    Spark makes a batch for the writer only when it has all of its rows, which at ten records a second would take
    minutes, and it cannot be told to flush earlier. The second half pushes the first one out of Python's own buffer.
    """
    arrays = [
        pa.array([PADDING] * _BATCH_ROWS, field.type) if field.name == "error" else pa.nulls(_BATCH_ROWS, field.type)
        for field in columns
    ]
    batch = pa.RecordBatch.from_arrays(arrays, schema=columns)
    yield batch
    yield batch


def _error_batch(columns: pa.Schema, error: ConnectError) -> pa.RecordBatch:
    return _batch_of_cell(columns, error_cell(error))


def _batch_of_cell(columns: pa.Schema, error: str) -> pa.RecordBatch:
    only = {"error": [error]}
    arrays = [pa.array(only.get(field.name, [None]), field.type) for field in columns]
    return pa.RecordBatch.from_arrays(arrays, schema=columns)
