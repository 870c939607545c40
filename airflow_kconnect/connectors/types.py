"""Types of columns, in files and in tables: which are the same, which is wider, and what holds the values of two."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pyspark.sql import types as T

_WIDER: Sequence[Sequence[T.DataType]] = (
    (T.ByteType(), T.ShortType(), T.IntegerType(), T.LongType()),
    (T.FloatType(), T.DoubleType()),
)
"""Types of which the later ones can hold all values of the earlier ones."""


def same(one: T.DataType, other: T.DataType) -> bool:
    """Whether they differ at most in whether nulls are possible."""
    return one.simpleString() == other.simpleString()


def wider(one: T.DataType, other: T.DataType) -> T.DataType | None:
    """The one of two number types that holds the values of both."""
    for types in _WIDER:
        if one in types and other in types:
            return max(one, other, key=types.index)
    return None


def merged(
    name: str,
    one: T.DataType,
    other: T.DataType,
    leaf: Callable[[str, T.DataType, T.DataType], T.DataType],
    fold: Callable[[str], str] = str,
) -> T.DataType:
    """The type that holds the values of both. Members of structs are matched by their names; one that only one of them
    has may be null.

    :param name: of the column, for `leaf`.
    :param leaf: called with the name and two types that differ and are not both structs, arrays or alike maps.
    :param fold: names that it makes equal are those of one member, which has the first one's.
    """
    match one, other:
        case T.StructType(), T.StructType():
            return _merged_members(name, one, other, leaf, fold)
        case T.ArrayType(), T.ArrayType():
            elements = merged(f"{name}[]", one.elementType, other.elementType, leaf, fold)
            return T.ArrayType(elements, one.containsNull or other.containsNull)
        case T.MapType(), T.MapType() if same(one.keyType, other.keyType):
            values = merged(f"{name}[]", one.valueType, other.valueType, leaf, fold)
            return T.MapType(one.keyType, values, one.valueContainsNull or other.valueContainsNull)
    return one if same(one, other) else leaf(name, one, other)


def _merged_members(
    name: str,
    one: T.StructType,
    other: T.StructType,
    leaf: Callable[[str, T.DataType, T.DataType], T.DataType],
    fold: Callable[[str], str],
) -> T.StructType:
    fields = {fold(field.name): field for field in one.fields}
    shared = {fold(field.name) for field in other.fields} & fields.keys()
    made = {
        key: field if key in shared else T.StructField(field.name, field.dataType, True, field.metadata)
        for key, field in fields.items()
    }
    for field in other.fields:
        known = fields.get(fold(field.name))
        if known is None:
            made[fold(field.name)] = T.StructField(field.name, field.dataType, True, field.metadata)
            continue
        type_ = merged(f"{name}.{known.name}" if name else known.name, known.dataType, field.dataType, leaf, fold)
        nullable = known.nullable or field.nullable
        made[fold(field.name)] = T.StructField(known.name, type_, nullable, known.metadata or field.metadata)
    return T.StructType(list(made.values()))
