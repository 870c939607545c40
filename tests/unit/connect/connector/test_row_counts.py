"""What a table says that it has taken, compared with what was counted."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.connector.row_counts import RowCount


@pytest.mark.parametrize(
    ("written", "observed", "exact", "at_least", "given"),
    [
        (4, 4, 9, False, None),  # the exact one is not needed
        (4, 8, 4, False, None),
        (3, 8, 4, False, 4),
        (5, 4, 4, False, 4),
        (5, 4, 4, True, None),
        (3, 4, 4, True, 4),
        (4, 8, 4, True, None),
        (0, 0, 0, False, None),
        (0, None, 0, True, None),
        (0, None, 4, True, 4),
    ],
)
def test_it_has_to_be_as_many(
    written: int, observed: int | None, exact: int, at_least: bool, given: int | None
) -> None:
    assert RowCount(lambda: observed, lambda: exact).unlike(written, at_least=at_least) == given


def test_an_error_of_a_count_is_raised() -> None:
    def fail() -> int:
        raise KeyError("rows")

    with pytest.raises(KeyError):
        RowCount(fail, lambda: 1).unlike(1)
