"""Where the plug-in of a hosted run comes from: Maven coordinates, several versions, and what is wrong with it."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.plugins.java.places import coordinates_folder
from tests.support.connect.hosted import FILE, plugin_folder
from tests.support.connect.java_plugins import CONNECT_FILE_JAR, cache_with_downloads, connect_file_jars
from tests.support.kafka import read_values

Config = Callable[..., dict[str, str]]
Run = Callable[..., Any]


@pytest.fixture
def no_plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Keys of a worker without plug-ins; the cache has no folders of coordinates yet."""
    cache = tmp_path / "cache"
    cache.mkdir()
    monkeypatch.setenv("KCONNECT_CACHE", str(cache_with_downloads(cache)))
    (tmp_path / "plugins").mkdir()
    return {"plugin.path": str(tmp_path / "plugins")}


@pytest.mark.exhaustive
def test_a_connector_brings_its_plugin_along(
    bootstrap: str, numbered: Any, java_source: Config, run_hosted: Run, no_plugins: dict[str, str]
) -> None:
    numbered.append(50)
    config = java_source(kconnect_hosted_idle_ms="10000") | {"kconnect.plugin.coordinates": FILE}
    report = run_hosted(config, **no_plugins, **{"kconnect.plugin.install": "org.apache.kafka:*"})
    assert report.records["written"] == 50
    assert read_values(bootstrap, config["topic"]) == numbered.expected()
    assert coordinates_folder(FILE).is_dir()


def test_one_that_is_not_allowed_is_not_even_downloaded(
    java_source: Config, run_hosted: Run, no_plugins: dict[str, str]
) -> None:
    config = java_source() | {"kconnect.plugin.coordinates": FILE}
    with pytest.raises(
        ConfigError, match=r"may not be brought along by a connector.*`kconnect\.plugin\.install` is off"
    ):
        run_hosted(config, **no_plugins)
    assert not coordinates_folder(FILE).exists()


def test_of_two_installed_versions_the_wanted_one_is_the_only_one_that_java_sees(
    java_source: Config, run_hosted: Run, tmp_path: Path
) -> None:
    """The older one has lost a class that it needs: only it can fail so."""
    folder = plugin_folder(tmp_path / "plugins", FILE)
    old = folder / "old" / "connect-file-4.2.9.jar"
    old.parent.mkdir()
    without_class(connect_file_jars() / CONNECT_FILE_JAR, old, "FileStreamSourceConnector.class")
    with pytest.raises(ConfigError, match=r"is not installed in version 4\.1\.0, but in: 4\.3\.0") as error:
        run_hosted(java_source(connector_plugin_version="4.1.0"), dry_run=True, **{"plugin.path": str(folder)})
    assert list(error.value.errors) == ["connector.class", "connector.plugin.version"]  # as Connect's
    run_hosted(java_source(connector_plugin_version="4.3.0"), dry_run=True, **{"plugin.path": str(folder)})


def without_class(jar: Path, copy: Path, name: str) -> None:
    """A copy of a jar in which a class is missing."""
    with zipfile.ZipFile(jar) as old, zipfile.ZipFile(copy, "w") as new:
        for entry in old.namelist():
            if not entry.endswith(name):
                new.writestr(entry, old.read(entry))


def test_a_class_that_its_plugin_lacks_is_named(java_source: Config, run_hosted: Run, tmp_path: Path) -> None:
    """Connect itself would show the connector as running, and try again without end."""
    jar = tmp_path / "plugins" / "file" / CONNECT_FILE_JAR
    jar.parent.mkdir(parents=True)
    without_class(connect_file_jars() / CONNECT_FILE_JAR, jar, "FileStreamSourceTask.class")
    with pytest.raises(ConfigError, match=r"making its tasks failed: NoClassDefFoundError: .*FileStreamSourceTask"):
        run_hosted(java_source(), **{"plugin.path": str(jar.parent.parent)})


def test_a_plugin_without_manifest_is_found_by_connect_too(
    java_source: Config, run_hosted: Run, tmp_path: Path
) -> None:
    jar = tmp_path / "plugins" / "file" / CONNECT_FILE_JAR
    jar.parent.mkdir(parents=True)
    without_class(connect_file_jars() / CONNECT_FILE_JAR, jar, ".SourceConnector")
    config = java_source()
    assert run_hosted(config, dry_run=True, **{"plugin.path": str(jar.parent.parent)}).kind == "source"
    with pytest.raises(ConfigError, match=r"`topic`: .*String must be non-empty"):
        run_hosted({**config, "topic": ""}, dry_run=True, **{"plugin.path": str(jar.parent.parent)})


def test_a_class_that_is_not_a_connector(run_hosted: Run, java_source: Config) -> None:
    task = "org.apache.kafka.connect.file.FileStreamSourceTask"
    with pytest.raises(ConfigError, match=f"{task} is in .*, but it is not a connector"):
        run_hosted({**java_source(), "connector.class": task})
