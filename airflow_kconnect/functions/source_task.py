"""The task of a function: calls it for each of its partitions, and makes records of what it yields."""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from airflow_kconnect.connect.connector.source import Offset
from airflow_kconnect.connect.connector.task import NewShapes, SourceTask
from airflow_kconnect.connect.data import ConnectSchema
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.converters.json.schemas import from_json_schema, schema_text
from airflow_kconnect.functions.failures import UNAVAILABLE, failure, short
from airflow_kconnect.functions.inference import Misfit, Writer, inferred, widened, writer_of
from airflow_kconnect.functions.parameters import arguments
from airflow_kconnect.functions.positions import Position, State, StatePosition
from airflow_kconnect.functions.schemas import is_data_class, plain
from airflow_kconnect.functions.source_spec import INFERRED, Record, SourceSpec

SHAPES, PARTITIONS = "kconnect.function.shapes", "kconnect.function.partitions"
"""Keys of a task's configuration: the schema of values so far, and which partitions it reads; both are JSON."""

_POLL_RECORDS, _POLL_S = 500, 0.5
_LOOK_AHEAD_RECORDS, _LOOK_AHEAD_S = 1000, 1.0


@dataclass(frozen=True)
class FunctionTasks:
    """Creates the tasks of a function; pickled."""

    spec: SourceSpec

    @property
    def __name__(self) -> str:
        return self.spec.name

    def __call__(self) -> SourceTask:
        return FunctionTask(self.spec)


class _Wider(Exception):
    """A record needs a wider schema."""

    def __init__(self, schema: ConnectSchema | None) -> None:
        super().__init__()
        self.schema = schema


class FunctionTask(SourceTask):
    """Calls the function for each of its partitions, one after the other, and yields what is new."""

    def __init__(self, spec: SourceSpec) -> None:
        self._spec = spec
        self._write: Writer | None = None
        self._value: ConnectSchema | None = None
        self._key: ConnectSchema | None = None
        self._partitions: list[str | None] = []
        self._reached: dict[str | None, Offset] = {}
        self._records: Iterator[SourceRecord] = iter(())

    def start(self, props: Mapping[str, str]) -> None:
        spec = self._spec
        values = spec.config().parse(props)
        self._topic: str = values["topic"]
        self._arguments = arguments(spec.parameters, values)
        self._value = from_json_schema(json.loads(props[SHAPES]))
        self._key = spec.key_schema(self._value)
        if spec.schema == INFERRED and self._value is not None:
            self._write = writer_of(self._value)
        self._partitions = json.loads(props[PARTITIONS])
        self._records = self._all()

    def poll(self) -> Sequence[SourceRecord] | None:
        until, found = time.monotonic() + _POLL_S, []
        try:
            for record in self._records:
                found.append(record)
                if len(found) == _POLL_RECORDS or time.monotonic() >= until:
                    return found
        except Exception as error:
            if found:
                self._records = _raising(error)  # once these are on their way
                return found
            self._records = self._all()  # for a poll that is repeated
            if isinstance(error, UNAVAILABLE):
                raise failure(self._spec.name, error) from error
            raise
        return found or None

    def stop(self) -> None:
        """A generator that is not at its end gets a chance to close what it has opened."""
        close = getattr(self._records, "close", None)
        if close is not None:
            close()

    def _all(self) -> Iterator[SourceRecord]:
        """What is new: after the committed offsets, and after what this task has returned already."""
        for partition in self._partitions:
            source_partition = self._spec.source_partition(partition)
            position = self._spec.position(self._reached.get(partition) or self.context.offset(source_partition))
            with _closed(self._called(position, partition)) as yielded:
                for record in self._records_of(yielded, position):
                    value = plain(record.value)
                    aside = tuple(each for each in (record.key, record.topic) if each is not None)
                    offset = position.offset_after(value if isinstance(value, Mapping) else {}, aside=aside)
                    if offset is None:
                        continue
                    try:
                        new = self._source_record(record, value, source_partition, offset or None)
                    except _Wider as found:
                        raise self._new_shapes(found.schema, yielded) from None
                    self._reached[partition] = offset
                    yield new

    def _records_of(self, yielded: Iterator[Any], position: Position) -> Iterator[Record]:
        """Without the states among them, which the position enters."""
        for item in yielded:
            if isinstance(item, State):
                self._enter(position, item)
            else:
                yield item if isinstance(item, Record) else Record(item)

    def _called(self, position: Position, partition: str | None) -> Iterator[Any]:
        given = {**position.arguments(), "partition": partition}
        wanted = inspect.signature(self._spec.function).parameters
        own = {name: value for name, value in given.items() if name in wanted and not _has_default(wanted[name], value)}
        result = self._spec.function(**self._arguments, **own)
        if hasattr(result, "__aiter__"):
            return _in_order(aiter(result))
        if isinstance(result, str | bytes | Mapping) or is_data_class(type(result)):  # its parts would be records
            raise DataError(f"{self._spec.name} returns one {type(result).__name__}: yield records, or return a list")
        return iter(result if result is not None else ())

    def _enter(self, position: Position, state: State) -> None:
        if not isinstance(position, StatePosition):
            raise DataError(f"{self._spec.name} yields a State, and has no parameter `state` that gets it back")
        position.enter(state)

    def _new_shapes(self, schema: ConnectSchema | None, following: Iterator[Any]) -> NewShapes:
        """What a record and some that follow have, which the next task will get again."""
        until = time.monotonic() + _LOOK_AHEAD_S
        with suppress(Exception):  # the next task gets there, and has sent by then what comes before it
            for _, item in zip(range(_LOOK_AHEAD_RECORDS), following, strict=False):
                if time.monotonic() >= until:
                    break
                if not isinstance(item, State):
                    item = item.value if isinstance(item, Record) else item
                    with suppress(DataError):
                        schema = wider(schema, inferred(plain(item), self._spec.name))
        return NewShapes({"source": self._spec.name, "value": schema_text(schema)})

    def _source_record(
        self, record: Record, value: Any, partition: Mapping[str, Any], offset: Mapping[str, Any] | None
    ) -> SourceRecord:
        key = record.key if record.key is not None else self._key_of(value)
        return SourceRecord(
            source_partition=partition if offset else None,
            source_offset=offset,
            topic=record.topic or self._topic,
            value=self._written(value),
            value_schema=None if value is None else self._value,
            key=key,
            key_schema=None if key is None else self._key,
            timestamp=record.timestamp if record.timestamp is not None else self._timestamp_of(value),
            headers=record.headers,
        )

    def _written(self, value: Any) -> Any:
        """The value as its schema has it; in place of one that has no place there, why.

        :raises _Wider: the schema is inferred, and would have to be another one.
        """
        if self._spec.schema != INFERRED or value is None:
            return value
        try:
            if self._write is not None:
                return self._write(value)
        except Misfit:
            pass
        try:
            schema = widened(self._value, inferred(value, self._spec.name), "the value")
        except DataError as error:
            cure = f"Say which types there are, or that there is no schema: {self._spec.schema_given_by}"
            return DataError(f"{error}. {cure}")
        if schema != self._value:
            raise _Wider(schema)
        return value

    def _key_of(self, value: Any) -> Any:
        fields = self._spec.key
        if not fields or not isinstance(value, Mapping):
            return None
        missing = [field for field in fields if value.get(field) is None]
        if missing:
            raise DataError(f"{self._spec.name}: a record has no `{missing[0]}`, which is its key: {short(value)}")
        return value[fields[0]] if len(fields) == 1 else {field: value[field] for field in fields}

    def _timestamp_of(self, value: Any) -> int | None:
        field = self._spec.timestamp
        time_: Any = value.get(field) if field and isinstance(value, Mapping) else None
        if isinstance(time_, datetime):  # one without a zone is UTC, as in the value
            time_ = int((time_ if time_.tzinfo else time_.replace(tzinfo=UTC)).timestamp() * 1000)
        return cast("int | None", time_)


def _has_default(parameter: inspect.Parameter, value: Any) -> bool:
    """Whether the function itself says what it begins with."""
    return value is None and parameter.default is not parameter.empty


def wider(schema: ConnectSchema | None, found: ConnectSchema | None) -> ConnectSchema | None:
    """Records that contradict what is known are errors of their own later."""
    try:
        return widened(schema, found, "the value")
    except DataError:
        return schema


@contextmanager
def _closed(yielded: Iterator[Any]) -> Iterator[Iterator[Any]]:
    """What a function yields; at the end a generator closes what it has opened, and does not wait to be collected."""
    try:
        yield yielded
    finally:
        close = getattr(yielded, "close", None)
        if close is not None:
            close()


def _raising(error: Exception) -> Iterator[SourceRecord]:
    """Raises when it is asked for a record."""
    yield from ()
    raise error


def _in_order(items: AsyncIterator[Any]) -> Iterator[Any]:
    """What an async generator yields."""
    loop = asyncio.new_event_loop()
    try:
        while True:
            try:
                yield loop.run_until_complete(anext(items))
            except StopAsyncIteration:
                return
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
