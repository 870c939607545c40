"""Types of a table's columns: which hold the values of which, and what happens to two that differ; pure rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import overload

from pyspark.sql import types as T

from airflow_kconnect.connectors.types import same, wider

PRECISION_MAX = 38
_DIGITS: Mapping[T.DataType, int] = {T.ByteType(): 3, T.ShortType(): 5, T.IntegerType(): 10, T.LongType(): 19}
_EXACT: Mapping[T.DataType, tuple[T.DataType, ...]] = {
    T.FloatType(): (T.ByteType(), T.ShortType()),
    T.DoubleType(): (T.ByteType(), T.ShortType(), T.IntegerType()),
}
"""Integers that these have exactly."""
_NESTED = (T.StructType, T.ArrayType, T.MapType)
_MOMENTS = (T.DateType, T.TimestampType, T.TimestampNTZType)
_AS_TEXT = (T.NumericType, T.BooleanType, T.DateType, *_NESTED)
_FROM_TEXT = (T.NumericType, T.BooleanType, *_MOMENTS)


def holds(column: T.DataType, given: T.DataType) -> bool:
    """Whether a column takes every value of a type as it is: structs, arrays and maps are compared by their members."""
    match column, given:
        case T.StringType(), _ if isinstance(given, _AS_TEXT):
            return True
        case T.VariantType(), _:
            return not _has_other_keys(given)
        case T.DecimalType(), T.DecimalType():
            return column.scale >= given.scale and _whole(column) >= _whole(given)
        case T.DecimalType(), _ if given in _DIGITS:
            return _whole(column) >= _DIGITS[given]
        case (T.TimestampType(), T.TimestampNTZType()) | (T.TimestampNTZType(), T.TimestampType()):
            return True
    return same(column, given) or wider(column, given) == column or given in _EXACT.get(column, ())


def is_checked(given: T.DataType, column: T.DataType) -> bool:
    """Whether values of a type can be put into a column that does not hold them all: those that fit."""
    match given, column:
        case T.StringType(), _:
            return isinstance(column, _FROM_TEXT)
        case T.NumericType(), T.NumericType():
            return True
        case (T.LongType(), T.TimestampType() | T.TimestampNTZType()) | (T.IntegerType(), T.DateType()):
            return True  # as Connect itself has them: milliseconds, days
    return isinstance(given, _MOMENTS) and isinstance(column, _MOMENTS)


def promoted(known: T.DataType, wanted: T.DataType) -> T.DataType | None:
    """What a column is widened to, so that it holds both; None: no table format can do that."""
    if isinstance(known, T.DecimalType) and isinstance(wanted, T.DecimalType):
        more = wanted.scale == known.scale and wanted.precision > known.precision
        return wanted if more else None
    type_ = wider(known, wanted)
    return None if type_ == known else type_


def common(name: str, one: T.DataType, other: T.DataType) -> T.DataType:
    """The type of one column for two sorts of records: leaf for `merged`. The first one's if none holds both: then
    values of the other sort do not fit.
    """
    match one, other:
        case T.DecimalType(), T.DecimalType():
            scale = max(one.scale, other.scale)
            return T.DecimalType(min(PRECISION_MAX, max(_whole(one), _whole(other)) + scale), scale)
        case T.NumericType(), T.NumericType() if not (holds(one, other) or holds(other, one) or wider(one, other)):
            return T.DoubleType()
    if holds(one, other):
        return one
    return other if holds(other, one) else wider(one, other) or one


@overload
def nullable(type_: T.StructType) -> T.StructType: ...
@overload
def nullable(type_: T.DataType) -> T.DataType: ...
def nullable(type_: T.DataType) -> T.DataType:
    """The type without anything in it that is required."""
    match type_:
        case T.StructType():
            return T.StructType([T.StructField(e.name, nullable(e.dataType), True, e.metadata) for e in type_.fields])
        case T.ArrayType():
            return T.ArrayType(nullable(type_.elementType))
        case T.MapType():
            return T.MapType(type_.keyType, nullable(type_.valueType))
    return type_


def _whole(type_: T.DecimalType) -> int:
    """Digits before the point."""
    return type_.precision - type_.scale


def _has_other_keys(type_: T.DataType) -> bool:
    """Whether there are maps in it whose keys are not texts."""
    match type_:
        case T.MapType():
            return not isinstance(type_.keyType, T.StringType) or _has_other_keys(type_.valueType)
        case T.ArrayType():
            return _has_other_keys(type_.elementType)
        case T.StructType():
            return any(_has_other_keys(field.dataType) for field in type_.fields)
    return False
