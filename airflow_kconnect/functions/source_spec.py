"""What a source function says, in its signature and its decorator: keys, schema, where it resumes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, get_args, get_origin

from airflow_kconnect.connect.config import ConfigDef, Importance, NonEmptyString, Type
from airflow_kconnect.connect.connector.source import Offset
from airflow_kconnect.connect.data import ConnectSchema, Field, SchemaType
from airflow_kconnect.connect.record import Headers
from airflow_kconnect.functions.parameters import Parameter, define, hints_of
from airflow_kconnect.functions.positions import CursorPosition, NoPosition, Position, StatePosition
from airflow_kconnect.functions.schemas import NoSchema, is_data_class, schema_of

INFERRED = "inferred"
"""In place of a schema: it is found in the records."""
GIVEN = ("cursor", "state", "partition")
"""Parameters that are not keys: the engine gives them."""


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

    def config(self) -> ConfigDef:
        """The keys."""
        config = ConfigDef().define(
            "topic", Type.STRING, self.topic, Importance.HIGH, "The topic to write to.", validator=NonEmptyString()
        )
        return define(config, self.parameters)

    def check(self) -> None:
        """:raises TypeError: the function cannot be a connector."""
        if inspect.iscoroutinefunction(self.function):
            raise TypeError(f"{self.name}: an `async` function has to yield its records")
        own = set(inspect.signature(self.function).parameters)
        if "state" in own and self.cursor:
            raise TypeError(f"{self.name}: it has a cursor and a state: resume by one of them")
        if "cursor" in own and not self.cursor:
            raise TypeError(f'{self.name}: say which field its parameter `cursor` is: @source(cursor="updated_at")')
        wanted = inspect.signature(self.partitions).parameters if self.partitions else ()
        if unknown := set(wanted) - {each.name for each in self.parameters}:
            raise TypeError(f"{self.name}: its partitions want `{min(unknown)}`, which it does not have")
        if "partition" in own and self.partitions is None:
            raise TypeError(f"{self.name}: say which partitions there are: @source(partitions=...)")


def schema_yielded(function: Callable[..., Any], given: Any) -> ConnectSchema | str | None:
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
