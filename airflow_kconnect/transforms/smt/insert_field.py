"""InsertField: adds the topic, partition, offset or timestamp of the record, or a constant, as fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, Importance, Type
from airflow_kconnect.connect.data import (
    INT32_SCHEMA,
    INT64_SCHEMA,
    SCHEMALESS,
    STRING_SCHEMA,
    TIMESTAMP,
    TIMESTAMP_SCHEMA,
    ConnectSchema,
    Field,
    SchemaType,
    Shape,
)
from airflow_kconnect.converters.types import spark_type
from airflow_kconnect.transforms.base import Change, Rows
from airflow_kconnect.transforms.expressions.fields import (
    PassesNulls,
    define_null_rule,
    no_object,
    no_struct,
    refused,
    struct_of,
    unbuildable,
    value_of,
    with_member,
)

if TYPE_CHECKING:
    from pyspark.sql import Column

_PURPOSE = "field insertion"
_NO_SINK = f"Only SinkRecord supported for [{_PURPOSE}], found: org.apache.kafka.connect.source.SourceRecord"
_MARKS = "A name that ends in ! makes a required field; one that ends in ? an optional one, as does a name alone."


@dataclass(frozen=True)
class _Source:
    """A value that can be inserted.

    :param value: the rows' column for it; None if no row has one.
    """

    schema: ConnectSchema
    documentation: str
    value: Callable[[Rows], Column | None]


_SOURCES: Mapping[str, _Source] = {
    "topic.field": _Source(STRING_SCHEMA, "Name of a field for the topic.", lambda rows: rows.topic),
    "partition.field": _Source(
        INT32_SCHEMA, "Name of a field for the number of the Kafka partition.", lambda rows: rows.partition
    ),
    "offset.field": _Source(
        INT64_SCHEMA, "Name of a field for the offset in Kafka; for sink connectors only.", lambda rows: rows.offset
    ),
    "timestamp.field": _Source(
        TIMESTAMP_SCHEMA, "Name of a field for the timestamp of the record.", lambda rows: rows.timestamp
    ),
}


@dataclass(frozen=True)
class _Insertion:
    """A field to insert.

    :param value: STRING, INT or LONG column; a timestamp is in milliseconds.
    """

    field: Field
    value: Column | None


class InsertField(PassesNulls):
    """``org.apache.kafka.connect.transforms.InsertField``."""

    @classmethod
    def config(cls) -> ConfigDef:
        config = ConfigDef()
        for key, source in _SOURCES.items():
            config.define(key, Type.STRING, None, Importance.MEDIUM, f"{source.documentation} {_MARKS}")
        config.define("static.field", Type.STRING, None, Importance.MEDIUM, f"Name of a field for a text. {_MARKS}")
        config.define("static.value", Type.STRING, None, Importance.MEDIUM, "The text of static.field.")
        return define_null_rule(config)

    @classmethod
    def validate(cls, config: Mapping[str, str]) -> dict[str, list[str]]:
        if not config.keys() & {*_SOURCES, "static.field"}:
            return {"topic.field": ["No field insertion configured"]}
        if "static.field" in config and "static.value" not in config:
            text = f"No value specified for static field: {config['static.field']}"
            return {"static.value": [f"Invalid value null for configuration static.value: {text}"]}
        return {}

    @property
    def needs(self) -> frozenset[str]:
        return super().needs | ({"timestamp"} if self.config_values["timestamp.field"] is not None else set())

    def change(self, shape: Shape, column: Column, rows: Rows) -> Change:
        if self.config_values["offset.field"] is not None and not rows.scope.is_sink:
            return refused(shape, column, _NO_SINK)
        if shape.schema is None:
            return self._into_object(column, rows)
        if shape.schema.type is not SchemaType.STRUCT:
            return refused(shape, column, no_struct(shape.schema, column, _PURPOSE))
        return self._into_struct(shape, shape.schema, column, rows)

    def _into_struct(self, shape: Shape, schema: ConnectSchema, column: Column, rows: Rows) -> Change:
        insertions = self._insertions(rows)
        fields = (*schema.fields, *(insertion.field for insertion in insertions))
        problem = unbuildable(field.name for field in fields)
        if problem is not None:
            return refused(shape, column, problem)
        replace_null = self.config_values["replace.null.with.default"]
        old = [(field.name, value_of(field, column, replace_null=replace_null)) for field in schema.fields]
        new = [(insertion.field.name, _typed(insertion)) for insertion in insertions]
        shape = Shape(replace(schema, fields=fields, optional=False, default=None))
        return Change(shape, struct_of(column, [*old, *new]))

    def _into_object(self, column: Column, rows: Rows) -> Change:
        from pyspark.sql import functions as F

        new = column
        for insertion in self._insertions(rows):
            if insertion.value is not None:
                added = with_member(new, insertion.field.name, insertion.value)
                new = F.when(insertion.value.isNotNull(), added).otherwise(new)
        return Change(SCHEMALESS, new, F.when(column.isNotNull(), no_object(column, _PURPOSE)))

    def _insertions(self, rows: Rows) -> list[_Insertion]:
        from pyspark.sql import functions as F

        insertions = []
        for key, source in _SOURCES.items():
            if (name := self.config_values[key]) is not None:
                insertions.append(_Insertion(_field(name, source.schema), source.value(rows)))
        if (name := self.config_values["static.field"]) is not None:
            text = F.lit(self.config_values["static.value"])
            insertions.append(_Insertion(_field(name, STRING_SCHEMA), text))
        return insertions


class InsertFieldKey(InsertField):
    """For keys."""

    part = "key"


class InsertFieldValue(InsertField):
    """For values."""

    part = "value"


def _field(spec: str, schema: ConnectSchema) -> Field:
    name = spec[:-1] if spec.endswith(("!", "?")) else spec
    return Field(name, replace(schema, optional=not spec.endswith("!")))


def _typed(insertion: _Insertion) -> Column:
    """The value as a member of a struct."""
    from pyspark.sql import functions as F

    value, schema = insertion.value, insertion.field.schema
    if value is None:
        return F.lit(None).cast(spark_type(schema))
    if schema.name == TIMESTAMP:
        # timestamp_millis would throw where microseconds overflow.
        return F.timestamp_micros(F.try_multiply(value, F.lit(1000)))
    return value
