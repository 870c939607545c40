"""ValueToKey: builds the key from fields of the value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, Importance, Type, ValidList
from airflow_kconnect.connect.data import SCHEMALESS, ConnectSchema, Field, SchemaType, Shape, struct
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.transforms.base import Change, Scope, Transformation, creation_errors, failed, set_part
from airflow_kconnect.transforms.expressions.field_paths import FieldPath, define_syntax, value_along
from airflow_kconnect.transforms.expressions.fields import (
    define_null_rule,
    no_object,
    no_struct,
    null_of_required,
    rows_by_shape,
    struct_of,
)

if TYPE_CHECKING:
    from pyspark.sql import Column

_PURPOSE = "copying fields from value to key"


class ValueToKey(Transformation):
    """``org.apache.kafka.connect.transforms.ValueToKey``."""

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        version = self.config_values["field.syntax.version"]
        self._paths = [FieldPath.read("fields", text, version) for text in self.config_values["fields"]]

    @property
    def needs(self) -> frozenset[str]:
        return frozenset()

    @classmethod
    def config(cls) -> ConfigDef:
        config = ConfigDef().define(
            "fields",
            Type.LIST,
            importance=Importance.HIGH,
            documentation="Fields of the value that make the new key, in this order.",
            validator=ValidList(empty_allowed=False),
        )
        return define_syntax(define_null_rule(config), "V1: fields are names. V2: fields are paths")

    @classmethod
    def validate(cls, config: Mapping[str, str]) -> dict[str, list[str]]:
        return creation_errors(cls, config)

    def apply(self, frame: RecordFrame, where: Column | None, scope: Scope) -> RecordFrame:
        from pyspark.sql import functions as F

        applies = F.lit(True) if where is None else where
        old = rows_by_shape(frame, "key") if where is not None else []
        branches = [(is_shape & ~applies, shape, column) for is_shape, shape, column in old]
        error: Column = no_object(F.lit(None).cast("variant"), _PURPOSE)
        for is_shape, shape, column in rows_by_shape(frame, "value"):
            key = self._key(shape, column)
            if key.shape is not None and key.column is not None:
                branches.append((is_shape & applies, key.shape, key.column))
            error = F.when(is_shape, key.error).otherwise(error)
        return set_part(failed(frame, error, where), "key", branches)

    def _key(self, shape: Shape, column: Column) -> Change:
        if shape.schema is None:
            return self._key_of_object(column)
        error = no_struct(shape.schema, column, _PURPOSE)
        if shape.schema.type is not SchemaType.STRUCT:
            return Change(None, error=error)
        return self._key_of_struct(shape.schema, column, error)

    def _key_of_object(self, column: Column) -> Change:
        from pyspark.sql import functions as F

        members = [(path.text, *path.member(column)) for path in self._paths]
        key = F.struct(*(value.alias(name) for name, value, _ in members))
        errors = (error for _, _, error in members)
        return Change(SCHEMALESS, F.to_variant_object(key), F.coalesce(no_object(column, _PURPOSE), *errors))

    def _key_of_struct(self, schema: ConnectSchema, column: Column, error: Column) -> Change:
        try:
            found = [(path.text, self._fields(path, schema)) for path in self._paths]
        except DataError as missing:
            return Change(None, error=error.otherwise(str(missing)))
        replace_null = self.config_values["replace.null.with.default"]
        values = [(name, value_along(fields, column, replace_null=replace_null)) for name, fields in found]
        key = struct(*((name, fields[-1].schema) for name, fields in found))
        for field, (name, value) in zip(key.fields, values, strict=True):
            if not field.schema.optional:
                error = error.when(value.isNull(), null_of_required(name, field.schema))
        return Change(Shape(key), struct_of(column, values), error)

    @staticmethod
    def _fields(path: FieldPath, schema: ConnectSchema) -> list[Field]:
        fields = path.fields(schema)
        if not fields:
            raise DataError(f"Field does not exist: {path.text}")
        return fields
