"""A path is slower if that is more than chance: by more than 15 % in the median, and in each round."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.comparison import Change, changes, main, table


def _rounds(*costs: float) -> list[dict[str, float]]:
    return [{"File to Kafka": cost} for cost in costs]


@pytest.mark.parametrize(
    ("before", "after", "slower"),
    [
        pytest.param((2.0, 2.0, 2.0), (2.4, 2.4, 2.4), True, id="dearer in each round"),
        pytest.param((2.0, 2.0, 2.0), (2.4, 1.9, 2.6), False, id="cheaper in one round"),
        pytest.param((2.0, 2.0, 2.0), (2.1, 2.1, 2.1), False, id="a little dearer"),
        pytest.param((2.0, 2.0, 2.0), (1.5, 1.5, 1.5), False, id="cheaper"),
        pytest.param((2.0, 3.0, 4.0), (2.5, 3.5, 5.0), True, id="dearer, on a machine that gets busier"),
    ],
)
def test_slower_is_what_costs_more_each_time(before: tuple[float, ...], after: tuple[float, ...], slower: bool) -> None:
    (change,) = changes(_rounds(*before), _rounds(*after))
    assert change.slower is slower


def test_rounds_are_compared_with_each_other() -> None:
    (change,) = changes(_rounds(2.0, 4.0, 1.0), _rounds(3.0, 4.0, 2.0))
    assert change == Change("File to Kafka", 2.0, 3.0, 1.0, 2.0)


def test_a_path_of_one_side_only_is_left_out() -> None:
    assert changes([{"old": 1.0, "both": 1.0}], [{"new": 1.0, "both": 1.0}]) == [Change("both", 1.0, 1.0, 1.0, 1.0)]


def test_the_table_marks_what_is_slower() -> None:
    lines = table([Change("a", 1.0, 2.0, 1.5, 2.5), Change("b", 1.0, 1.0, 0.9, 1.1)]).splitlines()
    assert lines[2:] == [
        "| a | 1.00 | 2.00 | 2.00 (1.50 to 2.50) | slower |",
        "| b | 1.00 | 1.00 | 1.00 (0.90 to 1.10) |  |",
    ]


def test_another_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="is not a checkout of this repository that can be compared"):
        main(tmp_path)
