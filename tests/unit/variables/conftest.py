"""Secrets in files and in the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.variables import CANARY


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    """A folder with files of secrets."""
    directory = tmp_path / "secrets"
    directory.mkdir()
    (directory / "db.properties").write_text(f"password={CANARY}\nuser=etl\nnested=${{env:KC_USER}}\nnone=\n")
    (directory / "token").write_text(f"{CANARY}\n")
    return directory


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is in the environment, and what is not."""
    monkeypatch.setenv("KC_USER", "etl")
    monkeypatch.setenv("KC_EMPTY", "")
    monkeypatch.delenv("KC_MISSING", raising=False)
