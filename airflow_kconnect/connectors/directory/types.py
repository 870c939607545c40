"""Types of columns in files: which type can hold which, how they differ, and values in another type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from airflow_kconnect.connect.errors import DataError

_WIDER: Sequence[Sequence[T.DataType]] = (
    (T.ByteType(), T.ShortType(), T.IntegerType(), T.LongType()),
    (T.FloatType(), T.DoubleType()),
)
"""Types of which the later ones can hold all values of the earlier ones."""


@dataclass(frozen=True)
class Difference:
    """Why a column cannot simply take values of another type.

    :param kind: ``new``: a member that it lacks; ``wider``: numbers that may not fit; ``other``: none fits.
    :param path: names of the members, ``[]`` for the values of arrays and maps.
    """

    kind: Literal["new", "wider", "other"]
    path: tuple[str, ...]
    text: str

    @property
    def name(self) -> str:
        return ".".join(self.path).replace(".[]", "[]")


def differences(path: tuple[str, ...], known: T.DataType, given: T.DataType) -> Iterator[Difference]:
    """What a column of a known type cannot simply take of values of a given type."""
    match known, given:
        case T.StructType(), T.StructType():
            for field in given.fields:
                inner = (*path, field.name)
                if field.name in known.names:
                    yield from differences(inner, known[field.name].dataType, field.dataType)
                else:
                    yield new(inner)
        case T.ArrayType(), T.ArrayType():
            yield from differences((*path, "[]"), known.elementType, given.elementType)
        case T.MapType(), T.MapType() if _equal(known.keyType, given.keyType):
            yield from differences((*path, "[]"), known.valueType, given.valueType)
        case _ if not _equal(known, given) and _wider(known, given) != known:
            kind: Literal["wider", "other"] = "other" if _wider(known, given) is None else "wider"
            yield _difference(kind, path, f"is {given.simpleString()}, and was {known.simpleString()}")


def new(path: tuple[str, ...]) -> Difference:
    """The difference of a member that is not there."""
    return _difference("new", path, "is new")


def _difference(kind: Literal["new", "wider", "other"], path: tuple[str, ...], what: str) -> Difference:
    unexplained = Difference(kind, path, "")
    return Difference(kind, path, f"`{unexplained.name}` {what}")


def common_type(name: str, one: T.DataType, other: T.DataType) -> T.DataType:
    """The type that holds the values of both, members of structs by their names.

    :raises DataError: there is none.
    """
    match one, other:
        case T.StructType(), T.StructType():
            types = {field.name: field.dataType for field in one.fields}
            for field in other.fields:
                inner = f"{name}.{field.name}"
                had = types.get(field.name)
                types[field.name] = field.dataType if had is None else common_type(inner, had, field.dataType)
            return T.StructType([T.StructField(member, type_) for member, type_ in types.items()])
        case T.ArrayType(), T.ArrayType():
            return T.ArrayType(common_type(f"{name}[]", one.elementType, other.elementType))
        case T.MapType(), T.MapType() if _equal(one.keyType, other.keyType):
            return T.MapType(one.keyType, common_type(f"{name}[]", one.valueType, other.valueType))
    common = one if _equal(one, other) else _wider(one, other)
    if common is None:
        raise DataError(
            f"field `{name}` is {one.simpleString()} in some records and {other.simpleString()} in others, which one "
            "Parquet column cannot hold: set `format` to json, or cast the field with a transformation"
        )
    return common


def fitted(column: Column, given: T.DataType, wanted: T.DataType) -> Column:
    """Values in another type: members that they lack are null, those that it lacks are left out.

    Numbers that do not fit become null, or lose digits.
    """
    if _equal(given, wanted):
        return column
    match given, wanted:
        case T.StructType(), T.StructType():
            members = [_member(column, given, field).alias(field.name) for field in wanted.fields]
            return F.when(column.isNotNull(), F.struct(*members))
        case T.ArrayType(), T.ArrayType():
            return F.transform(column, lambda item: fitted(item, given.elementType, wanted.elementType))
        case T.MapType(), T.MapType():
            return F.transform_values(column, lambda _, value: fitted(value, given.valueType, wanted.valueType))
    return column.try_cast(wanted)


def _member(column: Column, given: T.StructType, field: T.StructField) -> Column:
    if field.name not in given.names:
        return F.lit(None).cast(field.dataType)
    return fitted(column.getField(field.name), given[field.name].dataType, field.dataType)


def _equal(one: T.DataType, other: T.DataType) -> bool:
    """Whether they differ at most in whether nulls are possible."""
    return one.simpleString() == other.simpleString()


def _wider(one: T.DataType, other: T.DataType) -> T.DataType | None:
    """The one of two number types that holds the values of both."""
    for types in _WIDER:
        if one in types and other in types:
            return max(one, other, key=types.index)
    return None
