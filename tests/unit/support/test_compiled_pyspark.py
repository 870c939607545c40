"""PySpark's archive with compiled modules, as `make setup` leaves it."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.support.spark.compiled_pyspark import compile_archive


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    """An archive with a package, whose module fails when it is called, and a test."""
    path = tmp_path / "pyspark.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("package/__init__.py", "")
        made.writestr("package/module.py", "def fail():\n    raise ValueError\n")
        made.writestr("package/tests/test_module.py", "this is not Python")
    compile_archive(path)
    return path


def _python(archive: Path, script: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-S", "-c", script]
    return subprocess.run(command, env={"PYTHONPATH": str(archive)}, capture_output=True, text=True, check=False)


def test_compiled_modules_are_imported(archive: Path) -> None:
    assert _python(archive, "import package.module as m; print(m.__file__)").stdout.strip().endswith("module.pyc")


def test_tracebacks_name_the_source(archive: Path) -> None:
    shown = _python(archive, "import package.module; package.module.fail()").stderr
    assert f"{archive}/package/module.py" in shown


def test_sources_stay(archive: Path) -> None:
    with zipfile.ZipFile(archive) as made:
        assert {"package/__init__.py", "package/module.py", "package/tests/test_module.py"} <= set(made.namelist())


def test_nothing_is_added_twice(archive: Path) -> None:
    assert compile_archive(archive) == 0
