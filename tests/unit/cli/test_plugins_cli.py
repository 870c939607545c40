"""`kconnect plugins`."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from airflow_kconnect.cli import app
from airflow_kconnect.plugins import registry as plugins
from airflow_kconnect.plugins.registry import CONNECT_VERSION


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("org.apache.kafka.connect.file.FileStreamSourceConnector", "source"),
        ("org.apache.kafka.connect.file.FileStreamSinkConnector", "sink"),
        ("org.apache.kafka.connect.json.JsonConverter", "converter"),
        ("org.apache.kafka.connect.transforms.Cast$Value", "transformation"),
        ("org.apache.kafka.connect.transforms.predicates.RecordIsTombstone", "predicate"),
    ],
)
def test_json_has_every_installed_class_with_its_kind(name: str, kind: str) -> None:
    result = CliRunner().invoke(app, ["plugins", "--json"])
    found = {line["class"]: line for line in json.loads(result.stdout)["plugins"]}
    assert (result.exit_code, found[name]["kind"], found[name]["error"]) == (0, kind, None)


def test_a_table_has_kind_class_and_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "150")
    lines = CliRunner().invoke(app, ["plugins"]).stdout.splitlines()
    line = next(line for line in lines if "FileStreamSourceConnector" in line)
    assert line.split() == [
        "source",
        "connector",
        "org.apache.kafka.connect.file.FileStreamSourceConnector",
        CONNECT_VERSION,
    ]


def test_only_one_kind() -> None:
    result = CliRunner().invoke(app, ["plugins", "--kind", "predicate", "--json"])
    assert [line["class"] for line in json.loads(result.stdout)["plugins"]] == plugins.registry().names(
        plugins.PREDICATES
    )


def test_a_class_that_cannot_be_imported_is_listed_with_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        name, value = "com.acme.Broken", "acme:Broken"

        def load(self) -> None:
            raise ImportError("no driver")

    broken = plugins.PluginRegistry({plugins.CONNECTORS: [Broken()]})
    monkeypatch.setattr(plugins, "registry", lambda: broken)
    result = CliRunner().invoke(app, ["plugins", "--json"])
    (line,) = json.loads(result.stdout)["plugins"]
    assert (result.exit_code, line["class"]) == (1, "com.acme.Broken")
    assert "ImportError: no driver" in line["error"]
