"""ReplaceField: drops or renames fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, Importance, LambdaValidator, Type, ValidList
from airflow_kconnect.connect.data import SCHEMALESS, ConnectSchema, Field, SchemaType, Shape
from airflow_kconnect.converters.types import spark_type
from airflow_kconnect.transforms.base import Change, Rows
from airflow_kconnect.transforms.expressions.fields import (
    PassesNulls,
    define_null_rule,
    no_object,
    no_struct,
    null_of_required,
    object_of,
    refused,
    struct_of,
    unbuildable,
    value_of,
    without_members,
)
from airflow_kconnect.transforms.expressions.schemaless import java_class, members

if TYPE_CHECKING:
    from pyspark.sql import Column

_PURPOSE = "field replacement"


class ReplaceField(PassesNulls):
    """``org.apache.kafka.connect.transforms.ReplaceField``."""

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        values = self.config_values
        self._exclude, self._include = frozenset(values["exclude"]), frozenset(values["include"])
        self._renames = {old: new for old, new in map(_names, values["renames"])}
        self._old_names = {new: old for old, new in self._renames.items()}

    @classmethod
    def config(cls) -> ConfigDef:
        texts = {
            "exclude": "Fields to drop, even those that include names.",
            "include": "Fields to keep; without any, all are kept but those that exclude names.",
            "renames": "New names of fields, as pairs old:new. The other keys name fields by their old names.",
        }
        validators = {"renames": LambdaValidator(_wrong_mapping)}
        config = ConfigDef()
        for key, text in texts.items():
            validator = validators.get(key, ValidList())
            config.define(key, Type.LIST, [], Importance.MEDIUM, text, validator=validator)
        return define_null_rule(config)

    def change(self, shape: Shape, column: Column, rows: Rows) -> Change:
        if shape.schema is None:
            return self._of_object(column)
        if shape.schema.type is not SchemaType.STRUCT:
            return refused(shape, column, no_struct(shape.schema, column, _PURPOSE))
        return self._of_struct(shape, shape.schema, column)

    def _of_struct(self, shape: Shape, schema: ConnectSchema, column: Column) -> Change:
        from pyspark.sql import functions as F

        remaining = [field for field in schema.fields if self._keeps(field.name)]
        fields = tuple(replace(field, name=self._renames.get(field.name, field.name)) for field in remaining)
        problem = unbuildable(field.name for field in fields)
        if problem is not None:
            return refused(shape, column, problem)
        values: list[tuple[str, Column]] = []
        errors: list[Column] = []
        for field in fields:
            origin = self._origin(schema, field)
            if isinstance(origin, str):
                return refused(shape, column, origin)
            replace_null = self.config_values["replace.null.with.default"]
            value = value_of(origin, column, replace_null=replace_null)
            if spark_type(origin.schema) != spark_type(field.schema):
                errors.append(_wrong_object(origin, field, value))
                value = F.lit(None).cast(spark_type(field.schema))
            values.append((field.name, value))
        changed = replace(schema, fields=fields, optional=False, default=None)
        error = F.when(column.isNotNull(), F.coalesce(*errors)) if errors else None
        return Change(Shape(changed), struct_of(column, values), error)

    def _origin(self, schema: ConnectSchema, new: Field) -> Field | str:
        """The field from which a new field gets its value, or why there is none.

        As in Connect, if a field is renamed to the name of a field that stays, both have its value.
        """
        name = self._old_names.get(new.name, new.name)
        origin = schema.field(name)
        if origin is None:
            return f"{name} is not a valid field name"
        return origin

    def _of_object(self, column: Column) -> Change:
        from pyspark.sql import functions as F

        error = F.when(column.isNotNull(), no_object(column, _PURPOSE))
        if not self._include and not self._renames:
            return Change(SCHEMALESS, without_members(column, self._exclude), error)
        entries = F.map_filter(members(column), lambda name, _: self._keeps_column(name))
        if self._renames:
            new_names = F.create_map(*(F.lit(name) for pair in self._renames.items() for name in pair))
            entries = F.transform_keys(entries, lambda name, _: F.coalesce(new_names[name], name))
        return Change(SCHEMALESS, object_of(entries), error)

    def _keeps(self, name: str) -> bool:
        return name not in self._exclude and (not self._include or name in self._include)

    def _keeps_column(self, name: Column) -> Column:
        if self._include:
            return name.isin(*self._include - self._exclude)
        return ~name.isin(*self._exclude)


class ReplaceFieldKey(ReplaceField):
    """For keys."""

    part = "key"


class ReplaceFieldValue(ReplaceField):
    """For values."""

    part = "value"


def _wrong_object(origin: Field, new: Field, value: Column) -> Column:
    """Why a field cannot have the value of one of another type; null where it can."""
    from pyspark.sql import functions as F

    actual = f'class {java_class(origin.schema)} for field: "{new.name}"'
    wrong = F.when(value.isNotNull(), f"Invalid Java object for schema with type {new.schema.type.name}: {actual}")
    if new.schema.optional:
        return wrong
    return F.coalesce(wrong, F.lit(null_of_required(new.name, new.schema)))


def _names(mapping: str) -> Sequence[str]:
    """Parts of a pair, as ``String.split`` returns them: trailing empty ones are dropped."""
    return mapping.rstrip(":").split(":")


def _wrong_mapping(key: str, mappings: list[str]) -> str | None:
    wrong = (mapping for mapping in mappings or () if len(_names(mapping)) != 2)
    first = next(wrong, None)
    return None if first is None else f"Invalid rename mapping: {first}"
