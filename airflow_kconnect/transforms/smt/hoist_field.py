"""HoistField: wraps a key or value in a struct (or object) with one field."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airflow_kconnect.connect.config import ConfigDef, Importance, Type
from airflow_kconnect.connect.data import SCHEMALESS, Shape, struct
from airflow_kconnect.transforms.base import Change, PartTransformation, Rows
from airflow_kconnect.transforms.expressions.fields import unbuildable

if TYPE_CHECKING:
    from pyspark.sql import Column


class HoistField(PartTransformation):
    """``org.apache.kafka.connect.transforms.HoistField``; records without schema and value become ``{field: null}``."""

    @classmethod
    def config(cls) -> ConfigDef:
        text = "Name of the field that is to hold what the record held."
        return ConfigDef().define("field", Type.STRING, importance=Importance.MEDIUM, documentation=text)

    @property
    def _field(self) -> str:
        return str(self.config_values["field"])

    def change(self, shape: Shape, column: Column, rows: Rows) -> Change:
        from pyspark.sql import functions as F

        wrapped = F.struct(column.alias(self._field))
        if shape.schema is None:
            return Change(SCHEMALESS, F.to_variant_object(wrapped))
        if (problem := unbuildable([self._field])) is not None:
            return Change(shape, column, problem)
        return Change(Shape(struct((self._field, shape.schema))), wrapped)

    def change_nothing(self, rows: Rows) -> Change | None:
        from pyspark.sql import functions as F

        nothing = F.struct(F.lit(None).cast("string").alias(self._field))
        return Change(SCHEMALESS, F.to_variant_object(nothing))


class HoistFieldKey(HoistField):
    """For keys."""

    part = "key"


class HoistFieldValue(HoistField):
    """For values."""

    part = "value"
