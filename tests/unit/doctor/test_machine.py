"""Checks of this machine."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from airflow_kconnect.doctor import machine
from airflow_kconnect.doctor.findings import Checks, Finding, Status
from airflow_kconnect.doctor.subject import Subject
from airflow_kconnect.submit.class_archive import make_class_archive
from airflow_kconnect.submit.spark import SparkSubmit
from tests.support.spark.pyspark_package import WRITES_ARCHIVE, pyspark_package, write_program


def _finding(name: str) -> Finding:
    checks = Checks()
    machine.register(checks)
    return next(finding for finding in checks.run(Subject(lambda: None)) if finding.name == name)


def _texts(name: str) -> list[str]:
    checks = Checks()
    machine.register(checks)
    return [finding.text for finding in checks.run(Subject(lambda: None)) if finding.name == name]


def test_this_machine_has_no_problem() -> None:
    checks = Checks()
    machine.register(checks)
    assert [finding for finding in checks.run(Subject(lambda: None)) if finding.status is Status.PROBLEM] == []


def test_no_java_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    finding = _finding("Java")
    assert finding.status is Status.PROBLEM
    assert "Install a JRE 17 or newer" in finding.text


def test_packages_that_are_required_are_listed() -> None:
    assert "confluent-kafka " in _finding("Packages").text


def test_a_package_below_its_bound_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        machine, "requires", lambda name: ["confluent-kafka>=999", "no-such-package", "x; extra == 'y'"]
    )
    finding = _finding("Packages")
    assert finding.status is Status.PROBLEM
    assert "needed is >=999" in finding.text
    assert "no-such-package is missing" in finding.text


def test_a_cache_folder_that_does_not_exist_yet_is_fine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path / "new" / "cache"))
    assert _finding("Cache folder").status is Status.OK


def test_a_cache_folder_that_is_a_file_is_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("")
    monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path / "cache"))
    finding = _finding("Cache folder")
    assert (finding.status, "set KCONNECT_CACHE" in finding.cure) == (Status.PROBLEM, True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_cache_folder_without_rights_is_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path / "cache"))
    assert _finding("Cache folder").status is Status.PROBLEM


def test_little_room_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_LEAST_FREE_BYTES", 10**18)
    assert _finding("Temporary folder").status is Status.WARNING


class TestClassArchive:
    @pytest.fixture
    def spark(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SparkSubmit:
        monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path / "cache"))
        found = pyspark_package(tmp_path)
        write_program(found, WRITES_ARCHIVE)
        monkeypatch.setattr(machine, "find_spark_submit", lambda: found)
        return found

    def test_the_command_that_creates_it_is_named(self, spark: SparkSubmit) -> None:
        assert any("`kconnect spark archive`" in text for text in _texts("Spark"))

    def test_is_named_once_it_is_there(self, spark: SparkSubmit) -> None:
        archive = make_class_archive(spark)
        assert f"Java's archive of Spark's classes is {archive}" in _texts("Spark")
