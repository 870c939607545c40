"""Cast: casts fields, or a whole key or value, to other primitive types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from airflow_kconnect.connect.config import ConfigDef, Importance, Type
from airflow_kconnect.connect.data import SCHEMALESS, ConnectSchema, Field, SchemaType, Shape
from airflow_kconnect.converters.types import logical_name
from airflow_kconnect.transforms.base import Change, Rows
from airflow_kconnect.transforms.expressions.fields import PassesNulls, define_null_rule, member, no_object, value_of
from airflow_kconnect.transforms.expressions.schemaless import with_members
from airflow_kconnect.transforms.smt.cast.spec import check_spec, parse_spec

if TYPE_CHECKING:
    from pyspark.sql import Column


class Cast(PassesNulls):
    """``org.apache.kafka.connect.transforms.Cast``."""

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._spec = parse_spec(self.config_values["spec"])

    @classmethod
    def config(cls) -> ConfigDef:
        text = (
            "What to cast: a list of field:type, or a single type for the whole key or value. The types are int8,"
            " int16, int32, int64, float32, float64, boolean and string. Bytes can only become strings (base64)."
        )
        high = Importance.HIGH
        config = ConfigDef().define("spec", Type.LIST, importance=high, documentation=text, validator=check_spec)
        return define_null_rule(config)

    def change(self, shape: Shape, column: Column, rows: Rows) -> Change:
        from airflow_kconnect.transforms.smt.cast.values import cast_variant

        target = self._spec.whole
        if shape.schema is None:
            return self._members_cast(column) if target is None else Change(SCHEMALESS, *cast_variant(column, target))
        if target is None:
            return self._fields_cast(shape.schema, column, rows)
        return _whole_cast(shape.schema, column, target, rows)

    def _members_cast(self, column: Column) -> Change:
        from pyspark.sql import functions as F

        from airflow_kconnect.transforms.smt.cast.values import cast_variant

        casts = {name: cast_variant(member(column, name), target) for name, target in self._spec.fields.items()}
        changed = with_members(column, {name: cast.column for name, cast in casts.items()})
        errors = (cast.error for cast in casts.values() if cast.error is not None)
        return Change(SCHEMALESS, changed, F.coalesce(no_object(column, "cast types"), *errors))

    def _fields_cast(self, schema: ConnectSchema, column: Column, rows: Rows) -> Change:
        from pyspark.sql import functions as F

        from airflow_kconnect.transforms.smt.cast.values import unsupported

        if schema.type is not SchemaType.STRUCT:
            return Change(Shape(schema), column, F.lit("Cannot list fields on non-struct type"))
        if schema.default is not None:
            # Connect casts the default of the whole struct, too.
            return Change(Shape(schema), column, F.lit(unsupported(schema)))
        casts = {field.name: self._field_cast(field, column, rows) for field in schema.fields}
        new = replace(schema, fields=tuple(Field(name, cast.schema) for name, cast in casts.items()))
        changed = F.struct(*(cast.column.alias(name) for name, cast in casts.items()))
        errors = [cast.error for cast in casts.values() if cast.error is not None]
        return Change(Shape(new), changed, F.coalesce(*errors) if errors else None)

    def _field_cast(self, field: Field, column: Column, rows: Rows) -> _Cast:
        value = value_of(field, column, replace_null=self.config_values["replace.null.with.default"])
        target = self._spec.fields.get(field.name)
        return _Cast(field.schema, value) if target is None else _cast(field.schema, value, target, rows)


class _Cast(NamedTuple):
    """A column in its new type; see `Change`."""

    schema: ConnectSchema
    column: Column
    error: Column | None = None


def _whole_cast(schema: ConnectSchema, column: Column, target: SchemaType, rows: Rows) -> Change:
    cast = _cast(schema, column, target, rows)
    name, version = schema.name, schema.version
    new = replace(cast.schema, name=name, version=version, doc=schema.doc, parameters=schema.parameters)
    if logical_name(new):
        # If it kept its name, a Timestamp that is now an INT64 would be a Timestamp again.
        new = replace(new, name=None, version=None)
    return Change(Shape(new), cast.column, cast.error)


def _cast(schema: ConnectSchema, column: Column, target: SchemaType, rows: Rows) -> _Cast:
    """The cast; of the schema only "optional" and the default are kept, the latter cast as well."""
    from pyspark.sql import functions as F

    from airflow_kconnect.transforms.smt.cast.values import cast_default, cast_value

    new = ConnectSchema(target, optional=schema.optional)
    changed, error = cast_value(schema, column, target)
    if schema.default is not None:
        default, problem = cast_default(schema, target, rows.frame.df.sparkSession)
        new = replace(new, default=default)
        error = error if problem is None else F.lit(problem)
    return _Cast(new, changed, error)


class CastKey(Cast):
    """For keys."""

    part = "key"


class CastValue(Cast):
    """For values."""

    part = "value"
