"""`kconnect plugins install`, `remove`, and Java plug-ins in the list."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from airflow_kconnect.cli import app
from tests.support.connect.java_plugins import source_jar, write_jar


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("KCONNECT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("KCONNECT_WORKER", raising=False)
    return tmp_path / "cache"


def plugins(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["plugins", *arguments])


def test_installed_listed_and_removed(tmp_path: Path, cache: Path) -> None:
    installed = plugins("install", str(source_jar(tmp_path / "acme-1.0.jar", "com.acme.AcmeSource")))
    assert installed.exit_code == 0
    assert installed.stdout.splitlines() == [
        f"{cache}/plugins/acme-1.0 installed:",
        "  source com.acme.AcmeSource 1.0",
    ]
    (line,) = [
        line for line in json.loads(plugins("--json").stdout)["plugins"] if line["class"] == "com.acme.AcmeSource"
    ]
    assert (line["kind"], line["version"], line["folder"]) == ("source", "1.0", f"{cache}/plugins/acme-1.0")
    assert plugins("remove", "AcmeSource").stdout == f"Removed {cache}/plugins/acme-1.0.\n"
    assert plugins("remove", "AcmeSource").exit_code == 1


def test_the_list_names_the_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "150")
    plugins("install", str(source_jar(tmp_path / "acme-1.0.jar", "com.acme.AcmeSource")))
    line = next(line for line in plugins("--kind", "connector").stdout.splitlines() if "AcmeSource" in line)
    assert line.split() == ["source", "connector", "com.acme.AcmeSource", "1.0", "acme-1.0"]


def test_the_workers_plugin_path_is_where_it_goes_and_what_is_listed(tmp_path: Path) -> None:
    worker = tmp_path / "worker.properties"
    worker.write_text(f"plugin.path={tmp_path}/java,{tmp_path}/more\n")
    answer = plugins("install", str(source_jar(tmp_path / "acme-1.0.jar")), "--worker", str(worker), "--json")
    assert json.loads(answer.stdout) == {
        "folder": f"{tmp_path}/java/acme-1.0",
        "already": False,
        "plugins": [{"class": "a.Source", "kind": "source", "version": "1.0"}],
    }
    listed = json.loads(plugins("--worker", str(worker), "--json").stdout)
    assert "a.Source" in {line["class"] for line in listed["plugins"]}
    assert [problem["text"] for problem in listed["problems"]] == [
        f"`plugin.path` names {tmp_path}/more, which does not exist"
    ]


def test_a_folder_that_no_worker_names_is_told(tmp_path: Path) -> None:
    answer = plugins("install", str(source_jar(tmp_path / "acme-1.0.jar")), "--into", str(tmp_path / "other"))
    assert f"Runs see it if the worker's `plugin.path` names {tmp_path}/other." in answer.stdout


def test_what_is_not_a_plugin_is_an_error_in_one_line(tmp_path: Path) -> None:
    answer = plugins("install", str(write_jar(tmp_path / "library.jar", {"a": "b"})))
    assert answer.exit_code == 1
    assert answer.stderr.startswith("Error: ")
    assert "has no plug-in" in answer.stderr


def test_loose_jars_are_a_warning_in_the_list(tmp_path: Path) -> None:
    source_jar(tmp_path / "java" / "one.jar")
    source_jar(tmp_path / "java" / "two.jar", "a.Two")
    worker = tmp_path / "worker.properties"
    worker.write_text(f"plugin.path={tmp_path}/java\n")
    answer = plugins("--worker", str(worker))
    assert answer.exit_code == 0
    assert "Warning: `plugin.path`: 2 jars are directly in" in answer.stderr


def test_several_folders_are_not_removed_at_once(tmp_path: Path) -> None:
    for version in ("1.0", "2.0"):
        plugins("install", str(source_jar(tmp_path / f"acme-{version}.jar", "com.acme.AcmeSource")))
    answer = plugins("remove", "com.acme.AcmeSource")
    assert (answer.exit_code, "name the folder of one" in answer.stderr) == (1, True)
    assert plugins("remove", "acme-1.0").exit_code == 0
