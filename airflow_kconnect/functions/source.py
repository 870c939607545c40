"""`@source`: a function that yields records becomes a source connector."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, ClassVar, overload

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.connector.source import (
    ExactlyOnceSupport,
    Offset,
    PollSourceConnector,
    RecordShapes,
)
from airflow_kconnect.connect.connector.task import SourceTask
from airflow_kconnect.connect.data import ConnectSchema, Shape
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.converters.json.schemas import from_json_schema, schema_text
from airflow_kconnect.functions.decorated import Decorated, P, R, decorated
from airflow_kconnect.functions.failures import failure
from airflow_kconnect.functions.parameters import arguments, parameters_of
from airflow_kconnect.functions.source_spec import GIVEN, INFERRED, SourceSpec, schema_yielded
from airflow_kconnect.functions.source_task import PARTITIONS, SHAPES, FunctionTasks, wider


@overload
def source(function: Callable[P, R]) -> Decorated[P, R]: ...
@overload
def source(
    *,
    topic: str | None = None,
    key: str | Sequence[str] = (),
    cursor: str | Sequence[str] = (),
    timestamp: str | None = None,
    schema: Any = INFERRED,
    partitions: Callable[..., Iterable[str]] | None = None,
) -> Callable[[Callable[P, R]], Decorated[P, R]]: ...
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

    def decorate(function: Callable[P, R]) -> Decorated[P, R]:
        spec = SourceSpec(
            function=function,
            topic=topic or function.__name__,
            key=_names(key),
            cursor=_names(cursor),
            timestamp=timestamp,
            schema=schema_yielded(function, schema),
            partitions=partitions,
            parameters=parameters_of(function, GIVEN),
        )
        spec.check()
        return decorated(function, FunctionSourceConnector, spec)

    return decorate if function is None else decorate(function)


def _names(fields: str | Sequence[str]) -> tuple[str, ...]:
    return (fields,) if isinstance(fields, str) else tuple(fields)


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
        return cls.spec.config()

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
        return [{**self.props, SHAPES: value, PARTITIONS: json.dumps(each)} for each in own]

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
        except Exception as error:
            raise failure(f"partitions of {self._spec.name}", error) from error
        if not found:
            raise ConfigError({"connector.class": [f"{self._spec.name} has no partitions"]}, self.props.get("name"))
        return list(dict.fromkeys(found))

    def learn(self, known: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        if self._spec.schema != INFERRED or not known:
            return {}
        schema: ConnectSchema | None = None
        for facts in known:
            if facts.get("source", self._spec.name) == self._spec.name:  # not of another, which had the name before
                schema = wider(schema, from_json_schema(json.loads(facts["value"])))
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
