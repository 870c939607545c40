"""Types of columns in files: which type can hold which, how they differ, and values in another type."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.types import merged, same, wider


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
        case T.MapType(), T.MapType() if same(known.keyType, given.keyType):
            yield from differences((*path, "[]"), known.valueType, given.valueType)
        case _ if not same(known, given) and wider(known, given) != known:
            kind: Literal["wider", "other"] = "other" if wider(known, given) is None else "wider"
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
    return merged(name, one, other, _common_leaf)


def _common_leaf(name: str, one: T.DataType, other: T.DataType) -> T.DataType:
    common = wider(one, other)
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
    if same(given, wanted):
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
