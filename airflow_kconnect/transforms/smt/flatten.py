"""Flatten: moves the fields of nested structs (or objects) to the outermost one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.config import ConfigDef, Importance, Type
from airflow_kconnect.connect.data import SCHEMALESS, ConnectSchema, Field, SchemaType, Shape
from airflow_kconnect.transforms.base import Change, Rows
from airflow_kconnect.transforms.expressions.fields import (
    PassesNulls,
    is_object,
    no_object,
    no_struct,
    object_of,
    refused,
    struct_of,
    unbuildable,
    value_of,
)
from airflow_kconnect.transforms.expressions.schemaless import members

if TYPE_CHECKING:
    from pyspark.sql import Column

_PURPOSE = "flattening"
_ENTRIES = "array<struct<key:string,value:variant>>"


class Flatten(PassesNulls):
    """``org.apache.kafka.connect.transforms.Flatten``; lists stay as they are."""

    @classmethod
    def config(cls) -> ConfigDef:
        text = "What stands between the names of outer and inner fields in the new names."
        return ConfigDef().define("delimiter", Type.STRING, ".", Importance.MEDIUM, text)

    def change(self, shape: Shape, column: Column, rows: Rows) -> Change:
        from pyspark.sql import functions as F

        if shape.schema is None:
            error = F.when(column.isNotNull(), no_object(column, _PURPOSE))
            return Change(SCHEMALESS, self._of_object(column), error)
        if shape.schema.type is not SchemaType.STRUCT:
            return refused(shape, column, no_struct(shape.schema, column, _PURPOSE))
        return self._of_struct(shape, shape.schema, column)

    def _of_struct(self, shape: Shape, schema: ConnectSchema, column: Column) -> Change:
        leaves = list(self._leaves(schema, column, "", schema.optional, schema.default))
        for name, of in ((leaf.field.name, leaf.field.schema) for leaf in leaves):
            if of.type is SchemaType.MAP:
                text = f"Flatten transformation does not support MAP for record with schemas (for field {name})."
                return refused(shape, column, text)
        problem = unbuildable(leaf.field.name for leaf in leaves)
        if problem is not None:
            return refused(shape, column, problem)
        fields = tuple(leaf.field for leaf in leaves)
        flat = struct_of(column, ((leaf.field.name, leaf.value) for leaf in leaves))
        return Change(Shape(replace(schema, fields=fields, optional=False, default=None)), flat)

    def _leaves(
        self, schema: ConnectSchema, column: Column, prefix: str, optional: bool, default: Any
    ) -> Iterator[_Leaf]:
        """The fields of a struct and of the structs inside it.

        :param optional: whether an enclosing struct is optional.
        :param default: the struct's part of the default of an enclosing struct.
        """
        for field in schema.fields:
            name, value = self._name(prefix, field.name), value_of(field, column, replace_null=True)
            may_be_null = optional or field.schema.optional
            stands_for_null = (default or {}).get(field.name) if field.schema.default is None else field.schema.default
            if field.schema.type is SchemaType.STRUCT:
                yield from self._leaves(field.schema, value, name, may_be_null, stands_for_null)
            else:
                yield _Leaf(Field(name, replace(field.schema, optional=may_be_null, default=stands_for_null)), value)

    def _name(self, prefix: str, name: str) -> str:
        return f"{prefix}{self.config_values['delimiter']}{name}" if prefix else name

    def _of_object(self, column: Column) -> Column:
        """Descends level by level, as many levels as the object can have at most."""
        from pyspark.sql import functions as F

        start = F.struct(F.array().cast(_ENTRIES).alias("flat"), F.map_entries(members(column)).alias("open"))
        levels = F.sequence(
            F.lit(1), F.greatest(F.lit(1), F.regexp_count(F.schema_of_variant(column), F.lit("OBJECT<")))
        )
        return F.aggregate(levels, start, self._next_level, lambda state: object_of(F.map_from_entries(state["flat"])))

    def _next_level(self, state: Column, _: Column) -> Column:
        from pyspark.sql import functions as F

        leaves = F.filter(state["open"], lambda entry: ~is_object(entry["value"]))
        objects = F.filter(state["open"], lambda entry: is_object(entry["value"]))
        # If two members get the same name, the outer one wins.
        flat = F.concat(leaves, state["flat"]).alias("flat")
        deeper = F.struct(flat, F.flatten(F.transform(objects, self._entries_in)).alias("open"))
        return F.when(F.size(state["open"]) == 0, state).otherwise(deeper)

    def _entries_in(self, outer: Column) -> Column:
        from pyspark.sql import functions as F

        def entry(inner: Column) -> Column:
            name = F.concat(outer["key"], F.lit(self.config_values["delimiter"]), inner["key"])
            key = F.when(outer["key"] == "", inner["key"]).otherwise(name)
            return F.struct(key.alias("key"), inner["value"].alias("value"))

        return F.transform(F.map_entries(members(outer["value"])), entry)


class FlattenKey(Flatten):
    """For keys."""

    part = "key"


class FlattenValue(Flatten):
    """For values."""

    part = "value"


@dataclass(frozen=True)
class _Leaf:
    field: Field
    value: Column
