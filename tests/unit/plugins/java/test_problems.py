"""What is wrong with the folders of `plugin.path`."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.plugins.java.problems import problems
from tests.support.connect.java_plugins import SOURCES, source_jar, write_jar


def texts(*plugin_path: Path) -> list[str]:
    return [str(problem) for problem in problems(plugin_path)]


def test_nothing_is_wrong_with_folders_of_whole_jars(tmp_path: Path) -> None:
    source_jar(tmp_path / "one" / "one-1.0.jar")
    source_jar(tmp_path / "two-1.0.jar", "b.Two")
    assert texts(tmp_path) == []


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    assert texts(tmp_path / "x") == [
        f"`plugin.path` names {tmp_path}/x, which does not exist. Create it, correct the path, or remove it."
    ]


def test_an_empty_folder_of_plugins(tmp_path: Path) -> None:
    (text,) = texts(tmp_path)
    assert text == f"`plugin.path`: {tmp_path} is empty. Put plug-ins there: kconnect plugins install PLUGIN."


def test_an_empty_plugin(tmp_path: Path) -> None:
    (tmp_path / "one" / "lib").mkdir(parents=True)
    (text,) = texts(tmp_path)
    assert text.startswith(f"Plug-in folder {tmp_path}/one has no jars.")


def test_loose_jars_name_the_cure(tmp_path: Path) -> None:
    source_jar(tmp_path / "debezium" / "one-1.0.jar")
    write_jar(tmp_path / "debezium" / "library-1.0.jar", {"x": "y"})
    (text,) = texts(tmp_path / "debezium")
    assert text.startswith(f"`plugin.path`: 2 jars are directly in {tmp_path}/debezium (library-1.0.jar, one-1.0.jar):")
    assert text.endswith(f"name {tmp_path} as `plugin.path`.")


@pytest.mark.parametrize(
    ("content", "why"), [(b"", "is empty"), (b"<html>404</html>", "is not a jar, or is truncated")]
)
def test_a_broken_jar(tmp_path: Path, content: bytes, why: str) -> None:
    jar = source_jar(tmp_path / "one" / "one-1.0.jar").with_name("broken.jar")
    jar.write_bytes(content)
    assert texts(tmp_path) == [f"{jar} {why}. Install the plug-in again."]


def test_a_jar_that_was_cut_off_in_the_middle(tmp_path: Path) -> None:
    jar = source_jar(tmp_path / "one" / "one-1.0.jar")
    jar.write_bytes(jar.read_bytes()[:-30])
    assert texts(tmp_path) == [f"{jar} is not a jar, or is truncated. Install the plug-in again."]


def test_a_manifest_that_names_a_class_which_is_not_there(tmp_path: Path) -> None:
    jar = write_jar(tmp_path / "one" / "one-1.0.jar", {SOURCES: "a.Gone"})
    (text,) = texts(tmp_path)
    assert text.startswith(f"{jar} announces a.Gone, and no jar in {tmp_path}/one has this class.")


def test_two_versions_say_which_one_runs(tmp_path: Path) -> None:
    source_jar(tmp_path / "new" / "one-1.10.jar")
    source_jar(tmp_path / "old" / "one-1.9.jar")
    (text,) = texts(tmp_path)
    assert text.startswith(f"a.Source is installed 2 times: 1.10 in {tmp_path}/new, 1.9 in {tmp_path}/old; the newest")
    assert "`connector.plugin.version`" in text
