"""Schemas of Python's types."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal, NamedTuple, NotRequired, TypedDict
from uuid import UUID

import pytest
from pydantic import BaseModel

from airflow_kconnect.connect.data import (
    BOOLEAN_SCHEMA,
    DATE_SCHEMA,
    FLOAT64_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectSchema,
    SchemaType,
    decimal_schema,
    struct,
)
from airflow_kconnect.functions.schemas import NoSchema, plain, schema_of


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Line:
    text: str
    count: int | None = None


class Order(BaseModel):
    id: int
    lines: list[Line]
    colour: Colour = Colour.RED


class Note(TypedDict):
    id: int
    text: NotRequired[str]


class Point(NamedTuple):
    x: float
    y: float


LINE = struct(("text", STRING_SCHEMA), ("count", INT64_SCHEMA.as_optional()), name="Line")


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, STRING_SCHEMA),
        (UUID, STRING_SCHEMA),
        (bool, BOOLEAN_SCHEMA),
        (datetime, TIMESTAMP_SCHEMA),
        (date, DATE_SCHEMA),
        (Annotated[Decimal, 2], decimal_schema(2)),
        (Annotated[Decimal, 2] | None, decimal_schema(2).as_optional()),
        (Literal["a", "b"], STRING_SCHEMA),
        (int | None, INT64_SCHEMA.as_optional()),
        (list[int], ConnectSchema(SchemaType.ARRAY, value_schema=INT64_SCHEMA)),
        (dict[str, int], ConnectSchema(SchemaType.MAP, key_schema=STRING_SCHEMA, value_schema=INT64_SCHEMA)),
        (Line, LINE),
        (Note, struct(("id", INT64_SCHEMA), ("text", STRING_SCHEMA.as_optional()), name="Note")),
        (Point, struct(("x", FLOAT64_SCHEMA), ("y", FLOAT64_SCHEMA), name="Point")),
        (
            Order,
            struct(
                ("id", INT64_SCHEMA),
                ("lines", ConnectSchema(SchemaType.ARRAY, value_schema=LINE)),
                ("colour", STRING_SCHEMA),
                name="Order",
            ),
        ),
    ],
    ids=str,
)
def test_a_type_has_a_schema(hint: Any, schema: ConnectSchema) -> None:
    assert schema_of(hint) == schema


@pytest.mark.parametrize("hint", [Any, dict, list, object, int | str, Decimal], ids=str)
def test_a_type_that_says_too_little_has_none(hint: Any) -> None:
    with pytest.raises(NoSchema):
        schema_of(hint)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Line("a"), {"text": "a", "count": None}),
        (Order(id=1, lines=[Line("a", 2)]), {"id": 1, "lines": [{"text": "a", "count": 2}], "colour": "red"}),
        (Point(1, 2), {"x": 1, "y": 2}),
        ({"a": (1, 2), "b": Colour.RED}, {"a": [1, 2], "b": "red"}),
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
    ],
    ids=str,
)
def test_objects_become_plain_values(value: Any, shown: Any) -> None:
    assert plain(value) == shown
