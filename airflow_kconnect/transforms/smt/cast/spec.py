"""The ``spec`` of the Cast transformation: which fields are cast to which type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from airflow_kconnect.connect.config import java_text, java_trim
from airflow_kconnect.connect.data import SchemaType
from airflow_kconnect.connect.errors import ConfigError

TARGETS = (
    SchemaType.INT8,
    SchemaType.INT16,
    SchemaType.INT32,
    SchemaType.INT64,
    SchemaType.FLOAT32,
    SchemaType.FLOAT64,
    SchemaType.BOOLEAN,
    SchemaType.STRING,
)
"""The types that values can be cast to."""

SOURCES = (*TARGETS, SchemaType.BYTES)
"""The types that can be cast."""


@dataclass(frozen=True)
class CastSpec:
    """What is to be cast.

    :param whole: the type of the whole key or value; None if fields are cast.
    :param fields: field name -> type.
    """

    whole: SchemaType | None
    fields: Mapping[str, SchemaType]


def parse_spec(entries: Sequence[str]) -> CastSpec:
    """Parse a spec of ``field:type`` entries, or of a single type (``Cast.parseFieldTypes``).

    :raises ValueError: with Connect's text.
    """
    if not entries:
        raise ValueError("Must specify at least one field to cast.")
    whole = None
    fields: dict[str, SchemaType] = {}
    for entry in entries:
        # As in Java's split: trailing empty strings are dropped.
        *field, type_ = entry.rstrip(":").split(":")
        if len(field) > 1:
            raise ValueError(
                f"Invalid value {java_text(entries)} for configuration renames: Invalid rename mapping: {entry}"
            )
        if field:
            fields[java_trim(field[0])] = _target(type_)
        else:
            whole = _target(type_)
    if whole and len(entries) > 1:
        raise ValueError(
            "Cast transformations that specify a type to cast the entire value to "
            "may only specify a single cast in their spec"
        )
    return CastSpec(whole, fields)


def check_spec(name: str, entries: Any) -> None:
    """Validator for the key.

    :raises ConfigError: it is not a valid spec.
    """
    try:
        parse_spec(entries or ())
    except ValueError as error:
        raise ConfigError({name: [str(error)]}) from None


def type_names(types: Sequence[SchemaType]) -> str:
    """A set of types as Java prints it."""
    return f"[{', '.join(type_.name for type_ in types)}]"


def _target(text: str) -> SchemaType:
    name = java_trim(text)
    try:
        target = SchemaType[name.upper()]
    except KeyError:
        reason = "java.lang.IllegalArgumentException: No enum constant org.apache.kafka.connect.data.Schema.Type."
        what = f"Invalid type found in casting spec: {name}"
        raise ValueError(f"Invalid value {reason}{name.upper()} for configuration {what}") from None
    if target not in TARGETS:
        known = type_names(TARGETS)
        raise ValueError(f"Cast transformation does not support casting to {target.name}; supported types are {known}")
    return target
