"""Fields by name, or by their path through structs and objects: ``field.syntax.version``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, Importance, Type, ValidString
from airflow_kconnect.connect.data import ConnectSchema, Field, SchemaType
from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.transforms.expressions.fields import member, no_object, or_null, value_of

if TYPE_CHECKING:
    from pyspark.sql import Column

# Inside backticks, a backtick is part of the name if no dot follows, or if it is preceded by a backslash.
_STEP = re.compile(r"`(?P<quoted>(?:[^`]|`(?!\.|\Z)|(?<=\\)`(?=\.))*)(?<!\\)`(?=\.|\Z)|(?!`)[^.]*")


def define_syntax(config: ConfigDef, versions: str) -> ConfigDef:
    """Add ``field.syntax.version``.

    :param versions: what is a name in V1 and a path in V2.
    """
    text = f"{versions}; dots separate the names of nested fields, and a name with dots is in backticks."
    known = ValidString.in_case_insensitive("V1", "V2")
    return config.define("field.syntax.version", Type.STRING, "V1", Importance.HIGH, text, validator=known)


@dataclass(frozen=True)
class FieldPath:
    """The way to a field (``org.apache.kafka.connect.transforms.field.SingleFieldPath``).

    :param text: as it is configured.
    :param names: of the fields on the way; the last is that of the field itself.
    """

    text: str
    names: tuple[str, ...]

    @classmethod
    def read(cls, key: str, text: str, version: str) -> FieldPath:
        """The path in the value of a configuration key.

        :param version: ``field.syntax.version``.
        :raises ConfigError: a name begins with a backtick and does not end with one.
        """
        return cls(text, _names(key, text) if version.upper() == "V2" else (text,))

    def fields(self, schema: ConnectSchema) -> list[Field]:
        """The fields on the way, in structs of a schema; empty if one of them does not exist.

        :raises DataError: the way leads through something else than structs.
        """
        fields: list[Field] = []
        for name in self.names:
            if schema.type is not SchemaType.STRUCT:
                raise DataError("Cannot look up fields on non-struct type")
            field = schema.field(name)
            if field is None:
                return []
            fields.append(field)
            schema = field.schema
        return fields

    def member(self, value: Column) -> tuple[Column, Column]:
        """The member of a VARIANT object, null if there is none, and the error if the way leads through something
        else than objects. A JSON null stays one (see `or_null`).
        """
        from pyspark.sql import functions as F

        errors = [F.lit(None).cast("string")]
        *outer, last = self.names
        for name in outer:
            value = member(value, name)
            errors.append(F.when(or_null(value).isNotNull(), no_object(value, "nested field access")))
        return member(value, last), F.coalesce(*errors)


def value_along(fields: Sequence[Field], struct: Column, *, replace_null: bool) -> Column:
    """The value of the last of `FieldPath.fields` (see `value_of`); null if one of the structs is null.

    Connect takes the defaults of the structs on the way in any case.
    """
    *outer, last = fields
    for field in outer:
        struct = value_of(field, struct, replace_null=True)
    return value_of(last, struct, replace_null=replace_null)


def _names(key: str, text: str) -> tuple[str, ...]:
    names, start = [], 0
    while start <= len(text):
        step = _STEP.match(text, start)
        if step is None:
            advice = f"consider adding a backslash before backtick at position {start} to escape it"
            raise ConfigError({key: [f"Incomplete backtick pair in path: [{text}], {advice}"]})
        quoted = step["quoted"]
        names.append(step[0] if quoted is None else quoted.replace("\\`.", "`."))
        start = step.end() + 1
    return tuple(names)
