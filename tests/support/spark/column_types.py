"""Hypothesis' strategies of types of columns."""

from __future__ import annotations

from hypothesis import strategies as st
from pyspark.sql import types as T

DECIMALS = st.integers(1, 38).flatmap(lambda p: st.integers(0, p).map(lambda s: T.DecimalType(p, s)))
_NUMBERS: list[T.DataType] = [
    *(T.ByteType(), T.ShortType(), T.IntegerType(), T.LongType()),
    *(T.FloatType(), T.DoubleType()),
]
_OTHERS: list[T.DataType] = [T.StringType(), T.BooleanType(), T.BinaryType(), T.DateType(), T.TimestampType()]
NUMBERS: st.SearchStrategy[T.DataType] = st.one_of(st.sampled_from(_NUMBERS), DECIMALS)
SCALARS: st.SearchStrategy[T.DataType] = st.one_of(NUMBERS, st.sampled_from(_OTHERS))


def _nested(inner: st.SearchStrategy[T.DataType]) -> st.SearchStrategy[T.DataType]:
    members = st.dictionaries(st.sampled_from("abcd"), st.tuples(inner, st.booleans()), min_size=1, max_size=3)
    return st.one_of(
        members.map(lambda m: T.StructType([T.StructField(n, t, null) for n, (t, null) in m.items()])),
        st.tuples(inner, st.booleans()).map(lambda each: T.ArrayType(*each)),
        st.tuples(inner, st.booleans()).map(lambda each: T.MapType(T.StringType(), *each)),
    )


TYPES = st.recursive(SCALARS, _nested, max_leaves=6)
