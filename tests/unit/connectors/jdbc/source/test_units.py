"""Timestamps of columns that are coarser than clocks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.connectors.jdbc.source.columns import Kind
from airflow_kconnect.connectors.jdbc.source.tables import Column
from airflow_kconnect.connectors.jdbc.source.units import (
    DAY,
    MINUTE,
    SECOND,
    apparent_unit,
    floored,
    unit_of,
    wide_unit,
)

_MOMENTS = st.integers(-(10**19), 10**19)
_UNITS = st.sampled_from([1, 1_000, 10_000, 1_000_000, 10_000_000, SECOND, MINUTE, DAY])


@pytest.mark.parametrize(
    ("column", "kind", "unit"),
    [
        (Column("at", "timestamptz", 0, fraction=6), Kind.INSTANT, 1_000),
        (Column("at", "timestamp", 0, fraction=3), Kind.WALL, 1_000_000),
        (Column("at", "datetime", 0, fraction=0), Kind.WALL, SECOND),
        (Column("at", "date", 0, fraction=0), Kind.DATE, DAY),
        (Column("at", "TIMESTAMP", 93, scale=9), Kind.WALL, 1),
        (Column("AT", "DATE", 93), Kind.WALL, SECOND),
        (Column("at", "datetime", 93, scale=3), Kind.WALL, 10_000_000),
        (Column("at", "smalldatetime", 93), Kind.WALL, MINUTE),
        (Column("at", "datetime2", 93, scale=7), Kind.WALL, 100),
    ],
    ids=["postgresql", "milliseconds", "mysql", "date", "jdbc", "oracle", "1/300 s", "minutes", "100 ns"],
)
def test_unit_of_a_column(column: Column, kind: Kind, unit: int) -> None:
    assert unit_of(column, kind) == unit


def _half_up(value: int, unit: int) -> int:
    return (value + unit // 2) // unit * unit


def _half_away(value: int, unit: int) -> int:
    return _half_up(value, unit) if value >= 0 else -_half_up(-value, unit)


@given(horizon=_MOMENTS, later=st.integers(0, 10**15), unit=_UNITS, finer=_UNITS)
@pytest.mark.parametrize("rounded", [floored, _half_up, _half_away])
def test_what_is_written_later_is_never_before_the_horizon_rounded_down(
    rounded: object, horizon: int, later: int, unit: int, finer: int
) -> None:
    """Also where the application has rounded before the database does."""
    assert callable(rounded)
    stored = rounded(rounded(horizon + later, min(unit, finer)), unit)
    assert stored >= floored(horizon, max(unit, finer))


@pytest.mark.parametrize(
    ("value", "unit"), [(5 * SECOND, SECOND), (0, SECOND), (5_000_000, 1_000_000), (5_001_000, 1_000), (7, 1)]
)
def test_unit_that_a_value_shows(value: int, unit: int) -> None:
    assert apparent_unit(value) == unit


def test_wide_unit_is_that_of_all_values() -> None:
    assert wide_unit([DAY, 3 * DAY]) == (DAY, "days")
    assert wide_unit([DAY, 5 * MINUTE]) == (MINUTE, "minutes")
    assert wide_unit([DAY, 5 * SECOND]) is None
