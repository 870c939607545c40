"""What reading and writing JSON payloads share: rules for nulls and defaults, and the search for errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pyspark.sql import Column
from pyspark.sql import functions as F

from airflow_kconnect.connect.data import ConnectSchema, SchemaType
from airflow_kconnect.converters.json.values import BASE64, string_keys

Check = Callable[[ConnectSchema, Column], Column | None]
"""The text of a value's own problem (null if none); None if no value of the schema can have one."""


@dataclass(frozen=True)
class Rules:
    """The converter's settings for payloads.

    :param in_batch: whether payloads were parsed by `PayloadParser`: decimals and floats are then already correct.
    """

    decimal_format: str = BASE64
    replace_null_with_default: bool = True
    in_batch: bool = False

    def replaces_null(self, schema: ConnectSchema) -> bool:
        """Whether the schema's default replaces null."""
        return schema.default is not None and self.replace_null_with_default

    def allows_null(self, schema: ConnectSchema) -> bool:
        """Whether null is allowed: as itself, or because the default replaces it."""
        return schema.optional or self.replaces_null(schema)


def first_problem(schema: ConnectSchema, column: Column, check: Check, path: str = "") -> Column | None:
    """Text of the first problem in the values of a column and in what they contain; None if there can be none.

    :param path: names of the fields that lead to the column, which the text ends with.
    """
    own = check(schema, column)
    if own is not None and path:
        own = F.concat(own, F.lit(f": {path}"))
    problems = [text for text in (own, *_inner_problems(schema, column, check, path)) if text is not None]
    return F.coalesce(*problems) if problems else None


def _inner_problems(schema: ConnectSchema, column: Column, check: Check, path: str) -> Iterator[Column | None]:
    for member in schema.fields:
        inside = f"{path}.{member.name}" if path else member.name
        problem = first_problem(member.schema, column.getField(member.name), check, inside)
        yield None if problem is None else F.when(column.isNotNull(), problem)
    items = schema.value_schema
    # Maps with non-string keys are not maps yet when they are read: their owner checks them.
    if items is None or (schema.type is SchemaType.MAP and not string_keys(schema)):
        return
    item_problems: list[Column | None] = []

    def inner(item: Column) -> Column:
        # The result of a single call is kept: a second one per level would mean 2^16 of them for 16 nested arrays.
        item_problems.append(first_problem(items, item, check, path))
        return F.lit(None).cast("string") if item_problems[0] is None else item_problems[0]

    problems = first_of(F.transform(F.map_values(column) if schema.type is SchemaType.MAP else column, inner))
    yield problems if item_problems[0] is not None else None


def first_of(problems: Column) -> Column:
    """The first text in an array of nullable texts."""
    return F.get(F.filter(problems, lambda text: text.isNotNull()), F.lit(0))
