"""Which classes the folders of `plugin.path` have: real jars, and small ones made by hand."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.local.broker import KAFKA_VERSION
from airflow_kconnect.plugins.java import JavaPlugins
from airflow_kconnect.plugins.java.class_files import NotAClass, parse
from airflow_kconnect.plugins.java.index import kind_of
from airflow_kconnect.plugins.java.jars import open_jar
from tests.support.connect.java_plugins import FILE_SOURCE, SINKS, SOURCES
from tests.unit.plugins.java.conftest import MakeJar


class TestRealJars:
    def test_finds_connectors_with_kind_version_and_folder(self, connect_file: Path) -> None:
        found = JavaPlugins([connect_file.parent]).find(FILE_SOURCE)
        assert found is not None
        assert (found.kind, found.version, found.has_manifest) == ("source", KAFKA_VERSION, True)
        assert found.jar.name == f"connect-file-{KAFKA_VERSION}.jar"

    @pytest.mark.parametrize("alias", ["FileStreamSourceConnector", "FileStreamSource"])
    def test_aliases_as_in_connect(self, connect_file: Path, alias: str) -> None:
        found = JavaPlugins([connect_file.parent]).find(alias)
        assert found is not None
        assert found.name == FILE_SOURCE

    def test_a_class_without_manifest_is_recognised_by_its_superclass(
        self, connect_file: Path, make_jar: MakeJar, tmp_path: Path
    ) -> None:
        real = open_jar(connect_file / f"connect-file-{KAFKA_VERSION}.jar")
        name = f"{FILE_SOURCE.replace('.', '/')}.class"
        make_jar("plugins/file/connect-file-1.0.jar", {name: real.read(name)})
        found = JavaPlugins([tmp_path / "plugins"]).find(FILE_SOURCE)
        assert found is not None
        assert (found.kind, found.version, found.has_manifest) == ("source", "1.0", False)

    def test_a_guess_finds_what_no_manifest_names(self, connect_file: Path, make_jar: MakeJar, tmp_path: Path) -> None:
        real = open_jar(connect_file / f"connect-file-{KAFKA_VERSION}.jar")
        make_jar("plugins/file/old.jar", {name: real.read(name) for name in real.ending(".class")})
        assert [
            (plugin.name.rpartition(".")[2], plugin.kind) for plugin in JavaPlugins([tmp_path / "plugins"]).guessed()
        ] == [
            ("FileStreamSinkConnector", "sink"),
            ("FileStreamSourceConnector", "source"),
        ]

    @pytest.mark.parametrize(
        "name",
        [
            "org.apache.kafka.connect.file.FileStreamSourceTask",
            "org.apache.kafka.connect.source.SourceConnector",
            "org.apache.kafka.connect.data.Schema",
        ],
        ids=["task", "abstract", "interface"],
    )
    def test_other_classes_are_not_connectors(self, connect_file: Path, name: str) -> None:
        plugins = JavaPlugins([connect_file.parent])
        assert plugins.find(name) is None
        assert plugins.class_exists(name) is not None

    def test_a_class_that_is_not_there(self, connect_file: Path) -> None:
        plugins = JavaPlugins([connect_file.parent])
        assert plugins.find("a.b.C") is None
        assert plugins.class_exists("a.b.C") is None

    def test_interfaces_of_a_converter(self, connect_file: Path) -> None:
        jars = [open_jar(jar) for jar in connect_file.glob("*.jar")]
        assert kind_of("org.apache.kafka.connect.storage.SimpleHeaderConverter", jars) == "header_converter"


class TestFolders:
    def test_each_folder_is_a_plugin_with_jars_at_any_depth(self, make_jar: MakeJar, tmp_path: Path) -> None:
        make_jar("plugins/one/lib/one-1.0.jar", {SOURCES: "a.One"})
        make_jar("plugins/two/two-2.0.jar", {SINKS: "# comment\n\n  a.Two # and more\na.Other"})
        listed = [
            (plugin.name, plugin.kind, plugin.folder.name) for plugin in JavaPlugins([tmp_path / "plugins"]).all()
        ]
        assert listed == [("a.One", "source", "one"), ("a.Other", "sink", "two"), ("a.Two", "sink", "two")]

    def test_several_folders_of_plugins(self, make_jar: MakeJar, tmp_path: Path) -> None:
        make_jar("first/one/one.jar", {SOURCES: "a.One"})
        make_jar("second/two/two.jar", {SINKS: "a.Two"})
        plugins = JavaPlugins([tmp_path / "first", tmp_path / "missing", tmp_path / "second"])
        assert [plugin.name for plugin in plugins.connectors()] == ["a.One", "a.Two"]

    def test_a_jar_directly_below_the_path_is_a_plugin_of_its_own(self, make_jar: MakeJar, tmp_path: Path) -> None:
        jar = make_jar("plugins/one-1.0.jar", {SOURCES: "a.One"})
        assert [plugin.folder for plugin in JavaPlugins([tmp_path / "plugins"]).all()] == [jar]

    def test_linked_folders_and_circles(self, make_jar: MakeJar, tmp_path: Path) -> None:
        make_jar("real/one-1.0.jar", {SOURCES: "a.One"})
        (tmp_path / "plugins").mkdir()
        (tmp_path / "plugins" / "one").symlink_to(tmp_path / "real")
        (tmp_path / "real" / "again").symlink_to(tmp_path / "real")
        assert [plugin.name for plugin in JavaPlugins([tmp_path / "plugins"]).all()] == ["a.One"]

    def test_stored_files_are_read_too(self, make_jar: MakeJar, tmp_path: Path) -> None:
        make_jar("plugins/one/one.jar", {SOURCES: "a.One"}, compression=0)
        assert [plugin.name for plugin in JavaPlugins([tmp_path / "plugins"]).all()] == ["a.One"]

    def test_a_jar_that_was_replaced_is_read_again(self, make_jar: MakeJar, tmp_path: Path) -> None:
        make_jar("plugins/one/one.jar", {SOURCES: "a.One"})
        assert JavaPlugins([tmp_path / "plugins"]).find("a.One") is not None
        make_jar("plugins/one/one.jar", {SOURCES: "a.Another"})
        assert JavaPlugins([tmp_path / "plugins"]).find("a.One") is None

    @pytest.mark.parametrize("content", [b"", b"no jar", b"PK\x05\x06", b"PK\x05\x06" + b"\xff" * 18])
    def test_a_broken_jar_does_not_hide_the_others(self, make_jar: MakeJar, tmp_path: Path, content: bytes) -> None:
        jar = make_jar("plugins/one/one.jar", {SOURCES: "a.One"})
        (jar.parent / "broken.jar").write_bytes(content)
        assert [plugin.name for plugin in JavaPlugins([tmp_path / "plugins"]).all()] == ["a.One"]


class TestVersions:
    @pytest.mark.parametrize(
        ("name", "files", "version"),
        [
            ("one-1.2.3.Final.jar", {}, "1.2.3.Final"),
            ("one.jar", {}, None),
            ("one-1.jar", {"META-INF/MANIFEST.MF": "Manifest-Version: 1.0\r\nImplementation-Version: 2.0\r\n"}, "2.0"),
            ("one-1.jar", {"META-INF/maven/g/one/pom.properties": "version=3.0\n"}, "3.0"),
            ("one-1.jar", {"META-INF/maven/g/other/pom.properties": "version=3.0\n"}, "1"),
        ],
        ids=["file name", "none", "manifest", "Maven", "shaded library"],
    )
    def test_what_the_jar_says(
        self, make_jar: MakeJar, tmp_path: Path, name: str, files: dict[str, str], version: str | None
    ) -> None:
        make_jar(f"plugins/one/{name}", {SOURCES: "a.One", **files})
        found = JavaPlugins([tmp_path / "plugins"]).find("a.One")
        assert found is not None
        assert found.version == version

    def test_the_newest_comes_first(self, make_jar: MakeJar, tmp_path: Path) -> None:
        versions = ["1.10.0", "1.9", "2.0.0.Beta1", "2.0.0-rc.1", "2.0.0.Final", "2.0.1-SNAPSHOT", "2.0.1"]
        for version in versions:
            make_jar(f"plugins/one-{version}/one-{version}.jar", {SOURCES: "a.One"})
        found = JavaPlugins([tmp_path / "plugins"]).versions("a.One")
        assert [plugin.version for plugin in reversed(found)] == [
            *("1.9", "1.10.0", "2.0.0.Beta1", "2.0.0-rc.1", "2.0.0.Final", "2.0.1-SNAPSHOT", "2.0.1")
        ]


def test_an_ambiguous_alias_names_the_classes(make_jar: MakeJar, tmp_path: Path) -> None:
    make_jar("plugins/one/one.jar", {SOURCES: "a.FileConnector"})
    make_jar("plugins/two/two.jar", {SINKS: "b.FileConnector"})
    with pytest.raises(ConfigError, match=r"`connector.class`: More .* alias File\. .* a.FileConnector, b.FileConn"):
        JavaPlugins([tmp_path / "plugins"]).find("File")


@pytest.mark.parametrize(
    "content", [b"", b"\xca\xfe", b"text that is not a class", b"\xca\xfe\xba\xbe\0\0\0A\0\x09\x63"]
)
def test_bytes_that_are_not_a_class(content: bytes) -> None:
    with pytest.raises(NotAClass):
        parse(content)


def test_a_class_file_that_is_broken_is_not_a_connector(make_jar: MakeJar, tmp_path: Path) -> None:
    make_jar("plugins/one/one.jar", {"a/One.class": b"\xca\xfe\xba\xbe"})
    assert JavaPlugins([tmp_path / "plugins"]).find("a.One") is None


def test_a_folder_that_was_removed(connect_file: Path, tmp_path: Path) -> None:
    shutil.copytree(connect_file, tmp_path / "plugins" / "file")
    plugins = JavaPlugins([tmp_path / "plugins"])
    shutil.rmtree(tmp_path / "plugins")
    assert plugins.all() == []
