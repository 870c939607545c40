"""docs/reliability.md: the tests that it names exist."""

from __future__ import annotations

import re

import pytest

from tests.support.pages.markdown import REPOSITORY

_NAMED = re.compile(r"`((?:unit|integration|airflow|torture|newcomer|fuzz)/[\w/]+\.py)(?:::(\w+))?`")
NAMED = sorted(set(_NAMED.findall((REPOSITORY / "docs" / "reliability.md").read_text(encoding="utf-8"))))


def test_tests_are_named() -> None:
    assert len(NAMED) > 20


@pytest.mark.parametrize(("file", "test"), NAMED)
def test_each_named_test_exists(file: str, test: str) -> None:
    text = (REPOSITORY / "tests" / file).read_text(encoding="utf-8")
    assert not test or re.search(rf"\b(def|class) {test}\b", text)
