"""The class-data archive: used when it is there, and never a reason to fail."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

import pytest

from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.machine.java import Java
from airflow_kconnect.submit import class_archive
from airflow_kconnect.submit.class_archive import class_archive_options, main, make_class_archive
from airflow_kconnect.submit.spark import SparkSubmit

# Stands for spark-submit: writes the archive that its Java options ask for.
_WRITES = """#!{python}
import pathlib, re, sys
pathlib.Path(re.search(r'"-XX:ArchiveClassesAtExit=([^"]+)"', " ".join(sys.argv))[1]).write_text("classes")
"""


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SparkSubmit:
    monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path / "my cache"))
    (tmp_path / "jars").mkdir()
    (tmp_path / "java").touch()
    return SparkSubmit(tmp_path / "spark-submit", Java(tmp_path / "java", 17), tmp_path)


def _program(spark: SparkSubmit, text: str) -> None:
    spark.program.write_text(text)
    spark.program.chmod(0o755)


def _options(spark: SparkSubmit) -> list[str]:
    assert spark.pyspark is not None
    return class_archive_options(spark.java, spark.pyspark)


class TestClassArchive:
    def test_without_one_there_are_no_options(self, spark: SparkSubmit) -> None:
        assert _options(spark) == []

    def test_is_used_once_it_is_made(self, spark: SparkSubmit) -> None:
        _program(spark, _WRITES.format(python=sys.executable))

        archive = make_class_archive(spark)

        assert archive is not None
        assert archive.read_text() == "classes"
        assert f"-XX:SharedArchiveFile={archive}" in _options(spark)

    def test_is_made_once(self, spark: SparkSubmit) -> None:
        _program(spark, _WRITES.format(python=sys.executable))
        archive = make_class_archive(spark)
        spark.program.unlink()

        assert make_class_archive(spark) == archive

    def test_of_another_java_is_not_used(self, spark: SparkSubmit, tmp_path: Path) -> None:
        _program(spark, _WRITES.format(python=sys.executable))
        make_class_archive(spark)

        os.utime(tmp_path / "java", (1, 1))

        assert _options(spark) == []

    @pytest.mark.parametrize("program", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\nexit 0\n", None])
    def test_that_cannot_be_created_is_not_an_error_and_leaves_nothing(
        self, spark: SparkSubmit, tmp_path: Path, program: str | None
    ) -> None:
        if program:
            _program(spark, program)

        assert make_class_archive(spark) is None
        assert _options(spark) == []
        assert not list((tmp_path / "my cache").rglob("*.jsa*"))

    def test_is_not_made_for_a_distribution(self, spark: SparkSubmit) -> None:
        assert make_class_archive(SparkSubmit(spark.program, spark.java, None)) is None


class TestMain:
    @pytest.fixture(autouse=True)
    def found(self, spark: SparkSubmit, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.INFO)
        monkeypatch.setattr(class_archive, "find_spark_submit", lambda: spark)

    def test_says_what_it_does_and_that_it_can_be_skipped(
        self, spark: SparkSubmit, caplog: pytest.LogCaptureFixture
    ) -> None:
        _program(spark, _WRITES.format(python=sys.executable))

        assert main() == 0
        assert "about 30 s and 160 MB" in caplog.messages[0]
        assert "Ctrl-C skips it" in caplog.messages[1]
        assert caplog.messages[2].endswith(".jsa")

    def test_a_failure_is_one_line(self, spark: SparkSubmit, caplog: pytest.LogCaptureFixture) -> None:
        _program(spark, "#!/bin/sh\necho one >&2\necho two >&2\nexit 7\n")

        assert main() == 1
        assert caplog.messages[2:] == ["No class-data archive: exit code 7: two"]

    def test_without_java_it_is_a_line_too(
        self, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail() -> SparkSubmit:
            raise SetupError("No Java was found")

        monkeypatch.setattr(class_archive, "find_spark_submit", fail)

        assert main() == 1
        assert caplog.messages[2:] == ["No class-data archive: No Java was found"]
