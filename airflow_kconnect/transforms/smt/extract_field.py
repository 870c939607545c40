"""ExtractField: replaces the key or value by one of its fields."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, Importance, Type, ValidString
from airflow_kconnect.connect.data import SCHEMALESS, ConnectSchema, SchemaType, Shape
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.transforms.base import Change, PartTransformation, Rows, with_exception_column
from airflow_kconnect.transforms.expressions.fields import (
    define_null_rule,
    member,
    no_object,
    no_struct,
    or_null,
    value_of,
)

if TYPE_CHECKING:
    from pyspark.sql import Column

_PURPOSE = "field extraction"
# Inside backticks, a backtick is part of the name if no dot follows, or if it is preceded by a backslash.
_STEP = re.compile(r"`(?P<quoted>(?:[^`]|`(?!\.|\Z)|(?<=\\)`(?=\.))*)(?<!\\)`(?=\.|\Z)|(?!`)[^.]*")
_NO_STRUCT = "Cannot look up fields on non-struct type"


class ExtractField(PartTransformation):
    """``org.apache.kafka.connect.transforms.ExtractField``."""

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        text = self.config_values["field"]
        in_steps = self.config_values["field.syntax.version"].upper() == "V2"
        self._path = field_path(text) if in_steps else (text,)

    @classmethod
    def config(cls) -> ConfigDef:
        text = "Field that becomes the whole key or value."
        config = define_null_rule(
            ConfigDef().define("field", Type.STRING, importance=Importance.MEDIUM, documentation=text)
        )
        return config.define(
            "field.syntax.version",
            Type.STRING,
            "V1",
            Importance.HIGH,
            "V1: field is a name. V2: field is a path; dots separate the names of nested fields, and a name with dots "
            "is in backticks.",
            validator=ValidString.in_case_insensitive("V1", "V2"),
        )

    @classmethod
    def validate(cls, config: Mapping[str, str]) -> dict[str, list[str]]:
        try:
            cls(config)
        except ConfigError as error:
            return error.errors
        return {}

    def change(self, shape: Shape, column: Column, rows: Rows) -> Change:
        if shape.schema is None:
            return self._of_object(column)
        return self._of_struct(shape, shape.schema, column)

    def _of_object(self, column: Column) -> Change:
        from pyspark.sql import functions as F

        errors, purpose = [], _PURPOSE
        for name in self._path:
            errors.append(F.when(or_null(column).isNotNull(), no_object(column, purpose)))
            column, purpose = member(column, name), "nested field access"
        return Change(SCHEMALESS, or_null(column), F.coalesce(*errors))

    def _of_struct(self, shape: Shape, schema: ConnectSchema, column: Column) -> Change:
        from pyspark.sql import functions as F

        inner, value = schema, column
        for name in self._path:
            if inner.type is not SchemaType.STRUCT:
                unfit = F.when(column.isNotNull(), no_struct(schema, column, _PURPOSE))
                return Change(shape, column, F.coalesce(unfit, F.lit(_NO_STRUCT)))
            field = inner.field(name)
            if field is None:
                text = f"Unknown field: {self.config_values['field']}"
                return Change(shape, column, with_exception_column("java.lang.IllegalArgumentException", text))
            value = value_of(field, value, replace_null=self.config_values["replace.null.with.default"])
            inner = field.schema
        return Change(Shape(inner), value)


class ExtractFieldKey(ExtractField):
    """For keys."""

    part = "key"


class ExtractFieldValue(ExtractField):
    """For values."""

    part = "value"


def field_path(text: str) -> tuple[str, ...]:
    """Names in a path of version V2 (``org.apache.kafka.connect.transforms.field.SingleFieldPath``).

    :raises ConfigError: a name begins with a backtick and does not end with one.
    """
    names, start = [], 0
    while start <= len(text):
        step = _STEP.match(text, start)
        if step is None:
            advice = f"consider adding a backslash before backtick at position {start} to escape it"
            raise ConfigError({"field": [f"Incomplete backtick pair in path: [{text}], {advice}"]})
        quoted = step["quoted"]
        names.append(step[0] if quoted is None else quoted.replace("\\`.", "`."))
        start = step.end() + 1
    return tuple(names)
