"""What SQL states mean: whether a retry can help, and whether the others of a batch can be written."""

from __future__ import annotations

import pytest

from airflow_kconnect.connectors.jdbc.facts.condition import Condition, by_state


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("08006", Condition.PASSING),
        ("22001", Condition.ROW),
        ("23505", Condition.ROW),
        ("25006", Condition.READ_ONLY),
        ("28P01", Condition.LOGIN),
        ("3D000", Condition.DATABASE),
        ("40P01", Condition.PASSING),
        ("42501", Condition.RIGHTS),
        ("42P01", Condition.LASTING),
        ("53300", Condition.PASSING),
        ("55000", Condition.LASTING),
        ("55P03", Condition.PASSING),
        ("57014", Condition.PASSING),
        ("HYT00", Condition.PASSING),
        ("P0001", Condition.ROW),
        ("", Condition.LASTING),
    ],
)
def test_states(state: str, expected: Condition) -> None:
    assert by_state(state) is expected
