"""ValueToKey: builds the key from fields of the value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, Importance, Type, ValidList
from airflow_kconnect.connect.data import SCHEMALESS, ConnectSchema, SchemaType, Shape, struct
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.transforms.base import Change, Scope, Transformation, failed, set_part
from airflow_kconnect.transforms.expressions.fields import (
    define_null_rule,
    member,
    no_object,
    no_struct,
    rows_by_shape,
    struct_of,
    value_of,
)

if TYPE_CHECKING:
    from pyspark.sql import Column

_PURPOSE = "copying fields from value to key"


class ValueToKey(Transformation):
    """``org.apache.kafka.connect.transforms.ValueToKey``."""

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
        return define_null_rule(config)

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
        from pyspark.sql import functions as F

        if shape.schema is None:
            fields = (member(column, name).alias(name) for name in self._fields)
            return Change(SCHEMALESS, F.to_variant_object(F.struct(*fields)), no_object(column, _PURPOSE))
        error = no_struct(shape.schema, column, _PURPOSE)
        if shape.schema.type is not SchemaType.STRUCT:
            return Change(None, error=error)
        return self._key_of_struct(shape.schema, column, error)

    def _key_of_struct(self, schema: ConnectSchema, column: Column, error: Column) -> Change:
        fields = [field for name in self._fields if (field := schema.field(name))]
        missing = [name for name in self._fields if not schema.field(name)]
        if missing:
            return Change(None, error=error.otherwise(f"Field does not exist: {missing[0]}"))
        replace_null = self.config_values["replace.null.with.default"]
        values = [(field.name, value_of(field, column, replace_null=replace_null)) for field in fields]
        key = struct(*((field.name, field.schema) for field in fields))
        return Change(Shape(key), struct_of(column, values), error)

    @property
    def _fields(self) -> list[str]:
        return list(self.config_values["fields"])
