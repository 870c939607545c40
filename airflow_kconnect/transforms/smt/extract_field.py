"""ExtractField: replaces the key or value by one of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, Importance, Type
from airflow_kconnect.connect.data import SCHEMALESS, ConnectSchema, Shape
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.transforms.base import Change, PartTransformation, Rows, creation_errors, with_exception_column
from airflow_kconnect.transforms.expressions.field_paths import FieldPath, define_syntax, value_along
from airflow_kconnect.transforms.expressions.fields import define_null_rule, no_object, no_struct, or_null

if TYPE_CHECKING:
    from pyspark.sql import Column

_PURPOSE = "field extraction"


class ExtractField(PartTransformation):
    """``org.apache.kafka.connect.transforms.ExtractField``."""

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        values = self.config_values
        self._path = FieldPath.read("field", values["field"], values["field.syntax.version"])

    @classmethod
    def config(cls) -> ConfigDef:
        text = "Field that becomes the whole key or value."
        config = define_null_rule(
            ConfigDef().define("field", Type.STRING, importance=Importance.MEDIUM, documentation=text)
        )
        return define_syntax(config, "V1: field is a name. V2: field is a path")

    @classmethod
    def validate(cls, config: Mapping[str, str]) -> dict[str, list[str]]:
        return creation_errors(cls, config)

    def change(self, shape: Shape, column: Column, rows: Rows) -> Change:
        if shape.schema is None:
            return self._of_object(column)
        return self._of_struct(shape, shape.schema, column)

    def _of_object(self, column: Column) -> Change:
        from pyspark.sql import functions as F

        value, error = self._path.member(column)
        unfit = F.when(or_null(column).isNotNull(), no_object(column, _PURPOSE))
        return Change(SCHEMALESS, or_null(value), F.coalesce(unfit, error))

    def _of_struct(self, shape: Shape, schema: ConnectSchema, column: Column) -> Change:
        from pyspark.sql import functions as F

        try:
            fields = self._path.fields(schema)
        except DataError as error:
            unfit = F.when(column.isNotNull(), no_struct(schema, column, _PURPOSE))
            return Change(shape, column, F.coalesce(unfit, F.lit(str(error))))
        if not fields:
            text = f"Unknown field: {self._path.text}"
            return Change(shape, column, with_exception_column("java.lang.IllegalArgumentException", text))
        replace_null = self.config_values["replace.null.with.default"]
        return Change(Shape(fields[-1].schema), value_along(fields, column, replace_null=replace_null))


class ExtractFieldKey(ExtractField):
    """For keys."""

    part = "key"


class ExtractFieldValue(ExtractField):
    """For values."""

    part = "value"
