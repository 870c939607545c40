"""Each symptom that a runbook lists leads to that runbook."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from airflow_kconnect.errors import ConnectorFencedError, connector_error
from airflow_kconnect.runbooks import FOLDER, runbook_url

PAGES = sorted((Path(__file__).parents[2] / "docs" / "runbooks").glob("*.md"))


def symptoms() -> list[tuple[str, str]]:
    lines = []
    for page in PAGES:
        block = re.search(r"## Symptom\n.*?```text\n(.*?)```", page.read_text("utf-8"), re.DOTALL)
        assert block is not None
        # A missing file is mostly that and nothing more.
        lines += [(page.stem, line) for line in block[1].splitlines() if "does not exist" not in line]
    return lines


@pytest.mark.parametrize(("page", "line"), symptoms())
def test_a_symptom_leads_to_its_page(page: str, line: str) -> None:
    assert runbook_url(line) == f"{FOLDER}/{page}.md"


def test_other_errors_have_none() -> None:
    assert runbook_url("Configuration is invalid: `tasks.max`: Invalid value many") is None


def test_an_error_names_its_runbook() -> None:
    error = connector_error(4, "driver of connector c: fenced by a newer run")

    assert isinstance(error, ConnectorFencedError)
    assert str(error) == f"driver of connector c: fenced by a newer run (runbook: {FOLDER}/fenced.md)"
