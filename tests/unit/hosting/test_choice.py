"""Which Java class a configuration means, in which version, and what is said where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.plugins.java.jars import open_jar
from airflow_kconnect.plugins.java.places import coordinates_folder
from airflow_kconnect.validation.connector import Inspection, inspect_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support.connect.java_plugins import (
    CONNECT_FILE_JAR,
    FILE_SOURCE,
    TRANSFORMATIONS,
    connect_file_jars,
    source_jar,
    write_jar,
)


@pytest.fixture(autouse=True)
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "plugins"


def inspected(connector_class: str, **keys: str) -> Inspection:
    worker = WorkerConfig.from_props({"bootstrap.servers": "localhost:9092", "kconnect.plugin.install": "*"})
    own = {key.replace("_", "."): text for key, text in keys.items()}
    return inspect_connector({"name": "c", "connector.class": connector_class, **own}, worker=worker)


def error_of(inspection: Inspection, key: str = "connector.class") -> str:
    (text,) = inspection.errors[key]
    return text


class TestVersions:
    @pytest.fixture(autouse=True)
    def three(self, plugins: Path) -> None:
        for version in ("1.9", "1.10", "2.0.0.Beta1"):
            source_jar(plugins / f"acme-{version}" / f"acme-{version}.jar", "com.acme.AcmeSource")

    def test_the_newest_runs_and_a_warning_says_so(self) -> None:
        inspection = inspected("AcmeSource")
        assert inspection.hosted is not None
        assert inspection.hosted.version == "2.0.0.Beta1"
        assert (
            "`connector.class`: version 2.0.0.Beta1 runs, the newest; also installed: 1.10, 1.9 "
            "(`connector.plugin.version`)"
        ) in inspection.warnings

    @pytest.mark.parametrize(
        ("wish", "version"),
        [
            *(("1.9", "1.9"), ("1.9.0", "1.9"), ("[1.9]", "1.9"), ("[1.9,2.0)", "2.0.0.Beta1"), ("(,1.10)", "1.9")),
            *(("latest", "2.0.0.Beta1"), ("[1.9,1.10]", "1.10"), ("(,1.0],[1.9]", "1.9"), ("[1.10,)", "2.0.0.Beta1")),
        ],
    )
    def test_a_wanted_version_or_range(self, wish: str, version: str) -> None:
        inspection = inspected("AcmeSource", connector_plugin_version=wish)
        assert inspection.hosted is not None
        assert inspection.hosted.version == version
        assert not any("also installed" in warning for warning in inspection.warnings)

    @pytest.mark.parametrize("wish", ["1.8", "[3,)", "(1.10,1.11)", "nonsense"])
    def test_one_that_is_not_installed(self, wish: str) -> None:
        text = error_of(inspected("AcmeSource", connector_plugin_version=wish), "connector.plugin.version")
        assert text == f"com.acme.AcmeSource is not installed in version {wish}, but in: 2.0.0.Beta1, 1.10, 1.9"


class TestCoordinates:
    COORDINATES = "com.acme:acme:1.0"

    def test_its_own_come_before_a_newer_one_of_the_plugin_path(self, plugins: Path) -> None:
        source_jar(plugins / "acme" / "acme-2.0.jar", "com.acme.AcmeSource")
        source_jar(coordinates_folder(self.COORDINATES) / "acme-1.0" / "acme-1.0.jar", "com.acme.AcmeSource")
        for coordinates, version in ((self.COORDINATES, "1.0"), ("", "2.0")):
            hosted = inspected("AcmeSource", kconnect_plugin_coordinates=coordinates).hosted
            assert hosted is not None
            assert hosted.version == version

    def test_before_they_are_downloaded_the_configuration_says_what_it_is(self) -> None:
        source = inspected("com.acme.Acme", kconnect_plugin_coordinates=self.COORDINATES)
        sink = inspected("com.acme.Acme", kconnect_plugin_coordinates=self.COORDINATES, topics="t")
        assert (source.kind, sink.kind, source.errors, sink.errors) == ("source", "sink", {}, {})

    def test_afterwards_a_class_that_they_do_not_have_is_unknown(self) -> None:
        source_jar(coordinates_folder(self.COORDINATES) / "acme-1.0" / "acme-1.0.jar", "com.acme.AcmeSource")
        text = error_of(inspected("com.acme.Other", kconnect_plugin_coordinates=self.COORDINATES))
        assert "com.acme.AcmeSource" in text
        assert "No Java plug-in below `plugin.path` has it" in text


def test_a_class_that_is_not_a_connector(plugins: Path) -> None:
    name = "com.acme.Mask"
    write_jar(plugins / "acme" / "acme.jar", {TRANSFORMATIONS: name, "com/acme/Mask.class": b""})
    jar = plugins / "acme" / "acme.jar"
    assert error_of(inspected(name)) == f"{name} is in {jar}, but it is not a connector: it is a transformation"


def test_a_superclass_that_is_in_no_jar_is_named(plugins: Path) -> None:
    real = open_jar(connect_file_jars() / CONNECT_FILE_JAR)
    file = f"{FILE_SOURCE.replace('.', '/')}.class"
    # A class of which the superclass is a library's: the same bytes, but for one name.
    content = real.read(file).replace(
        b"org/apache/kafka/connect/source/SourceConnector", b"com/acme/common/base/of/many/conn/BaseConnector"
    )
    write_jar(plugins / "acme" / "acme.jar", {file.replace("FileStreamSource", "FileStreamOthers"): content})
    text = error_of(inspected(FILE_SOURCE.replace("FileStreamSource", "FileStreamOthers")))
    assert "com.acme.common.base.of.many.conn.BaseConnector, which it extends, is in no jar of that plug-in" in text


def test_java_that_was_asked_for_and_is_not_there_is_an_error() -> None:
    text = error_of(inspected("FileStreamSource", kconnect_hosted="true", file="f", topic="t"))
    assert "no plug-in below `plugin.path` has a Java connector FileStreamSource" in text


def test_a_typing_mistake_finds_installed_java_connectors(plugins: Path) -> None:
    source_jar(plugins / "acme" / "acme-1.0.jar", "com.acme.AcmeSourceConnector")
    assert "Did you mean com.acme.AcmeSourceConnector?" in error_of(inspected("AcmeSorce"))
