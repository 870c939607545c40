"""`kconnect spark archive`, around a spark-submit that is a script."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from airflow_kconnect.cli import app
from airflow_kconnect.cli.local import spark as commands
from airflow_kconnect.machine.java import Java
from airflow_kconnect.submit.spark import SparkSubmit

# Writes the archive that its Java options ask for.
_WRITES = """#!{python}
import pathlib, re, sys
pathlib.Path(re.search(r"-XX:ArchiveClassesAtExit=(\\S+)", " ".join(sys.argv))[1]).write_text("classes")
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The spark-submit of a PySpark package."""
    monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path / "cache"))
    (tmp_path / "jars").mkdir()
    (tmp_path / "java").touch()
    program = tmp_path / "spark-submit"
    found = SparkSubmit(program, Java(tmp_path / "java", 17), tmp_path)
    monkeypatch.setattr(commands, "find_spark_submit", lambda: found)
    return program


def _archive(program: Path, text: str = _WRITES) -> Result:
    program.write_text(text.format(python=sys.executable))
    program.chmod(0o755)
    return CliRunner().invoke(app, ["spark", "archive"])


def test_says_how_long_it_takes_and_where_the_classes_are(program: Path) -> None:
    first, second = _archive(program).stdout.splitlines()
    assert "about 30 s" in first
    assert second.startswith(f"They are in {program.parent / 'cache'}")


def test_says_that_it_was_done_before(program: Path) -> None:
    _archive(program)
    (only,) = _archive(program).stdout.splitlines()
    assert only.startswith("Spark's classes are already in ")


def test_a_failure_is_one_line_with_the_last_of_spark(program: Path) -> None:
    result = _archive(program, "#!/bin/sh\necho one >&2\necho two >&2\nexit 7\n")
    assert (result.exit_code, result.stderr) == (
        1,
        "Error: The class archive was not created: exit code 7 of spark-submit: two\n",
    )
