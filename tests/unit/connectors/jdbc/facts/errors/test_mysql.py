"""What the numbers of MySQL's errors mean."""

from __future__ import annotations

import pytest

from airflow_kconnect.connectors.jdbc.facts.condition import Condition
from airflow_kconnect.connectors.jdbc.facts.errors.mysql import by_number


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (1045, Condition.LOGIN),
        (1049, Condition.DATABASE),
        (1062, Condition.ROW),
        (1114, Condition.PASSING),
        (1153, Condition.ROW),
        (1290, Condition.READ_ONLY),
        (1317, Condition.PASSING),
        (1836, Condition.READ_ONLY),
        (2006, Condition.PASSING),
        (2013, Condition.PASSING),
        (1146, None),
    ],
)
def test_numbers(number: int, expected: Condition | None) -> None:
    assert by_number(number) is expected
