"""`kconnect plugins show`: Java tells the keys of a real plug-in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from airflow_kconnect.cli import app
from airflow_kconnect.hosted.jvm.libraries import CONNECT_VERSION
from tests.support.connect.hosted import FILE, plugin_folder

SINK = "org.apache.kafka.connect.file.FileStreamSinkConnector"
SOURCE = "org.apache.kafka.connect.file.FileStreamSourceConnector"


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A worker file; no broker is asked."""
    folder = tmp_path_factory.mktemp("worker")
    plugin_folder(folder / "plugins", FILE)
    file = folder / "worker.properties"
    file.write_text(f"bootstrap.servers=localhost:1\nplugin.path={folder / 'plugins'}\n")
    return file


def show(worker: Path, *arguments: str) -> Result:
    return CliRunner().invoke(app, ["plugins", "show", *arguments, "--worker", str(worker)])


def test_class_folder_and_the_keys_of_the_class_are_printed(worker: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    answer = show(worker, "FileStreamSourceConnector")
    title, place, _, *keys = answer.stdout.splitlines()
    assert (title, answer.exit_code) == (f"{SOURCE} {CONNECT_VERSION}", 0)
    assert place == f"source in {worker.parent}/plugins/connect-file"
    # Those that every source has, such as `tasks.max`, are left out.
    assert [line.split()[:3] for line in keys] == [
        ["file", "string", "Source"],
        ["topic", "string", "required"],
        ["batch.size", "int", "2000"],
    ]


@pytest.mark.exhaustive
def test_json_has_the_keys_as_connects_rest_api_has_them(worker: Path) -> None:
    found = json.loads(show(worker, SINK, "--json").stdout)
    (key,) = found.pop("keys")
    assert found == {
        "class": SINK,
        "kind": "sink",
        "version": CONNECT_VERSION,
        "versions": [CONNECT_VERSION],
        "folder": f"{worker.parent}/plugins/connect-file",
        "from": None,
    }
    assert (key["name"], key["type"], key["required"], key["default_value"]) == ("file", "STRING", False, None)


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["Nonsense"], f"there is no Java plug-in Nonsense; Java connectors are: {SINK}, {SOURCE}."),
        ([SINK, "--version", "9"], f"{SINK} is not installed in version 9, but in: {CONNECT_VERSION}"),
    ],
    ids=["class", "version"],
)
def test_what_is_not_installed_is_an_error_that_says_what_is(worker: Path, arguments: list[str], text: str) -> None:
    answer = show(worker, *arguments)
    assert (answer.exit_code, answer.stdout) == (1, "")
    assert text in answer.stderr
