"""The image of a demo."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from airflow_kconnect.demo.recording import save_svg

IN_THE_DOCS = Path(__file__).parents[3] / "docs" / "images" / "demo.svg"


@pytest.fixture
def image(tmp_path: Path) -> str:
    console = Console(record=True, file=io.StringIO(), force_terminal=True)
    console.print("[green]Checked[/]")
    save_svg(console, tmp_path / "demo.svg")
    return (tmp_path / "demo.svg").read_text("utf-8")


def test_has_what_was_printed(image: str) -> None:
    assert "Checked" in image


@pytest.mark.parametrize("text", ["@font-face", "url(http"])
def test_fetches_nothing(image: str, text: str) -> None:
    assert text not in image


def test_that_of_the_documentation_is_small() -> None:
    assert IN_THE_DOCS.stat().st_size < 100_000
