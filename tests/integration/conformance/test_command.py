"""`kconnect conformance`, and the example of its page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from airflow_kconnect.cli import app
from tests.support.pages.markdown import blocks

DOCS = Path(__file__).parents[3] / "docs"


def _checked(bootstrap: str, connector: str, harness: str, *only: str) -> tuple[int, dict[str, Any]]:
    options = [part for check in only for part in ("--only", check)]
    command = ["conformance", connector, "--harness", harness, "--bootstrap-servers", bootstrap, "--json", *options]
    result = CliRunner().invoke(app, command)
    return result.exit_code, json.loads(result.stdout)


def _example(page: Path, begin: str, file: Path) -> None:
    (text,) = [block.text for block in blocks(page) if block.text.startswith(begin)]
    file.write_text(text)


def test_the_example_of_the_page_passes(bootstrap: str, worker_topics: str, tmp_path: Path) -> None:
    notes, harness = tmp_path / "notes_connector.py", tmp_path / "notes_harness.py"
    _example(DOCS / "writing-connectors.md", '"""A source connector: the rows of table `notes`', notes)
    _example(DOCS / "guides" / "conformance.md", '"""What the kit has to know', harness)
    checks = ("offsets", "same-again", "runs")
    code, verdict = _checked(bootstrap, f"{notes}:NotesSourceConnector", f"{harness}:NotesHarness", *checks)
    assert (code, [finding["status"] for finding in verdict["findings"]]) == (0, ["passed"] * 3), verdict


@pytest.mark.parametrize(("connector", "code", "may"), [("Lines", 0, None), ("OffsetsOfBatches", 1, "at_least_once")])
def test_the_exit_code_says_whether_a_promise_was_broken(
    connector: str, code: int, may: str | None, bootstrap: str
) -> None:
    module = "tests.support.connectors.lines"
    found, verdict = _checked(bootstrap, f"{module}:{connector}", f"{module}:LinesHarness", "offsets")
    assert (found, verdict["kept"], verdict["claims"], verdict["may"]) == (code, code == 0, "exactly_once", may)


def test_a_function_is_checked_as_a_class_is(bootstrap: str, worker_topics: str, tmp_path: Path) -> None:
    shop, prices, config = (tmp_path / name for name in ("shop.py", "prices.jsonl", "prices.json"))
    _example(DOCS / "writing-connectors.md", "import json\nfrom collections.abc import Iterator", shop)
    prices.write_text("".join(f'{{"sku": "s{n}", "changed": {n // 2}}}\n' for n in range(6)))
    config.write_text(json.dumps({"path": str(prices)}))
    checks = [part for name in ("offsets", "same-again", "runs") for part in ("--only", name)]
    command = ["conformance", f"{shop}:prices", "--config", str(config), "--bootstrap-servers", bootstrap, "--json"]
    result = CliRunner().invoke(app, [*command, *checks])
    findings = json.loads(result.stdout)["findings"]
    assert [finding["text"] for finding in findings if finding["status"] != "passed"] == []
