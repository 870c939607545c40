"""`kconnect reference`, and the pages that are made with it."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from airflow_kconnect.cli.reference import markdown, overview, pages, reference, write
from airflow_kconnect.connect.errors import ConfigError

DOCS = Path(__file__).parents[3] / "docs" / "reference"
CURE = "run: python -m airflow_kconnect.cli.reference docs/reference"


def _run(*arguments: str) -> tuple[int, str, str]:
    app = typer.Typer()
    app.command("reference")(reference)
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.stdout, result.stderr


def test_committed_pages_are_up_to_date() -> None:
    committed = {str(path.relative_to(DOCS)): path.read_text(encoding="utf-8") for path in DOCS.rglob("*.md")}
    assert committed == pages(), CURE


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("FileStreamSource", "| `topic` | string | required | high | The topic to publish data to |"),
        ("FileStreamSource", "| `on.replaced` | string | `fail` | medium |"),
        ("org.apache.kafka.connect.file.FileStreamSourceConnector", "| `file` | string | not set | high |"),
        ("VerifiableSink", "`<log.file>-<topic>-<partition>`"),
        ("JsonConverter", "| `schemas.enable` | boolean | `true` | high |"),
        ("worker", "| `exactly.once.source.support` | string | `enabled` | high |"),
        ("source", "| `kconnect.max.records` | long | not set | medium |"),
        ("source", "| `topic.creation.default.partitions` | int | required | low |"),
        ("sink", "| `topics` | list | empty | high |"),
    ],
)
def test_keys_are_rows_of_a_table(name: str, row: str) -> None:
    assert row in markdown(name)


def test_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"no single plugin is called Nothing.*worker, source, sink.*FileStream"):
        markdown("Nothing")


def test_command_without_name_lists_plugins() -> None:
    assert _run() == (0, overview(), "")
    assert "- `org.apache.kafka.connect.json.JsonConverter`: converter" in overview()


def test_command_prints_the_page_of_a_name() -> None:
    assert _run("worker") == (0, markdown("worker"), "")


def test_command_with_unknown_name_fails_in_one_line() -> None:
    code, out, error = _run("Nothing")
    assert (code, out) == (1, "")
    assert error.startswith("Error: ") and error.count("\n") == 1


def test_writing_removes_stale_pages_of_its_own_only(tmp_path: Path) -> None:
    write(tmp_path)
    gone, foreign = tmp_path / "connectors" / "Gone.md", tmp_path / "notes.md"
    gone.write_text((tmp_path / "worker.md").read_text(encoding="utf-8"), encoding="utf-8")
    foreign.write_text("# Mine\n", encoding="utf-8")
    write(tmp_path)
    assert foreign.exists() and not gone.exists()
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.md")} == {*pages(), "notes.md"}
