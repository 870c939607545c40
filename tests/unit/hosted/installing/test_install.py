"""Installing plug-ins: coordinates, archives as vendors publish them, folders, jars."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hosted.installing.install import install, record_of, remove
from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.plugins.java import JavaPlugins
from tests.support.connect.java_plugins import (
    CONNECT_FILE,
    CONNECT_FILE_JAR,
    FILE_SOURCE,
    SOURCES,
    cache_with_downloads,
    source_jar,
    write_jar,
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    folder.mkdir()
    cache_with_downloads(folder)
    monkeypatch.setenv("KCONNECT_CACHE", str(folder))
    return folder


@pytest.fixture
def into(tmp_path: Path) -> Path:
    return tmp_path / "plugins"


def hub_zip(path: Path, tmp_path: Path, **manifest: object) -> Path:
    """As the hub of a vendor has them: one folder with a description, and the jars in `lib`."""
    jar = source_jar(tmp_path / "made" / "acme-source-2.1.0.jar", "com.acme.AcmeSourceConnector")
    about = {"name": "acme-source", "version": "2.1.0", "owner": {"username": "acme"}, **manifest}
    files: dict[str, str | bytes] = {
        "acme-acme-source-2.1.0/manifest.json": json.dumps(about),
        "acme-acme-source-2.1.0/doc/README.md": "read me",
        "acme-acme-source-2.1.0/lib/acme-source-2.1.0.jar": jar.read_bytes(),
        "acme-acme-source-2.1.0/lib/kafka-clients-3.9.0.jar": b"",
    }
    return write_jar(path, files)


class TestCoordinates:
    def test_a_folder_of_its_own_without_what_connect_has(self, into: Path) -> None:
        installed = install(CONNECT_FILE, into)
        assert [plugin.name for plugin in installed.plugins if plugin.kind == "source"] == [FILE_SOURCE]
        jars = {jar.name.partition("-4")[0] for jar in installed.folder.iterdir()}
        assert CONNECT_FILE_JAR.partition("-4")[0] in jars
        assert not jars & {"kafka-clients", "connect-api", "slf4j-api-1.7.36.jar"}
        assert record_of(installed.folder)["from"] == CONNECT_FILE

    def test_a_second_time_changes_nothing(self, into: Path) -> None:
        first = install(CONNECT_FILE, into)
        assert not first.already
        assert install(CONNECT_FILE, into).already

    @pytest.mark.parametrize("wrong", ["debezium", "a:b", "a:b:LATEST"])
    def test_neither_coordinates_nor_a_path(self, into: Path, wrong: str) -> None:
        with pytest.raises(ConfigError, match=r"expected group:artifact:version.* nor the path of a folder"):
            install(wrong, into)


class TestArchives:
    def test_of_a_hub(self, into: Path, tmp_path: Path) -> None:
        installed = install(str(hub_zip(tmp_path / "acme.zip", tmp_path)), into)
        assert installed.folder == into / "acme-acme-source-2.1.0"
        assert [(plugin.name, plugin.version) for plugin in installed.plugins] == [
            ("com.acme.AcmeSourceConnector", "2.1.0")
        ]
        files = sorted(
            str(path.relative_to(installed.folder)) for path in installed.folder.rglob("*") if path.is_file()
        )
        assert files == [".kconnect.json", "lib/acme-source-2.1.0.jar", "manifest.json"]
        assert record_of(installed.folder) == {"from": "acme.zip", "name": "acme-source", "version": "2.1.0"}

    @pytest.mark.parametrize("name", ["../../evil", "/etc", "a b", ""])
    def test_a_name_that_is_no_folder(self, into: Path, tmp_path: Path, name: str) -> None:
        archive = hub_zip(tmp_path / "acme.zip", tmp_path, name=name, owner=None)
        with pytest.raises(SetupError, match="cannot be the name of a plug-in's folder"):
            install(str(archive), into)
        assert not into.exists()

    def test_a_description_that_is_not_json(self, into: Path, tmp_path: Path) -> None:
        jar = source_jar(tmp_path / "one-1.0.jar")
        archive = write_jar(tmp_path / "acme-1.zip", {"manifest.json": "{", "one-1.0.jar": jar.read_bytes()})
        assert install(str(archive), into).folder == into / "acme-1"

    def test_one_without_jars(self, into: Path, tmp_path: Path) -> None:
        with pytest.raises(SetupError, match="has no jars"):
            install(str(write_jar(tmp_path / "x.zip", {"README.md": "text"})), into)

    def test_one_without_plugins(self, into: Path, tmp_path: Path) -> None:
        jar = write_jar(tmp_path / "library-1.0.jar", {"a/B.class": b""})
        with pytest.raises(SetupError, match="has no plug-in: none of its 1 jars has a connector"):
            install(str(jar), into)

    def test_one_with_a_damaged_jar(self, into: Path, tmp_path: Path) -> None:
        archive = write_jar(tmp_path / "x.zip", {"a.jar": "<html>"})
        with pytest.raises(SetupError, match=r"x\.zip is damaged: .*a\.jar is not a jar"):
            install(str(archive), into)


def test_a_folder_is_copied(into: Path, tmp_path: Path) -> None:
    source_jar(tmp_path / "one" / "one-1.0.jar")
    installed = install(str(tmp_path / "one"), into)
    assert (installed.folder / "one-1.0.jar").is_file()
    assert (tmp_path / "one" / "one-1.0.jar").is_file()


def test_a_single_jar(into: Path, tmp_path: Path) -> None:
    assert install(str(source_jar(tmp_path / "one-1.0.jar")), into).folder == into / "one-1.0"


def test_a_plugin_without_manifest_gets_one(into: Path, tmp_path: Path, cache: Path) -> None:
    from airflow_kconnect.plugins.java.jars import open_jar

    real = open_jar(next((cache / "jars").glob(f"connect-file-*/{CONNECT_FILE_JAR}")))
    old = write_jar(tmp_path / "old-1.0.jar", {name: real.read(name) for name in real.ending(".class")})
    installed = install(str(old), into)
    assert {plugin.kind for plugin in installed.plugins} == {"source", "sink"}
    assert all(plugin.has_manifest for plugin in JavaPlugins([into]).connectors())
    assert install(str(old), into).already


class TestTheSameNameTwice:
    def test_another_plugin_is_not_overwritten(self, into: Path, tmp_path: Path) -> None:
        install(str(source_jar(tmp_path / "a" / "one-1.0.jar")), into)
        with pytest.raises(SetupError, match=r"exists, with other jars .* install with --replace"):
            install(str(source_jar(tmp_path / "b" / "one-1.0.jar", "b.AnotherSource")), into)
        assert list(into.rglob("*.jar")) == [into / "one-1.0" / "one-1.0.jar"]

    def test_unless_it_is_to_be_replaced(self, into: Path, tmp_path: Path) -> None:
        install(str(source_jar(tmp_path / "a" / "one-1.0.jar")), into)
        replaced = install(str(source_jar(tmp_path / "b" / "one-1.0.jar", "b.Another")), into, replace=True)
        assert [plugin.name for plugin in replaced.plugins] == ["b.Another"]
        assert sorted(path.name for path in into.parent.iterdir() if path.name.startswith(".")) == []


def test_nothing_is_left_of_a_failure(into: Path, tmp_path: Path, cache: Path) -> None:
    jar = write_jar(tmp_path / "one-1.0.jar", {"x": "y"})
    with pytest.raises(SetupError):
        install(str(jar), into)
    assert (list((cache / "installing").iterdir()), into.exists()) == ([], False)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SetupError, match="Cannot write"):
        install(str(source_jar(tmp_path / "one-1.0.jar")), tmp_path / "file" / "plugins")


def test_removed_with_everything_in_it(into: Path, tmp_path: Path) -> None:
    installed = install(str(write_jar(tmp_path / "one-1.0.jar", {SOURCES: "a.One"})), into)
    remove(installed.folder)
    assert list(into.iterdir()) == []
