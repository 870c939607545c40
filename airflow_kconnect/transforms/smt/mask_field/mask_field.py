"""MaskField: masks the values of fields."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, Importance, NonEmptyString, Type, ValidList
from airflow_kconnect.connect.data import SCHEMALESS, ConnectSchema, Field, SchemaType, Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.converters.types import spark_type
from airflow_kconnect.transforms.base import Change, PartTransformation, Rows
from airflow_kconnect.transforms.expressions.fields import (
    define_null_rule,
    member,
    no_object,
    no_struct,
    struct_of,
    value_of,
)
from airflow_kconnect.transforms.expressions.schemaless import by_kind, with_members
from airflow_kconnect.transforms.smt.mask_field.values import mask_value

if TYPE_CHECKING:
    from pyspark.sql import Column

_PURPOSE = "mask fields"


class MaskField(PartTransformation):
    """``org.apache.kafka.connect.transforms.MaskField``."""

    @classmethod
    def config(cls) -> ConfigDef:
        config = ConfigDef()
        config.define(
            "fields",
            Type.LIST,
            importance=Importance.HIGH,
            documentation="Names of the fields to hide.",
            validator=ValidList(empty_allowed=False),
        )
        text = (
            "What the fields are to hold, converted to their types: strings and numbers only."
            " Without it they hold something empty: 0, false, an empty string, list or map, 1970-01-01."
        )
        config.define("replacement", Type.STRING, None, Importance.LOW, text, validator=NonEmptyString())
        return define_null_rule(config)

    def change(self, shape: Shape, column: Column, rows: Rows) -> Change:
        from pyspark.sql import functions as F

        if shape.schema is None:
            return self._members_masked(column)
        error = no_struct(shape.schema, column, _PURPOSE)
        if shape.schema.type is not SchemaType.STRUCT:
            return Change(shape, column, error)
        masked = [(field.name, *self._field_masked(field, column)) for field in shape.schema.fields]
        changed = struct_of(column, ((name, value) for name, value, _ in masked))
        return Change(shape, changed, F.coalesce(error, *(error for _, _, error in masked if error is not None)))

    def change_nothing(self, rows: Rows) -> Change | None:
        from pyspark.sql import functions as F

        return Change(None, error=no_object(F.lit(None).cast("variant"), _PURPOSE))

    def _members_masked(self, column: Column) -> Change:
        from pyspark.sql import functions as F

        values = {name: member(column, name) for name in self.config_values["fields"]}
        changed = with_members(column, {name: by_kind(value, self._variant) for name, value in values.items()})
        errors = (by_kind(value, lambda schema: F.lit(self._problem(schema))) for value in values.values())
        return Change(SCHEMALESS, changed, F.coalesce(no_object(column, _PURPOSE), *errors))

    def _field_masked(self, field: Field, column: Column) -> tuple[Column, Column | None]:
        """The column of a masked field, and the error."""
        from pyspark.sql import functions as F

        value = value_of(field, column, replace_null=self.config_values["replace.null.with.default"])
        if field.name not in self.config_values["fields"]:
            return value, None
        if problem := self._problem(field.schema):
            return value, F.when(value.isNotNull(), problem)
        return F.when(value.isNotNull(), self._mask(field.schema)), None

    def _problem(self, schema: ConnectSchema) -> str | None:
        try:
            mask_value(schema, self.config_values["replacement"])
        except DataError as error:
            return str(error)
        return None

    def _mask(self, schema: ConnectSchema) -> Column:
        from pyspark.sql import functions as F

        from airflow_kconnect.converters.json.read import or_default
        from airflow_kconnect.converters.json.rules import Rules

        as_default = replace(schema, default=mask_value(schema, self.config_values["replacement"]))
        return or_default(as_default, F.lit(None).cast(spark_type(schema)), Rules())

    def _variant(self, schema: ConnectSchema) -> Column:
        from pyspark.sql import functions as F

        if self._problem(schema):
            return F.lit(None).cast("variant")
        if schema.type.is_primitive:
            return self._mask(schema).cast("variant")
        return F.try_parse_json(F.lit("[]" if schema.type is SchemaType.ARRAY else "{}"))


class MaskFieldKey(MaskField):
    """For keys."""

    part = "key"


class MaskFieldValue(MaskField):
    """For values."""

    part = "value"
