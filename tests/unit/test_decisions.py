"""Decision records: each is dated, and says what was decided, why, and what else was considered."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.pages.markdown import REPOSITORY

RECORDS = sorted((REPOSITORY / "docs" / "decisions").glob("*.md"))


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.stem)
class TestRecord:
    def test_it_is_dated_below_its_title(self, record: Path) -> None:
        title, blank, date = record.read_text(encoding="utf-8").splitlines()[:3]
        assert title.startswith(f"# {record.name[:4]} ") and blank == ""
        assert re.fullmatch(r"Date: 20\d\d-[01]\d-[0-3]\d", date)

    @pytest.mark.parametrize("section", ["Context", "Decision", "Alternatives", "Consequences"])
    def test_it_has_the_section(self, record: Path, section: str) -> None:
        assert f"\n## {section}\n" in record.read_text(encoding="utf-8")


def test_numbers_are_not_used_twice() -> None:
    numbers = [record.name[:4] for record in RECORDS]
    assert sorted(set(numbers)) == numbers
