"""Packages of `kconnect new` pass their own type checks and tests, as they are."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from airflow_kconnect.skeletons.writing import Kind, written

REPOSITORY = Path(__file__).parents[3]


def _run(folder: Path, *command: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "MYPYPATH": str(REPOSITORY)}
    ended = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", list(Kind))
def test_a_package_passes_its_own_types_and_tests(kind: Kind, tmp_path: Path) -> None:
    written(kind, f"my-{kind}", tmp_path)
    _run(tmp_path / f"my-{kind}", "mypy", "--cache-dir", str(tmp_path / "mypy"))
    _run(tmp_path / f"my-{kind}", "pytest", "-q", "-p", "no:cacheprovider")
