"""Debezium's change events: the row before and after a change, and metadata of the change."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, Literal

from airflow_kconnect.connect.data import (
    OPTIONAL_STRING_SCHEMA,
    SCHEMALESS,
    ConnectSchema,
    Field,
    SchemaType,
    Shape,
)
from airflow_kconnect.transforms.base import Change, data_exception, with_exception_column
from airflow_kconnect.transforms.expressions.fields import (
    is_object,
    member,
    no_object,
    no_struct,
    no_such_field,
    or_null,
    unbuildable,
    value_of,
    with_member,
)

if TYPE_CHECKING:
    from pyspark.sql import Column

Side = Literal["before", "after"]

_ENVELOPE = ".Envelope"
_DELETED = "__deleted"
_PURPOSE = "source field insertion"
_OF_TRANSACTION = ("id", "data_collection_order", "total_order")
_OF_EVENT = ("op", "ts_ms", "ts_us", "ts_ns")


@dataclass(frozen=True)
class Reference:
    """A metadata field of a change.

    :param parent: the member of events that contains it; None: the event itself.
    :param name: its name in the new record.
    """

    parent: str | None
    field: str
    name: str

    @classmethod
    def parse(cls, text: str, prefix: str) -> Reference:
        """``field`` or ``parent.field``, each also with ``:new_name``.

        :raises ValueError: it is neither.
        """
        path, *new_names = (part for part in text.strip().split(":") if part)
        parent, *fields = path.split(".")
        if len(new_names) > 1:
            raise ValueError(f"Unexpected field name: {text}")
        old_name = f"{parent}_{fields[0]}" if fields else parent
        name = prefix + (new_names[0] if new_names else old_name)
        return cls(parent, fields[0], name) if fields else cls(_parent_of(parent), parent, name)


def _parent_of(field: str) -> str | None:
    if field in _OF_EVENT:
        return None
    return "transaction" if field in _OF_TRANSACTION else "source"


@dataclass(frozen=True)
class Fact:
    """The column for a reference in the events of a shape.

    :param exists: whether an event has it, null or not.
    """

    name: str
    shape: Shape
    column: Column
    exists: Column


class Events(ABC):
    """The change events of one shape."""

    @property
    @abstractmethod
    def is_event(self) -> Column:
        """Whether a record is a change event."""

    @property
    @abstractmethod
    def problem(self) -> Column | None:
        """STRING, why an event cannot be read."""

    @abstractmethod
    def side(self, side: Side) -> tuple[Shape, Column]:
        """The row before or after the change; null if there was none."""

    @abstractmethod
    def flat(self, side: Side, facts: Sequence[Fact], deleted: str | None, *, replace_null: bool) -> Change:
        """A row with metadata fields.

        :param deleted: text for a field of that name; None: no such field.
        :param replace_null: whether nulls become defaults; only used together with `deleted`.
        """

    @abstractmethod
    def facts(self, references: Iterable[Reference]) -> tuple[list[Fact], Column | None]:
        """The fields that exist, and STRING, why they cannot be looked up."""

    @abstractmethod
    def topic(self, side: Side, field: str) -> tuple[Column, Column | None]:
        """A string in a row, and STRING, why it is not usable."""


def events_of(shape: Shape, column: Column) -> Events | None:
    """The change events among records of a shape; None if there are none."""
    if shape.schema is None:
        return _ObjectEvents(column)
    is_envelope = shape.schema.type is SchemaType.STRUCT and (shape.schema.name or "").endswith(_ENVELOPE)
    return _StructEvents(shape.schema, column) if is_envelope else None


class _StructEvents(Events):
    """Events with a schema; the schema's name identifies them as events."""

    def __init__(self, schema: ConnectSchema, column: Column) -> None:
        self._schema, self._column = schema, column

    @property
    def is_event(self) -> Column:
        return self._column.isNotNull()

    @property
    def problem(self) -> Column | None:
        from pyspark.sql import functions as F

        unknown = "java.lang.IllegalArgumentException"
        if self._schema.field("after") is None:
            return with_exception_column(unknown, "Unknown field: after")
        if self._schema.field("before") is None:
            error = with_exception_column(unknown, "Unknown field: before")
            return F.when(self._column.getField("after").isNull(), error)
        return None

    def side(self, side: Side) -> tuple[Shape, Column]:
        from pyspark.sql import functions as F

        field = self._schema.field(side)
        if field is None:
            return Shape(OPTIONAL_STRING_SCHEMA), F.lit(None).cast("string")
        return Shape(field.schema), self._column.getField(side)

    def flat(self, side: Side, facts: Sequence[Fact], deleted: str | None, *, replace_null: bool) -> Change:
        from pyspark.sql import functions as F

        shape, row = self.side(side)
        assert shape.schema is not None
        if shape.schema.type is not SchemaType.STRUCT:
            return Change(shape, row, no_struct(shape.schema, row, _PURPOSE))
        replace_null = replace_null and deleted is not None
        members = [(field, value_of(field, row, replace_null=replace_null)) for field in shape.schema.fields]
        if deleted is not None:
            members.append((Field(_DELETED, OPTIONAL_STRING_SCHEMA), F.lit(deleted)))
        members += [(Field(fact.name, fact.shape.schema), fact.column) for fact in facts if fact.shape.schema]
        fields = tuple(field for field, _ in members)
        problem = unbuildable(field.name for field in fields)
        if self._schema.field("op") is None:
            problem = data_exception("op is not a valid field name")
        if problem is not None:
            return Change(shape, row, problem)
        flat = replace(shape.schema, fields=fields, optional=False, default=None)
        return Change(Shape(flat), F.struct(*(column.alias(field.name) for field, column in members)))

    def facts(self, references: Iterable[Reference]) -> tuple[list[Fact], Column | None]:
        facts: list[Fact] = []
        for reference in references:
            try:
                facts += self._fact(reference)
            except _NoFact as error:
                return [], error.column
        return facts, None

    def _fact(self, reference: Reference) -> Iterator[Fact]:
        """:raises _NoFact: Debezium would fail on it."""
        from pyspark.sql import functions as F

        schema, parent = self._schema, self._column
        if reference.parent is not None:
            container = schema.field(reference.parent)
            if container is None:
                raise _NoFact(no_such_field())
            schema, parent = container.schema, parent.getField(reference.parent)
        if schema.type is not SchemaType.STRUCT:
            raise _NoFact(data_exception("Cannot look up fields on non-struct type"))
        field, column = schema.field(reference.field), parent
        if field is None:
            field, column = self._schema.field(reference.field), self._column
        if field is None:
            return
        if field.schema.type in (SchemaType.STRUCT, SchemaType.MAP):
            raise _NoFact(data_exception("Struct schemas do not match."))
        value = F.when(parent.isNotNull(), column.getField(field.name))
        yield Fact(reference.name, Shape(replace(field.schema, optional=True, default=None)), value, F.lit(True))

    def topic(self, side: Side, field: str) -> tuple[Column, Column | None]:
        from pyspark.sql import functions as F

        (shape, row), none = self.side(side), F.lit(None).cast("string")
        route_field = shape.schema.field(field) if shape.schema else None
        if route_field is None:
            return none, data_exception(f"{field} is not a valid field name")
        if route_field.schema.type is not SchemaType.STRING:
            return none, data_exception(f"Field '{field}' is not of type STRING")
        return row.getField(field), None


class _NoFact(Exception):
    def __init__(self, column: Column) -> None:
        self.column = column


class _ObjectEvents(Events):
    """Events without schema: Debezium passes them through. A record with all members of an event is one."""

    def __init__(self, column: Column) -> None:
        self._column = column

    @property
    def is_event(self) -> Column:
        op = self._member("op").try_cast("string")
        return op.isNotNull() & is_object(self._member("source")) & self._has_a_side()

    def _has_a_side(self) -> Column:
        return member(self._column, "before").isNotNull() | member(self._column, "after").isNotNull()

    def _member(self, *path: str) -> Column:
        return or_null(reduce(member, path, self._column))

    @property
    def problem(self) -> Column | None:
        return None

    def side(self, side: Side) -> tuple[Shape, Column]:
        return SCHEMALESS, self._member(side)

    def flat(self, side: Side, facts: Sequence[Fact], deleted: str | None, *, replace_null: bool) -> Change:
        from pyspark.sql import functions as F

        _, row = self.side(side)
        flat = row if deleted is None else with_member(row, _DELETED, F.lit(deleted))
        for fact in facts:
            flat = F.when(fact.exists, with_member(flat, fact.name, fact.column)).otherwise(flat)
        return Change(SCHEMALESS, flat, no_object(row, _PURPOSE))

    def facts(self, references: Iterable[Reference]) -> tuple[list[Fact], Column | None]:
        return [self._fact(reference) for reference in references], None

    def _fact(self, reference: Reference) -> Fact:
        from pyspark.sql import functions as F

        value = member(self._column, reference.field)
        if reference.parent is not None:
            value = F.coalesce(member(member(self._column, reference.parent), reference.field), value)
        return Fact(reference.name, SCHEMALESS, value, value.isNotNull())

    def topic(self, side: Side, field: str) -> tuple[Column, Column | None]:
        from pyspark.sql import functions as F

        value = self._member(side, field)
        text = F.when(F.schema_of_variant(value) == "STRING", F.try_variant_get(value, "$", "string"))
        error = F.when(value.isNotNull() & text.isNull(), data_exception(f"Field '{field}' is not of type STRING"))
        return text, error
