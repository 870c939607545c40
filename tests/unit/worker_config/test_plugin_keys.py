"""Where Java plug-ins are, and which ones connectors may bring along."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hosting.installed import java_plugins
from airflow_kconnect.plugins.java.places import coordinates_folder
from airflow_kconnect.validation.before_variables import inspect_without_references
from airflow_kconnect.validation.connector import inspect_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from airflow_kconnect.worker_config.plugin_keys import COORDINATES

DEBEZIUM = "io.debezium:debezium-connector-postgres:3.5.0.Final"
KAFKA = {"bootstrap.servers": "localhost:9092"}


def errors_of(coordinates: str, **worker: str) -> list[str]:
    keys = {key.replace("_", "."): text for key, text in worker.items()}
    config = {"name": "orders", "connector.class": "a.b.C", COORDINATES: coordinates}
    return inspect_connector(config, worker=WorkerConfig.from_props({**KAFKA, **keys})).errors.get(COORDINATES, [])


class TestPlaces:
    @pytest.fixture(autouse=True)
    def cache(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path))

    def test_without_plugin_path_the_folder_in_the_cache(self, tmp_path: Path) -> None:
        assert java_plugins(WorkerConfig.from_props(KAFKA)).plugin_path == (tmp_path / "plugins",)

    def test_folders_of_plugin_path(self) -> None:
        worker = WorkerConfig.from_props({**KAFKA, "plugin.path": "/usr/share/java, /opt/connectors"})
        assert java_plugins(worker).plugin_path == (Path("/usr/share/java"), Path("/opt/connectors"))
        assert worker.warnings == ()

    def test_coordinates_come_first_those_of_the_connector_before_the_workers(self, tmp_path: Path) -> None:
        worker = WorkerConfig.from_props({**KAFKA, COORDINATES: "g:worker:1"})
        ours, workers, installed = java_plugins(worker, ["g:connector:1"]).plugin_path
        assert (ours, workers) == (coordinates_folder("g:connector:1"), coordinates_folder("g:worker:1"))
        assert installed == tmp_path / "plugins"

    def test_a_version_has_a_folder_of_its_own(self) -> None:
        assert coordinates_folder("g:a:1").parent == coordinates_folder("g:a:2").parent
        assert coordinates_folder("g:a:1") != coordinates_folder("h:a:1")


class TestPermission:
    def test_by_default_no_connector_brings_code(self) -> None:
        (text,) = errors_of(DEBEZIUM)
        assert text.startswith(f"{DEBEZIUM} may not be brought along by a connector")
        assert "the worker's `kconnect.plugin.install` is off." in text
        assert text.endswith(f"or install it once: kconnect plugins install {DEBEZIUM}")

    @pytest.mark.parametrize(
        "allowed",
        ["*", "io.debezium:*", "io.debezium:debezium-connector-postgres", DEBEZIUM, f"a.b:c,{DEBEZIUM}"],
    )
    def test_allowed(self, allowed: str) -> None:
        assert errors_of(DEBEZIUM, kconnect_plugin_install=allowed) == []

    @pytest.mark.parametrize(
        "allowed",
        [
            "io.debezium.other:*",
            "io.debezium:debezium-connector",
            "io.debezium:debezium-connector-postgres:3.4.0.Final",
        ],
    )
    def test_not_allowed_is_refused_with_what_is(self, allowed: str) -> None:
        (text,) = errors_of(DEBEZIUM, kconnect_plugin_install=allowed)
        assert f"allows only {allowed}. Add io.debezium:debezium-connector-postgres there" in text

    def test_each_of_several_must_be_allowed(self) -> None:
        (text,) = errors_of(f"{DEBEZIUM}, a.b:c:1.0", kconnect_plugin_install="io.debezium:*")
        assert text.startswith("a.b:c:1.0 may not")

    @pytest.mark.parametrize("wrong", ["postgres", "a:b", "a:b:LATEST", "a:b:1.+", "a b:c:1", "a:b:exe:c:1"])
    def test_form(self, wrong: str) -> None:
        (text,) = errors_of(wrong, kconnect_plugin_install="*")
        assert text == f"expected group:artifact:version, with a version such as 1.2.3; not {wrong}"

    def test_a_variable_is_checked_when_it_is_known(self) -> None:
        config = {"name": "orders", "connector.class": "a.b.C", COORDINATES: "${env:PLUGIN}"}
        assert COORDINATES not in inspect_without_references(config, KAFKA).errors

    def test_a_text_that_only_looks_like_a_variable_is_refused_in_the_job(self) -> None:
        assert errors_of("a.b:c${x:y}:1.0", kconnect_plugin_install="*")

    @pytest.mark.parametrize("wrong", ["on", "off,a:b", "io.debezium", "a: b"])
    def test_a_wrong_list_is_an_error_of_the_worker(self, wrong: str) -> None:
        with pytest.raises(ConfigError, match=r"kconnect\.plugin\.install"):
            WorkerConfig.from_props({**KAFKA, "kconnect.plugin.install": wrong})


def test_coordinates_of_the_worker_need_no_permission_but_the_right_form() -> None:
    WorkerConfig.from_props({**KAFKA, COORDINATES: DEBEZIUM})
    with pytest.raises(ConfigError, match=r"`kconnect\.plugin\.coordinates`: .*expected group:artifact:version"):
        WorkerConfig.from_props({**KAFKA, COORDINATES: "postgres"})
