"""Members of structs and of VARIANT objects, and errors for values that have no members."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, cast

from airflow_kconnect.connect.config import ConfigDef, Importance, Type
from airflow_kconnect.connect.data import ConnectSchema, Field, SchemaType, Shape
from airflow_kconnect.connect.frame import RecordFrame
from airflow_kconnect.transforms.base import Change, Part, PartTransformation, Scope, union_of, with_exception_column
from airflow_kconnect.transforms.expressions.schemaless import by_kind, java_class, members

if TYPE_CHECKING:
    from pyspark.sql import Column

SCHEMA_BUILDER = "org.apache.kafka.connect.errors.SchemaBuilderException"


def define_null_rule(config: ConfigDef) -> ConfigDef:
    """Add ``replace.null.with.default``."""
    text = "Whether a null in a field that has a default value becomes that default when the field is read."
    return config.define("replace.null.with.default", Type.BOOLEAN, True, Importance.MEDIUM, text)


class PassesNulls(PartTransformation):
    """Leaves nulls unchanged, together with their schema."""

    def apply(self, frame: RecordFrame, where: Column | None, scope: Scope) -> RecordFrame:
        union = union_of(frame, self.part)
        if any(_may_be_null(shape) for shape in union.shapes):
            present = reduce(or_, (frame.df[name].isNotNull() for name in union.columns))
            where = present if where is None else where & present
        return super().apply(frame, where, scope)


def _may_be_null(shape: Shape) -> bool:
    # Schemaless nulls have no schema to keep.
    return shape.schema is not None and (shape.schema.optional or shape.schema.default is not None)


def rows_by_shape(frame: RecordFrame, part: Part) -> list[tuple[Column, Shape, Column]]:
    """For each shape of a record part: which rows have it, the shape, and its column."""
    from pyspark.sql import functions as F

    union = union_of(frame, part)
    pairs = enumerate(zip(union.shapes, union.columns, strict=True))
    return [
        (frame.df[union.tag] == index if union.tag else F.lit(True), shape, frame.df[name])
        for index, (shape, name) in pairs
    ]


def value_of(field: Field, parent: Column, *, replace_null: bool) -> Column:
    """A struct's member, as ``Struct.get`` or ``Struct.getWithoutDefault`` returns it; null if the struct is null."""
    from pyspark.sql import functions as F

    from airflow_kconnect.converters.json.read import or_default
    from airflow_kconnect.converters.json.rules import Rules

    value = parent.getField(field.name)
    if field.schema.default is None or not replace_null:
        return value
    return F.when(parent.isNotNull(), or_default(field.schema, value, Rules()))


def struct_of(parent: Column, members: Iterable[tuple[str, Column]]) -> Column:
    """A struct of (name, column) pairs; null where `parent` is."""
    from pyspark.sql import functions as F

    return F.when(parent.isNotNull(), F.struct(*(column.alias(name) for name, column in members)))


def unbuildable(names: Iterable[str]) -> Column | None:
    """Why a struct cannot have fields with these names (``SchemaBuilder.field``); None if it can."""
    seen: set[str] = set()
    for name in names:
        if not name:
            return with_exception_column(SCHEMA_BUILDER, "fieldName cannot be null.")
        if name in seen:
            text = f"Cannot create field because of field name duplication {name}"
            return with_exception_column(SCHEMA_BUILDER, text)
        seen.add(name)
    return None


def null_of_required(name: str, schema: ConnectSchema) -> str:
    """Why a field without a value cannot be put into a struct."""
    return f'Invalid value: null used for required field: "{name}", schema type: {schema.type.name}'


def no_such_field() -> Column:
    """What Java throws where a struct that must have a field does not have it."""
    text = (
        'Cannot invoke "org.apache.kafka.connect.data.Field.schema()" because the return value of '
        '"org.apache.kafka.connect.data.Schema.field(String)" is null'
    )
    return with_exception_column("java.lang.NullPointerException", text)


def refused(shape: Shape, column: Column, error: Column | str) -> Change:
    """No change, but an error wherever there is a value."""
    from pyspark.sql import functions as F

    return Change(shape, column, F.when(column.isNotNull(), error))


def no_struct(schema: ConnectSchema, column: Column, purpose: str) -> Column:
    """The error for values with a schema, including nulls, that are not structs; null for structs."""
    from pyspark.sql import functions as F

    text = f"Only Struct objects supported for [{purpose}], found: "
    error = F.when(column.isNull(), f"{text}null")
    return error if schema.type is SchemaType.STRUCT else error.otherwise(text + java_class(schema))


def no_object(value: Column, purpose: str) -> Column:
    """The error for VARIANT values, including nulls, that are not objects; null for objects."""
    from pyspark.sql import functions as F

    text = F.lit(f"Only Map objects supported in absence of schema for [{purpose}], found: ")
    class_name = F.coalesce(by_kind(value, lambda schema: F.lit(java_class(schema))), F.lit("null"))
    return F.when(~is_object(value), F.concat(text, class_name))


def is_object(value: Column) -> Column:
    """Whether a VARIANT is an object; false for null."""
    from pyspark.sql import functions as F

    # Reads no member: much faster than asking for the schema.
    return F.try_variant_get(value, "$", "struct<>").isNotNull()


def object_of(members: Column) -> Column:
    """A VARIANT object from a MAP<STRING, VARIANT>; a null in it becomes a JSON null."""
    from pyspark.sql import functions as F

    return F.to_variant_object(members)


def member(value: Column, name: str) -> Column:
    """A member of a VARIANT object, null if there is none; a JSON null stays one (see `or_null`)."""
    from pyspark.sql import functions as F

    path = _path(name)
    return F.try_variant_get(value, path, "variant") if path else members(value)[name]


def with_member(value: Column, name: str, new: Column) -> Column:
    """A VARIANT object with a member added or replaced; null for anything else.

    :param new: a scalar or VARIANT, never null.
    """
    from pyspark.sql import functions as F

    path, newer = _path(name), cast("Any", F)
    if path and _edits_variants():
        return cast("Column", newer.try_variant_set(value, path, new))
    return object_of(F.map_concat(members(value), F.create_map(F.lit(name), new.cast("variant"))))


def without_members(value: Column, names: Iterable[str]) -> Column:
    """A VARIANT object without some members."""
    from pyspark.sql import functions as F

    paths = {name: _path(name) if _edits_variants() else None for name in names}
    known = [path for path in paths.values() if path]
    others = [name for name, path in paths.items() if not path]
    if known:
        value = cast("Any", F).variant_delete(value, *known)
    return object_of(F.map_filter(members(value), lambda name, _: ~name.isin(others))) if others else value


def or_null(value: Column) -> Column:
    """A VARIANT, with a JSON null turned into null, as for schemaless values."""
    from pyspark.sql import functions as F

    return F.when(~F.is_variant_null(value), value)


def _edits_variants() -> bool:
    """Whether this PySpark can edit a VARIANT in place, as 4.3 does; otherwise it is rebuilt, with the same result."""
    from pyspark.sql import functions as F

    return hasattr(F, "try_variant_set")


def _path(name: str) -> str | None:
    """Spark's path to a member; it cannot express a name with both kinds of quotes."""
    quote = "'" if "'" not in name else '"'
    return None if quote in name else f"$[{quote}{name}{quote}]"
