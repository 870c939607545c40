"""Which columns a record has, by the shapes of its key and value and ``pk.mode``. Pure rules, as Connect has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from airflow_kconnect.connect.data import INT32_SCHEMA, INT64_SCHEMA, STRING_SCHEMA, ConnectSchema, SchemaType, Shape
from airflow_kconnect.connectors.jdbc.sink.config import (
    KAFKA,
    KAFKA_COLUMNS,
    NESTED,
    NONE,
    RECORD_KEY,
    RECORD_VALUE,
    REFUSED,
    SinkSettings,
)

UPSERTED, DELETED = "u", "d"
"""What is to be done with a row."""

Source = Literal["key", "value", "topic", "partition", "offset"]


@dataclass(frozen=True)
class TableColumn:
    """A column of a table, and where its values are from.

    :param field: member of the key or value; None: the whole of it.
    :param is_key: whether it belongs to the primary key.
    """

    name: str
    schema: ConnectSchema
    source: Source
    field: str | None
    is_key: bool

    @property
    def may_be_null(self) -> bool:
        """Whether nulls can occur."""
        return self.schema.optional


@dataclass(frozen=True)
class RowLayout:
    """The columns of records whose keys and values have certain shapes.

    :param problem: why such records cannot be written; there are no columns then.
    :param delete: whether the records delete rows; there are only the columns of the key then.
    """

    columns: tuple[TableColumn, ...] = ()
    problem: str | None = None
    delete: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def key_columns(self) -> tuple[TableColumn, ...]:
        """The columns of the primary key."""
        return tuple(column for column in self.columns if column.is_key)

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of the columns of the primary key."""
        return tuple(column.name for column in self.key_columns)

    @property
    def others(self) -> tuple[str, ...]:
        """Names of the other columns."""
        return tuple(column.name for column in self.columns if not column.is_key)


class _Problem(Exception):
    """Why records of a shape cannot be written."""


def layout_of(settings: SinkSettings, key: Shape | None, value: Shape | None) -> RowLayout:
    """The layout of records.

    :param key: None: there is no key, or it is not needed. :param value: None: there is none, the record deletes.
    """
    try:
        if value is None:
            columns = tuple(_record_key(settings, key))
            return RowLayout(_named(settings, columns), delete=True)
        return RowLayout(_named(settings, _ordered(settings, key, value)))
    except _Problem as problem:
        return RowLayout(problem=str(problem))


def _ordered(settings: SinkSettings, key: Shape | None, value: Shape) -> tuple[TableColumn, ...]:
    """Fields of the value in their order, then what else the primary key has, by name."""
    values = _value_columns(settings, value)
    keys = {column.name: column for column in _keys(settings, key, value)}
    columns = []
    for column in values:
        if column.name in keys:
            columns.append(keys.pop(column.name))
        elif not settings.whitelist or column.name in settings.whitelist:
            columns.append(column)
    columns += [keys[name] for name in sorted(keys)]
    if not columns:
        raise _Problem("no field is left to write: see `fields.whitelist` and `pk.fields`")
    return tuple(columns)


def _value_columns(settings: SinkSettings, shape: Shape) -> list[TableColumn]:
    schema = shape.schema
    if schema is None:
        raise _Problem(
            "the value has no schema, so its columns are not known: use a converter with schemas "
            "(`value.converter.schemas.enable`)"
        )
    if schema.type is SchemaType.STRUCT:
        return [TableColumn(field.name, field.schema, "value", field.name, False) for field in schema.fields]
    if schema.type is SchemaType.STRING:
        return [TableColumn(settings.text_column, schema, "value", None, False)]
    text = f"the value is of type {schema.type.name}, and a table needs a struct: see the HoistField transformation"
    raise _Problem(text)


def _keys(settings: SinkSettings, key: Shape | None, value: Shape) -> Iterator[TableColumn]:
    match settings.pk_mode:
        case mode if mode == KAFKA:
            names = settings.pk_fields or KAFKA_COLUMNS
            yield TableColumn(names[0], STRING_SCHEMA, "topic", None, True)
            yield TableColumn(names[1], INT32_SCHEMA, "partition", None, True)
            yield TableColumn(names[2], INT64_SCHEMA, "offset", None, True)
        case mode if mode == RECORD_KEY:
            yield from _record_key(settings, key)
        case mode if mode == RECORD_VALUE:
            if value.schema is None or value.schema.type is not SchemaType.STRUCT:
                raise _Problem("the value is not a struct, and `pk.mode` is record_value")
            yield from _members(settings.pk_fields, value.schema, "value")
        case mode:
            assert mode == NONE


def _record_key(settings: SinkSettings, key: Shape | None) -> Iterator[TableColumn]:
    if key is None:
        raise _Problem("the record's key is null, and `pk.mode` is record_key")
    schema = key.schema
    if schema is None:
        raise _Problem("the record's key has no schema: use a converter with schemas (`key.converter`)")
    if schema.type is SchemaType.STRUCT:
        yield from _members(settings.pk_fields, schema, "key")
    elif not schema.type.is_primitive:
        raise _Problem(f"the record's key is of type {schema.type.name}; it must be a struct or a single value")
    elif len(settings.pk_fields) != 1:
        count = len(settings.pk_fields)
        raise _Problem(
            f"the record's key is a single value, so `pk.fields` must be the name of its column; it has {count} names"
        )
    else:
        yield TableColumn(settings.pk_fields[0], schema, "key", None, True)


def _members(names: Sequence[str], schema: ConnectSchema, part: Literal["key", "value"]) -> Iterator[TableColumn]:
    for name in names or tuple(field.name for field in schema.fields):
        field = schema.field(name)
        if field is None:
            known = ", ".join(f"`{member.name}`" for member in schema.fields)
            raise _Problem(f"the record's {part} has no field `{name}` of `pk.fields`; it has {known or 'no fields'}")
        yield TableColumn(name, field.schema, part, name, True)


def _named(settings: SinkSettings, columns: tuple[TableColumn, ...]) -> tuple[TableColumn, ...]:
    """The columns under the names that they have in the database."""
    taken: dict[str, str] = {}
    for column in columns:
        if not column.schema.type.is_primitive and (column.is_key or settings.nested == REFUSED):
            kind = column.schema.type.name
            cure = (
                "which cannot belong to the primary key: set `pk.fields`"
                if column.is_key
                else f"which no column can hold: set `{NESTED}` to json or columns, or see the Flatten transformation"
            )
            raise _Problem(f"field `{column.name}` is of type {kind}, {cure}")
        if not column.name or "\0" in column.name:
            raise _Problem(f"field {column.name!r} cannot be the name of a column")
        name = settings.naming.column(column.name)
        if name in taken:
            raise _Problem(f"fields `{taken[name]}` and `{column.name}` would be one column, `{name}`")
        taken[name] = column.name
    return tuple(replace(column, name=settings.naming.column(column.name)) for column in columns)
