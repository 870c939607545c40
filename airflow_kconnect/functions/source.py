"""`@source`: a function that yields records becomes a source connector."""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, partial
from typing import Any, ClassVar, cast, get_args, get_origin

from airflow_kconnect.connect.config import ConfigDef, Importance, NonEmptyString, Type
from airflow_kconnect.connect.connector.source import (
    ExactlyOnceSupport,
    Offset,
    PollSourceConnector,
    RecordShapes,
)
from airflow_kconnect.connect.connector.task import NewShapes, SourceTask
from airflow_kconnect.connect.data import ConnectSchema, Field, SchemaType, Shape
from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError, RetriableError, named
from airflow_kconnect.connect.record import Headers, SourceRecord
from airflow_kconnect.converters.json.schemas import from_json_schema, schema_text
from airflow_kconnect.functions.decorated import Decorated, decorated
from airflow_kconnect.functions.inference import Misfit, Writer, inferred, widened, writer_of
from airflow_kconnect.functions.parameters import (
    Parameter,
    arguments,
    define,
    hints_of,
    parameters_of,
)
from airflow_kconnect.functions.positions import CursorPosition, NoPosition, Position, State, StatePosition
from airflow_kconnect.functions.schemas import NoSchema, is_data_class, plain, schema_of

INFERRED = "inferred"

_GIVEN = ("cursor", "state", "partition")
_SHAPES, _PARTITIONS = "kconnect.function.shapes", "kconnect.function.partitions"
_POLL_RECORDS, _POLL_S = 500, 0.5
_LOOK_AHEAD_RECORDS, _LOOK_AHEAD_S = 1000, 1.0
_UNAVAILABLE = (ConnectionError, TimeoutError)


@dataclass(frozen=True)
class Record:
    """Yielded in place of a dict by a function that says more about a record than its value.

    :param value: the record; None is a tombstone.
    :param key: None: made from the value, as the decorator says. :param topic: None: that of the connector.
    :param timestamp: ms since the epoch; None: as the decorator says, or now.
    :param headers: (name, value) pairs.
    """

    value: Any
    key: Any = None
    topic: str | None = None
    timestamp: int | None = None
    headers: Headers = ()


@dataclass(frozen=True)
class SourceSpec:
    """What a decorator was told about a function.

    :param schema: of values; INFERRED, or None: schemaless.
    :param schema_given_by: how another schema can be given, for errors.
    """

    function: Callable[..., Any]
    topic: str
    key: tuple[str, ...]
    cursor: tuple[str, ...]
    timestamp: str | None
    schema: ConnectSchema | str | None
    partitions: Callable[..., Iterable[str]] | None = None
    parameters: tuple[Parameter, ...] = ()
    schema_given_by: str = "@source(schema=...)"

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def has_state(self) -> bool:
        return "state" in inspect.signature(self.function).parameters

    def position(self, offset: Offset | None) -> Position:
        """Where a run of the function resumes."""
        if self.cursor:
            unique = bool(self.key) and set(self.key) <= set(self.cursor)
            return CursorPosition(self.name, self.cursor, offset, unique=unique)
        return StatePosition(self.name, offset) if self.has_state else NoPosition()

    def source_partition(self, partition: str | None) -> dict[str, Any]:
        """The source partition of one of `partitions`, or of the function as a whole."""
        return {"source": self.name} | ({} if partition is None else {"partition": partition})

    def key_schema(self, value: ConnectSchema | None) -> ConnectSchema | None:
        """That of the key's only field, or a struct of its fields; None: schemaless."""
        fields = [value.field(name) if value else None for name in self.key]
        known = [Field(field.name, replace(field.schema, optional=False)) for field in fields if field]
        if not known or len(known) < len(fields):
            return None
        return known[0].schema if len(known) == 1 else ConnectSchema(SchemaType.STRUCT, fields=tuple(known))


def source(
    function: Callable[..., Any] | None = None,
    *,
    topic: str | None = None,
    key: str | Sequence[str] = (),
    cursor: str | Sequence[str] = (),
    timestamp: str | None = None,
    schema: Any = INFERRED,
    partitions: Callable[..., Iterable[str]] | None = None,
) -> Any:
    """Make a source connector of a function that yields records: dicts, or objects of a data class.

    The parameters of the function are the connector's keys: their types, defaults and texts in the docstring are those
    of the keys. Three names are not keys: `cursor` is what the last record that was sent has in its cursor, `state` a
    dict that is kept between runs, `partition` one of `partitions`.

    The function yields what is there now, and ends. It runs in one process of the job, or in one per partition, which
    may be on an executor: what it uses must be there.

    :param topic: the default of the key `topic`; without it, the name of the function.
    :param key: the field, or fields, of a record's key. One field is a plain key, several are a struct.
    :param cursor: the field, or fields, that say where a record is. Records come in their ascending order. What earlier
        runs have sent is skipped, so the function may ignore the parameter `cursor`, and yield more than is new.
    :param timestamp: the field with the time of a record, a `datetime` or ms since the epoch.
    :param schema: of the values: a dataclass, TypedDict, NamedTuple or pydantic model, or a `ConnectSchema`; None: they
        have none. Without it, what the function is annotated to yield counts; if that says nothing, the schema is
        inferred from the records, kept between runs, and widened when a record has more.
    :param partitions: a function that names independent parts of the source, such as tenants, each with a cursor or
        state of its own. It may have parameters of `function`. Tasks share the partitions: up to `tasks.max` at once.
    :raises TypeError: the function cannot be a connector.
    """

    def decorate(function: Callable[..., Any]) -> Decorated:
        spec = SourceSpec(
            function=function,
            topic=topic or function.__name__,
            key=_names(key),
            cursor=_names(cursor),
            timestamp=timestamp,
            schema=_schema(function, schema),
            partitions=partitions,
            parameters=parameters_of(function, _GIVEN),
        )
        _check(spec)
        made: Decorated = decorated(function, FunctionSourceConnector, spec)
        return made

    return decorate if function is None else decorate(function)


def _names(fields: str | Sequence[str]) -> tuple[str, ...]:
    return (fields,) if isinstance(fields, str) else tuple(fields)


def _check(spec: SourceSpec) -> None:
    if inspect.iscoroutinefunction(spec.function):
        raise TypeError(f"{spec.name}: an `async` function has to yield its records")
    own = set(inspect.signature(spec.function).parameters)
    if "state" in own and spec.cursor:
        raise TypeError(f"{spec.name}: it has a cursor and a state: resume by one of them")
    if "cursor" in own and not spec.cursor:
        raise TypeError(f'{spec.name}: say which field its parameter `cursor` is: @source(cursor="updated_at")')
    wanted = inspect.signature(spec.partitions).parameters if spec.partitions else ()
    if unknown := set(wanted) - {each.name for each in spec.parameters}:
        raise TypeError(f"{spec.name}: its partitions want `{min(unknown)}`, which it does not have")
    if "partition" in own and spec.partitions is None:
        raise TypeError(f"{spec.name}: say which partitions there are: @source(partitions=...)")


def _schema(function: Callable[..., Any], given: Any) -> ConnectSchema | str | None:
    """The schema of what the function yields.

    :raises TypeError: the type that was given has no schema.
    """
    if given is None or isinstance(given, ConnectSchema):
        return given
    if given != INFERRED:
        return schema_of(given)
    hint = hints_of(function).get("return")
    for member in get_args(hint) if get_origin(hint) is not None else ():
        if isinstance(member, type) and is_data_class(member) and member is not Record:
            try:
                return schema_of(member)
            except NoSchema as error:
                raise TypeError(f"{function.__name__} yields {member.__name__}: {error}") from error
    return INFERRED


def _config(spec: SourceSpec) -> ConfigDef:
    config = ConfigDef().define(
        "topic", Type.STRING, spec.topic, Importance.HIGH, "The topic to write to.", validator=NonEmptyString()
    )
    return define(config, spec.parameters)


class FunctionSourceConnector(PollSourceConnector):
    """What `@source` makes of a function; `spec` is in a subclass for each."""

    spec: ClassVar[SourceSpec]

    def __init__(self, props: Mapping[str, str]) -> None:
        super().__init__(props)
        self._spec = self.spec_of(self.props)
        self._value = self._spec.schema if isinstance(self._spec.schema, ConnectSchema) else None

    @classmethod
    def spec_of(cls, props: Mapping[str, str]) -> SourceSpec:
        """The function of a configuration, which is valid."""
        return cls.spec

    @classmethod
    def config(cls) -> ConfigDef:
        return _config(cls.spec)

    @classmethod
    def exactly_once_support(cls, props: Mapping[str, str]) -> ExactlyOnceSupport:
        spec = cls.spec_of(props)
        identifies = bool(spec.cursor) or spec.has_state
        return ExactlyOnceSupport.SUPPORTED if identifies else ExactlyOnceSupport.UNSUPPORTED

    @classmethod
    def alter_offsets(
        cls, props: Mapping[str, str], offsets: Sequence[tuple[Mapping[str, Any], Offset | None]]
    ) -> bool:
        cls.refuse_wrong_offsets(props, offsets, partial(_offset_problems, cls.spec_of(props)))
        return True

    def task_class(self) -> Callable[[], SourceTask]:
        return FunctionTasks(self._spec)

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        value = schema_text(self._value)
        partitions = self._partitions
        count = min(max_tasks, len(partitions))
        own = (partitions[n::count] for n in range(count))
        return [{**self.props, _SHAPES: value, _PARTITIONS: json.dumps(each)} for each in own]

    @cached_property
    def _partitions(self) -> list[str | None]:
        """Asked for once in a run: its tasks are planned, and started later.

        :raises ConfigError: there are none. :raises DataError, RetriableError: the function fails.
        """
        if self._spec.partitions is None:
            return [None]
        wanted = inspect.signature(self._spec.partitions).parameters
        given = arguments(self._spec.parameters, self.config_values)
        try:
            found = [str(each) for each in self._spec.partitions(**{name: given[name] for name in wanted})]
        except ConnectError:
            raise
        except Exception as error:
            kind = RetriableError if isinstance(error, _UNAVAILABLE) else DataError
            raise kind(f"partitions of {self._spec.name}: {named(error)}") from error
        if not found:
            raise ConfigError({"connector.class": [f"{self._spec.name} has no partitions"]}, self.props.get("name"))
        return list(dict.fromkeys(found))

    def learn(self, known: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        if self._spec.schema != INFERRED or not known:
            return {}
        schema: ConnectSchema | None = None
        for facts in known:
            if facts.get("source", self._spec.name) == self._spec.name:  # not of another, which had the name before
                schema = _wider(schema, from_json_schema(json.loads(facts["value"])))
        self._value = schema
        return {"source": self._spec.name, "value": schema_text(schema)}

    def shapes(self) -> RecordShapes:
        if self._value is None:
            return RecordShapes()
        key = self._spec.key_schema(self._value)
        return RecordShapes((Shape(key),) if key else (), (Shape(self._value),))


def _offset_problems(spec: SourceSpec, partition: Mapping[str, Any], offset: Offset) -> list[str]:
    name, wanted = spec.name, set(spec.cursor) or {"state"}
    if partition.get("source") != name:
        return [f'{json.dumps(dict(partition))} is not a source partition of {name}: {{"source": "{name}"}}']
    newest = {f"newest.{field}" for field in wanted}
    if set(offset) <= {*wanted, *newest, "sent"} and (wanted <= set(offset) or newest <= set(offset)):
        return []
    return [f"{json.dumps(offset)} is not an offset of {name}: it has {', '.join(sorted(wanted))}"]


@dataclass(frozen=True)
class FunctionTasks:
    """Creates the tasks of a function; pickled."""

    spec: SourceSpec

    @property
    def __name__(self) -> str:
        return self.spec.name

    def __call__(self) -> SourceTask:
        return FunctionTask(self.spec)


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
        values = _config(spec).parse(props)
        self._topic: str = values["topic"]
        self._arguments = arguments(spec.parameters, values)
        self._value = from_json_schema(json.loads(props[_SHAPES]))
        self._key = spec.key_schema(self._value)
        if spec.schema == INFERRED and self._value is not None:
            self._write = writer_of(self._value)
        self._partitions = json.loads(props[_PARTITIONS])
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
            if isinstance(error, _UNAVAILABLE):
                raise RetriableError(f"{self._spec.name}: {named(error)}") from error
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
                    if self._is_misfit(value):
                        raise self._new_shapes(value, yielded)
                    new = self._source_record(record, value, source_partition, offset or None)
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

    def _is_misfit(self, value: Any) -> bool:
        """Whether the value, with an inferred schema, needs another one."""
        if self._spec.schema != INFERRED or value is None:
            return False
        try:
            if self._write is not None:
                self._write(value)
                return False
        except Misfit:
            pass
        try:
            found = inferred(value, self._spec.name)
            return found is not None and widened(self._value, found, "the value") != self._value
        except DataError:
            return False  # an error of this record alone

    def _new_shapes(self, value: Any, following: Iterator[Any]) -> NewShapes:
        """What this record and some that follow have, which the next task will get again."""
        schema = widened(self._value, inferred(value, self._spec.name), "the value")
        until = time.monotonic() + _LOOK_AHEAD_S
        with suppress(Exception):  # the next task gets there, and has sent by then what comes before it
            for _, item in zip(range(_LOOK_AHEAD_RECORDS), following, strict=False):
                if time.monotonic() >= until:
                    break
                if not isinstance(item, State):
                    item = item.value if isinstance(item, Record) else item
                    with suppress(DataError):
                        schema = _wider(schema, inferred(plain(item), self._spec.name))
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
        """The value as its schema has it; in place of one that has no place there, why."""
        if self._spec.schema != INFERRED or value is None:
            return value
        try:
            if self._write is not None:
                return self._write(value)
        except Misfit:
            pass
        try:
            widened(self._value, inferred(value), "the value")
        except DataError as error:
            cure = f"Say which types there are, or that there is no schema: {self._spec.schema_given_by}"
            return DataError(f"{error}. {cure}")
        return value

    def _key_of(self, value: Any) -> Any:
        fields = self._spec.key
        if not fields or not isinstance(value, Mapping):
            return None
        missing = [field for field in fields if value.get(field) is None]
        if missing:
            raise DataError(f"{self._spec.name}: a record has no `{missing[0]}`, which is its key: {str(value)[:200]}")
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


def _wider(schema: ConnectSchema | None, found: ConnectSchema | None) -> ConnectSchema | None:
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
