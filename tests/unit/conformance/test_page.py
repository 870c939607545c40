"""The page about conformance names each check."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from airflow_kconnect.conformance.checks import Check
from airflow_kconnect.conformance.sink_checks import SINK_CHECKS
from airflow_kconnect.conformance.source_checks import SOURCE_CHECKS
from airflow_kconnect.conformance.task_checks import TASK_CHECKS

PAGE = (Path(__file__).parents[3] / "docs" / "guides" / "conformance.md").read_text(encoding="utf-8")


def _named(heading: str) -> set[str]:
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = [line.split(" | ")[0] for line in section.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


@pytest.mark.parametrize(
    ("heading", "checks"), [("Checks of sources", (*TASK_CHECKS, *SOURCE_CHECKS)), ("Checks of sinks", SINK_CHECKS)]
)
def test_the_page_names_all_checks_and_no_others(heading: str, checks: tuple[Check, ...]) -> None:
    assert _named(heading) == {check.name for check in checks}
