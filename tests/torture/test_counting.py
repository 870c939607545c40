"""What a schedule's count finds: records that are missing, doubled, or were never written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.torture.connectors import FileSink
from tests.torture.player import Outcome, count


class Lines(FileSink):
    """A sink's file with lines that a test has written."""

    def __init__(self, folder: Path, added: int, lines: list[int]) -> None:
        self.folder, self.added = folder, added
        (folder / "out.txt").write_text("".join(f"{line}\n" for line in lines))


def _counted(folder: Path, lines: list[int], *, exactly_once: bool = True) -> Outcome:
    outcome = Outcome("file sink", 0, 1, exactly_once)
    count(Lines(folder, 3, lines), outcome)
    return outcome


def test_all_records_once_are_no_problem(tmp_path: Path) -> None:
    assert _counted(tmp_path, [2, 0, 1]).problems == []


@pytest.mark.parametrize("exactly_once", [True, False])
def test_a_missing_record_is_a_problem(tmp_path: Path, exactly_once: bool) -> None:
    outcome = _counted(tmp_path, [0, 2], exactly_once=exactly_once)
    assert (outcome.missing, len(outcome.problems)) == (1, 1)


@pytest.mark.parametrize(("exactly_once", "problems"), [(True, 1), (False, 0)])
def test_a_doubled_record_is_a_problem_if_exactly_once_was_promised(
    tmp_path: Path, exactly_once: bool, problems: int
) -> None:
    outcome = _counted(tmp_path, [0, 1, 1, 2], exactly_once=exactly_once)
    assert (outcome.doubled, len(outcome.problems)) == (1, problems)


@pytest.mark.parametrize("exactly_once", [True, False])
def test_a_record_of_an_aborted_transaction_is_a_problem(tmp_path: Path, exactly_once: bool) -> None:
    assert len(_counted(tmp_path, [0, 1, 2, -1], exactly_once=exactly_once).problems) == 1
