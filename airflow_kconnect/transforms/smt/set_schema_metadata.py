"""SetSchemaMetadata: changes the name or version of a schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, Importance, Type
from airflow_kconnect.connect.data import ConnectSchema, SchemaType, Shape
from airflow_kconnect.transforms.base import Change, PartTransformation, Rows, data_exception
from airflow_kconnect.transforms.expressions.fields import define_null_rule, refused, struct_of, value_of

if TYPE_CHECKING:
    from pyspark.sql import Column


class SetSchemaMetadata(PartTransformation):
    """``org.apache.kafka.connect.transforms.SetSchemaMetadata``; applies also to nulls that have a schema.

    As in Connect 4.3 the schema must be that of a struct.
    """

    @classmethod
    def config(cls) -> ConfigDef:
        config = (
            ConfigDef()
            .define("schema.name", Type.STRING, None, Importance.HIGH, "New name of the schema.")
            .define("schema.version", Type.INT, None, Importance.HIGH, "New version of the schema.")
        )
        return define_null_rule(config)

    @classmethod
    def validate(cls, config: Mapping[str, str]) -> dict[str, list[str]]:
        if config.keys() & {"schema.name", "schema.version"}:
            return {}
        return {"schema.name": ["Neither schema name nor version configured"]}

    def change(self, shape: Shape, column: Column, rows: Rows) -> Change:
        if shape.schema is None:
            return refused(shape, column, "Schema required for [updating schema metadata]")
        if shape.schema.type is not SchemaType.STRUCT:
            return Change(shape, column, data_exception("Cannot list fields on non-struct type"))
        metadata = {key: self.config_values[f"schema.{key}"] for key in ("name", "version")}
        schema = replace(shape.schema, **{key: value for key, value in metadata.items() if value is not None})
        return Change(Shape(schema), self._values(schema, column))

    def _values(self, schema: ConnectSchema, column: Column) -> Column:
        if not self.config_values["replace.null.with.default"] or all(f.schema.default is None for f in schema.fields):
            return column
        return struct_of(column, ((field.name, value_of(field, column, replace_null=True)) for field in schema.fields))


class SetSchemaMetadataKey(SetSchemaMetadata):
    """For keys."""

    part = "key"


class SetSchemaMetadataValue(SetSchemaMetadata):
    """For values."""

    part = "value"
