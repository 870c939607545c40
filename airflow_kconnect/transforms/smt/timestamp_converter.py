"""TimestampConverter: converts times between strings, numbers and Connect's Date, Time and Timestamp."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, Importance, Type, ValidString
from airflow_kconnect.connect.data import (
    DATE_SCHEMA,
    INT64_SCHEMA,
    SCHEMALESS,
    STRING_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectSchema,
    Field,
    SchemaType,
    Shape,
)
from airflow_kconnect.transforms.base import Change, PartTransformation, Rows, with_exception_column
from airflow_kconnect.transforms.expressions.date_patterns import DatePattern, pattern_problem
from airflow_kconnect.transforms.expressions.fields import (
    SCHEMA_BUILDER,
    define_null_rule,
    member,
    no_object,
    no_struct,
    struct_of,
    value_of,
    with_member,
)

if TYPE_CHECKING:
    from pyspark.sql import Column

    from airflow_kconnect.transforms.expressions.instants import Conversion

_PURPOSE = "converting timestamp formats"
_TARGETS = {
    "string": STRING_SCHEMA,
    "unix": INT64_SCHEMA,
    "Date": DATE_SCHEMA,
    "Time": TIME_SCHEMA,
    "Timestamp": TIMESTAMP_SCHEMA,
}
_NO_FORMAT = "TimestampConverter requires format option to be specified when using string timestamps"
_WRONG_FORMAT = "TimestampConverter requires a SimpleDateFormat-compatible pattern for string timestamps: "


class TimestampConverter(PartTransformation):
    """``org.apache.kafka.connect.transforms.TimestampConverter``; see `date_texts` for the differences."""

    @classmethod
    def config(cls) -> ConfigDef:
        return define_null_rule(
            ConfigDef()
            .define(
                "field",
                Type.STRING,
                "",
                Importance.HIGH,
                "Name of the field with the time; empty: the whole key or value is one.",
            )
            .define(
                "target.type",
                Type.STRING,
                importance=Importance.HIGH,
                documentation="What the time becomes: string, unix (a number), Date, Time or Timestamp.",
                validator=ValidString.in_(*_TARGETS),
            )
            .define(
                "format",
                Type.STRING,
                "",
                Importance.MEDIUM,
                "Pattern of java.text.SimpleDateFormat by which texts are written (target string) and read.",
            )
            .define(
                "unix.precision",
                Type.STRING,
                "milliseconds",
                Importance.LOW,
                "Unit of numbers that are read or written. What is less than a millisecond is lost.",
                validator=ValidString.in_("nanoseconds", "microseconds", "milliseconds", "seconds"),
            )
        )

    @classmethod
    def validate(cls, config: Mapping[str, str]) -> dict[str, list[str]]:
        text, is_written = config.get("format", ""), config["target.type"] == "string"
        if not text.strip():
            return {"format": [_NO_FORMAT]} if is_written else {}
        problem = pattern_problem("format", text)
        if problem is None and not is_written:
            problem = DatePattern.parse(text).unreadable
        return {"format": [f"{_WRONG_FORMAT}{text}: {problem}"]} if problem else {}

    @property
    def _conversion(self) -> Conversion:
        from airflow_kconnect.transforms.expressions.instants import Conversion

        target, text = self.config_values["target.type"], self.config_values["format"]
        pattern = DatePattern.parse(text) if text.strip() else None
        return Conversion(target, _TARGETS[target], pattern, self.config_values["unix.precision"])

    def change(self, shape: Shape, column: Column, rows: Rows) -> Change:
        field = self.config_values["field"]
        if shape.schema is None:
            return self._member_converted(column, field) if field else Change(shape, *self._conversion.variant(column))
        if field:
            return self._field_converted(shape.schema, column, field)
        schema = replace(self._conversion.schema, optional=shape.schema.optional)
        return Change(Shape(schema), *self._conversion.value(shape.schema, column))

    def _member_converted(self, column: Column, name: str) -> Change:
        from pyspark.sql import functions as F

        new, error = self._conversion.variant(member(column, name))
        changed = with_member(column, name, F.coalesce(new, F.parse_json(F.lit("null"))))
        return Change(SCHEMALESS, changed, F.when(column.isNotNull(), F.coalesce(no_object(column, _PURPOSE), error)))

    def _field_converted(self, schema: ConnectSchema, column: Column, name: str) -> Change:
        from pyspark.sql import functions as F

        problem = _unusable(schema, column)
        if problem is not None:
            return Change(Shape(schema), column, problem)
        replace_null = self.config_values["replace.null.with.default"]
        values = {field.name: value_of(field, column, replace_null=replace_null) for field in schema.fields}
        original = schema.field(name)
        if original is None:
            return Change(Shape(schema), struct_of(column, values.items()))
        values[name], error = self._conversion.value(original.schema, values[name])
        target = Field(name, replace(self._conversion.schema, optional=original.schema.optional))
        fields = tuple(target if field is original else field for field in schema.fields)
        changed = struct_of(column, values.items())
        return Change(Shape(replace(schema, fields=fields)), changed, F.when(column.isNotNull(), error))


def _unusable(schema: ConnectSchema, column: Column) -> Column | None:
    """Why no field with such values can be converted; None if it can."""
    from pyspark.sql import functions as F

    if schema.type is not SchemaType.STRUCT:
        no_fields = F.when(column.isNull(), "Cannot list fields on non-struct type")
        return F.coalesce(no_fields, no_struct(schema, column, _PURPOSE))
    # Connect makes a default for the struct it expects, and then treats it as one of another schema.
    return with_exception_column(SCHEMA_BUILDER, "Invalid default value") if schema.default is not None else None


class TimestampConverterKey(TimestampConverter):
    """For keys."""

    part = "key"


class TimestampConverterValue(TimestampConverter):
    """For values."""

    part = "value"
