"""The class-data archive: used when it is there, never needed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.submit.class_archive import class_archive_options, make_class_archive
from airflow_kconnect.submit.spark import SparkSubmit
from tests.support.spark.pyspark_package import WRITES_ARCHIVE, pyspark_package, write_program


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SparkSubmit:
    monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path / "my cache"))
    return pyspark_package(tmp_path)


class TestClassArchive:
    def test_without_one_there_are_no_options(self, spark: SparkSubmit) -> None:
        assert class_archive_options(spark) == []

    def test_is_used_once_it_is_made(self, spark: SparkSubmit) -> None:
        write_program(spark, WRITES_ARCHIVE)

        archive = make_class_archive(spark)

        assert archive.read_text() == "classes"
        assert f"-XX:SharedArchiveFile={archive}" in class_archive_options(spark)

    def test_is_made_once(self, spark: SparkSubmit) -> None:
        write_program(spark, WRITES_ARCHIVE)
        archive = make_class_archive(spark)
        spark.program.unlink()

        assert make_class_archive(spark) == archive

    def test_of_another_java_is_not_used(self, spark: SparkSubmit, tmp_path: Path) -> None:
        write_program(spark, WRITES_ARCHIVE)
        make_class_archive(spark)

        os.utime(tmp_path / "java", (1, 1))

        assert class_archive_options(spark) == []

    @pytest.mark.parametrize(
        ("program", "why"),
        [
            ("#!/bin/sh\necho one >&2\necho two >&2\nexit 7\n", "exit code 7 of spark-submit: two"),
            ("#!/bin/sh\nexit 0\n", "exit code 0 of spark-submit: spark-submit said nothing"),
            ("#!/bin/sh\nexec sleep 60\n", "within 1 s"),
            (None, "spark-submit cannot be started: No such file"),
        ],
    )
    def test_that_cannot_be_created_is_an_error_and_leaves_nothing(
        self, spark: SparkSubmit, tmp_path: Path, program: str | None, why: str
    ) -> None:
        if program:
            write_program(spark, program)

        with pytest.raises(SetupError, match=why):
            make_class_archive(spark, timeout_s=1)
        assert class_archive_options(spark) == []
        assert not list((tmp_path / "my cache").rglob("*.jsa*"))

    def test_is_not_made_for_a_distribution(self, spark: SparkSubmit) -> None:
        with pytest.raises(SetupError, match="not that of a PySpark package"):
            make_class_archive(SparkSubmit(spark.program, spark.java, None))
