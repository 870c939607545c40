"""Rows in Spark partitions, one for each split, and what is left of the changes of a row within a commit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from airflow_kconnect.connectors.table.identifiers import quoted
from airflow_kconnect.connectors.table.source.change_logs import DELETED, KIND, ORDER, UPSERTED

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql import types as T

_PLACE = "kconnect_place"
_SEED, _C1, _C2, _M1, _M2, _M3, _MASK = 42, 0xCC9E2D51, 0x1B873593, 0xE6546B64, 0x85EBCA6B, 0xC2B2AE35, 0xFFFFFFFF


def in_parts(rows: DataFrame, by: Sequence[str], parts: int, wanted: Sequence[int]) -> DataFrame:
    """Rows of some of the parts that a hash of columns makes, a Spark partition for each, with the column `_PLACE`.

    The same row is in the same part, whenever and by whichever version of Spark it is read.

    :param by: columns. :param wanted: partition n has the rows of part ``wanted[n]``.
    """
    from pyspark.sql import functions as F

    places = {part: place for part, place in zip(wanted, places_of(len(wanted)), strict=True)}
    hashed = F.xxhash64(*(comparable(F.col(quoted(name)), rows.schema[name].dataType) for name in by))
    by_part = F.array(*(F.lit(places.get(part)).cast("int") for part in range(parts)))
    place = F.element_at(by_part, F.pmod(hashed, F.lit(parts)).cast("int") + 1)
    return rows.withColumn(_PLACE, place).where(F.col(_PLACE).isNotNull()).repartition(len(wanted), F.col(_PLACE))


def in_order(placed: DataFrame) -> DataFrame:
    """Rows that were only added, each partition's in the order of their commits."""
    return placed.sortWithinPartitions(ORDER).drop(_PLACE)


def settled(placed: DataFrame, keys: Sequence[str]) -> DataFrame:
    """What each commit has done to each key, in the order of commits: its new values if they differ, or its deletion.

    Formats write rows again that did not change, and a changed one as a deletion and a new row. A row that got another
    key is deleted under the old one.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    names = [field.name for field in placed.schema.fields if field.name not in (KIND, ORDER, _PLACE)]
    values = F.struct(*(comparable(F.col(quoted(n)), placed.schema[n].dataType).alias(n) for n in names))
    # The partitions are those of the column that comes first: nothing is exchanged again.
    change = Window.partitionBy(_PLACE, *map(quoted, keys), ORDER).orderBy(KIND)
    whole = change.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    is_last = F.max(KIND).over(whole) == DELETED
    is_same = F.lag(KIND).over(change).eqNullSafe(F.lit(DELETED)) & F.lag(values).over(change).eqNullSafe(values)
    rows = placed.withColumns({"kconnect_is_last": is_last, "kconnect_is_same": is_same})
    kept = F.when(F.col(KIND) == UPSERTED, ~F.col("kconnect_is_same")).otherwise(F.col("kconnect_is_last"))
    return rows.where(kept).drop("kconnect_is_last", "kconnect_is_same", _PLACE)


def comparable(column: Column, type_: T.DataType) -> Column:
    """A column as something that has a hash and can be compared; maps and variants have neither."""
    from pyspark.sql import functions as F

    return F.to_json(F.struct(column.alias("v"))) if has_unordered(type_) else column


def has_unordered(type_: T.DataType) -> bool:
    """Whether values of a type cannot be compared."""
    from pyspark.sql import types as T

    match type_:
        case T.MapType() | T.VariantType():
            return True
        case T.ArrayType():
            return has_unordered(type_.elementType)
        case T.StructType():
            return any(has_unordered(field.dataType) for field in type_.fields)
    return False


def places_of(count: int) -> list[int]:
    """Numbers that Spark's `repartition` by a column puts into partition 0, 1, ... of that many."""
    found: dict[int, int] = {}
    number = 0
    while len(found) < count:
        found.setdefault(murmur3(number) % count, number)
        number += 1
    return [found[partition] for partition in range(count)]


def murmur3(number: int) -> int:
    """Spark's `hash` of an INT, by which it partitions."""
    mixed = _SEED ^ _rotated(number * _C1 & _MASK, 15) * _C2 & _MASK
    mixed = (_rotated(mixed, 13) * 5 + _M1) & _MASK ^ 4
    mixed = (mixed ^ mixed >> 16) * _M2 & _MASK
    mixed = (mixed ^ mixed >> 13) * _M3 & _MASK
    mixed ^= mixed >> 16
    return mixed - (mixed >> 31 << 32)


def _rotated(number: int, bits: int) -> int:
    return (number << bits | number >> 32 - bits) & _MASK
