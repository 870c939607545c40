"""docs/reliability-cases.md: the tests that it names exist."""

from __future__ import annotations

import re

import pytest

from tests.support.pages.markdown import REPOSITORY

_NAMED = re.compile(r"`((?:unit|integration|airflow|torture|newcomer|fuzz)/[\w/]+\.py)((?:::\w+)*)`")
NAMED = sorted(set(_NAMED.findall((REPOSITORY / "docs" / "reliability-cases.md").read_text(encoding="utf-8"))))


def test_tests_are_named() -> None:
    assert len(NAMED) > 500


@pytest.mark.parametrize(("file", "names"), NAMED)
def test_each_named_test_exists(file: str, names: str) -> None:
    text = (REPOSITORY / "tests" / file).read_text(encoding="utf-8")
    assert all(re.search(rf"\b(def|class) {name}\b", text) for name in names.split("::")[1:])
