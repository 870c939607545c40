"""Checks of Java plug-ins."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.doctor import plugins
from airflow_kconnect.doctor.findings import Checks, Finding, Status
from airflow_kconnect.doctor.subject import Subject
from tests.support.connect.java_plugins import source_jar


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path / "cache"))


def found(**worker: str) -> list[Finding]:
    keys = {"bootstrap.servers": "localhost:9092"} | {key.replace("_", "."): text for key, text in worker.items()}
    checks = Checks()
    plugins.register(checks)
    return list(checks.run(Subject(lambda: keys if worker else None)))


def test_nothing_installed_is_fine() -> None:
    (finding,) = found()
    assert (finding.status, finding.text[:33]) == (Status.OK, "no Java connectors are installed ")


def test_connectors_are_listed_and_what_would_be_downloaded_is_told(tmp_path: Path) -> None:
    source_jar(tmp_path / "java" / "acme" / "acme-1.0.jar", "com.acme.AcmeSource")
    listed, runtime = found(plugin_path=str(tmp_path / "java"))
    assert (listed.status, listed.text) == (Status.OK, "com.acme.AcmeSource")
    assert (runtime.status, "Kafka Connect's own jars" in runtime.text) == (Status.WARNING, True)


def test_problems_of_folders_come_with_their_cure(tmp_path: Path) -> None:
    (tmp_path / "java" / "acme").mkdir(parents=True)
    finding, _ = found(plugin_path=str(tmp_path / "java"))
    assert finding.status is Status.WARNING
    assert finding.text == f"Plug-in folder {tmp_path}/java/acme has no jars"
    assert finding.cure == "Put the jars of the plug-in there, or remove the folder."


def test_coordinates_that_are_not_downloaded(tmp_path: Path) -> None:
    finding, _ = found(**{"kconnect.plugin.coordinates": "a.b:thing:1.0"})
    assert (finding.status, "not downloaded yet: a.b:thing:1.0" in finding.text) == (Status.WARNING, True)
