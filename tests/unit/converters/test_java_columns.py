"""Numbers and times as Java prints them, column by column as value by value."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.converters.floats import float_text
from airflow_kconnect.converters.java_columns import date_texts, double_texts

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST = datetime(1, 1, 1, tzinfo=UTC)
_LAST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC)
_EDGES = [
    0.0,
    -0.0,
    1.0,
    0.001,
    0.0009999999999999998,
    9999999.999999998,
    1e7,
    12345678.9,
    1e14,
    2.0**53 - 1,
    1e-5,
    1e-7,
]
_SAME_IN_ALL = st.floats(-(2.0**53), 2.0**53, exclude_min=True, exclude_max=True, allow_subnormal=False).filter(
    lambda number: abs(number) >= 2.3e-308 and (abs(number) >= 1e-3 or math.frexp(number)[0] not in (0.5, -0.5))
)


@given(st.lists(_SAME_IN_ALL | st.sampled_from([*_EDGES, math.inf, -math.inf, math.nan]), min_size=1))
def test_doubles_are_those_of_java(numbers: list[float]) -> None:
    found = double_texts(pa.array(numbers, pa.float64()))

    assert found is not None
    assert found.to_pylist() == [float_text(number, single=False) for number in numbers]


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(2e23, id="1.9999999999999998E23 until Java 18"),
        pytest.param(2.0**-44, id="5.684341886080802E-14 until Java 18"),
        pytest.param(2.0**53, id="too large to be sure"),
        pytest.param(5e-324, id="the smallest of all"),
    ],
)
def test_a_double_whose_text_depends_on_the_version_of_java_is_left_to_java(number: float) -> None:
    assert double_texts(pa.array([1.0, number])) is None


@given(st.lists(st.datetimes(_FIRST.replace(tzinfo=None), _LAST.replace(tzinfo=None)), min_size=1))
def test_times_are_those_of_java(moments: list[datetime]) -> None:
    seconds = [(moment.replace(tzinfo=UTC) - _EPOCH) // timedelta(seconds=1) for moment in moments]

    found = date_texts(np.array(seconds))

    assert found is not None
    assert found.to_pylist() == [f"{m:%a %b %d %H:%M:%S UTC} {m.year:04}" for m in moments]


@pytest.mark.parametrize(("moment", "seconds"), [(_FIRST, -1), (_LAST, 1)], ids=["before the year 1", "after 9999"])
def test_a_time_whose_year_has_not_four_digits_is_left_to_java(moment: datetime, seconds: int) -> None:
    edge = (moment - _EPOCH) // timedelta(seconds=1)

    assert (date_texts(np.array([edge])) is None, date_texts(np.array([edge + seconds])) is None) == (False, True)
