"""`kconnect spark archive`, around a spark-submit that is a script."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from airflow_kconnect.cli import app
from airflow_kconnect.cli.local import spark as commands
from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.submit.spark import SparkSubmit
from tests.support.spark.pyspark_package import WRITES_ARCHIVE, pyspark_package, write_program


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SparkSubmit:
    """That of a PySpark package, whose spark-submit writes the archive."""
    monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path / "cache"))
    found = pyspark_package(tmp_path)
    write_program(found, WRITES_ARCHIVE)
    monkeypatch.setattr(commands, "find_spark_submit", lambda: found)
    return found


def _archive() -> Result:
    return CliRunner().invoke(app, ["spark", "archive"])


def test_says_how_long_it_takes_that_it_can_be_skipped_and_where_the_classes_are(
    spark: SparkSubmit, tmp_path: Path
) -> None:
    first, second, third = _archive().stdout.splitlines()
    assert "about 30 s" in first
    assert "Ctrl-C skips it" in second
    assert third.startswith(f"They are in {tmp_path / 'cache'}")


def test_says_that_it_was_done_before(spark: SparkSubmit) -> None:
    _archive()
    (only,) = _archive().stdout.splitlines()
    assert only.startswith("Spark's classes are already in ")


def test_a_failure_is_one_line_with_the_last_of_spark(spark: SparkSubmit) -> None:
    write_program(spark, "#!/bin/sh\necho one >&2\necho two >&2\nexit 7\n")
    result = _archive()
    assert (result.exit_code, result.stderr) == (
        1,
        "Error: The class archive was not created: exit code 7 of spark-submit: two\n",
    )


def test_without_java_it_is_a_line_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> SparkSubmit:
        raise SetupError("No Java was found")

    monkeypatch.setattr(commands, "find_spark_submit", fail)
    result = _archive()
    assert (result.exit_code, result.stderr) == (1, "Error: No Java was found\n")
