"""Maven coordinates of plug-ins: a folder of the cache for each, with Ivy replaced by scripts where it would fail."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.hosted.installing.coordinates import provide
from airflow_kconnect.hosting.installed import java_plugins
from airflow_kconnect.machine.cache import cache_folder
from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.machine.java import Java, find_java
from airflow_kconnect.plugins.java.places import coordinates_folder
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support.connect.java_plugins import (
    CONNECT_FILE,
    CONNECT_FILE_JAR,
    FILE_SOURCE,
    cache_with_downloads,
    write_jar,
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    folder.mkdir()
    cache_with_downloads(folder)
    monkeypatch.setenv("KCONNECT_CACHE", str(folder))
    return folder


def fails(folder: Path, output: str) -> Java:
    """A `java` that prints what Ivy prints, and fails."""
    program = folder / "fake-java"
    program.write_text(f"#!/bin/sh\necho '{output}'\nexit 1\n")
    program.chmod(0o755)
    return Java(program, 17)


def test_the_connector_finds_its_class_afterwards() -> None:
    worker = WorkerConfig.from_props({"bootstrap.servers": "localhost:9092"})
    assert java_plugins(worker, [CONNECT_FILE]).find(FILE_SOURCE) is None
    provide([CONNECT_FILE], java=find_java())
    found = java_plugins(worker, [CONNECT_FILE]).find(FILE_SOURCE)
    assert found is not None
    assert found.jar.name == CONNECT_FILE_JAR


def test_the_folder_has_one_plugin_without_what_connect_has() -> None:
    provide([CONNECT_FILE], java=find_java())
    (plugin,) = coordinates_folder(CONNECT_FILE).iterdir()
    assert not [jar for jar in plugin.iterdir() if jar.name.startswith(("kafka-", "connect-api", "slf4j", "jakarta"))]


def test_several_at_once_make_one() -> None:
    threads = [threading.Thread(target=provide, args=([CONNECT_FILE],), kwargs={"java": find_java()}) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [path.name for path in coordinates_folder(CONNECT_FILE).parent.iterdir()] == [
        coordinates_folder(CONNECT_FILE).name
    ]


def test_once_provided_java_is_not_asked(tmp_path: Path) -> None:
    provide([CONNECT_FILE], java=find_java())
    provide([CONNECT_FILE], java=Java(tmp_path / "no-java", 17))


def test_unknown_coordinates_are_no_matter_of_another_attempt(tmp_path: Path) -> None:
    java = fails(tmp_path, ":: a.b#thing;1.0: not found")
    with pytest.raises(SetupError, match=r"There is no a\.b:thing:1\.0 on Maven Central .* vendor's hub") as error:
        provide(["a.b:thing:1.0"], java=java)
    assert "which" not in str(error.value)


def test_a_dependency_that_does_not_exist_is_named(tmp_path: Path) -> None:
    java = fails(tmp_path, ":: c.d#other;2.0: not found")
    with pytest.raises(SetupError, match=r"There is no c\.d:other:2\.0, which a\.b:thing:1\.0 needs"):
        provide(["a.b:thing:1.0"], java=java)


def test_no_network_is_worth_another_attempt(tmp_path: Path) -> None:
    java = fails(tmp_path, "Server access error at url http://m.invalid (java.net.UnknownHostException: m.invalid)")
    with pytest.raises(RetriableError, match="Check the network and the proxy settings"):
        provide(["a.b:thing:1.0"], java=java)


def test_coordinates_without_a_plugin_leave_nothing(tmp_path: Path) -> None:
    (tmp_path / "jars").mkdir()
    program = tmp_path / "java"
    script = 'for word; do case $word in */\\[artifact\\]*) cp "$JAR" "${word%/*}/thing-1.0.jar";; esac; done'
    jar = write_jar(tmp_path / "library.jar", {"a/B.class": b""})
    program.write_text(f"#!/bin/sh\nJAR={jar}\n{script}\n")
    program.chmod(0o755)
    (cache_folder() / "jars").unlink()
    with pytest.raises(SetupError, match=r"a\.b:thing:1\.0 has no plug-in"):
        provide(["a.b:thing:1.0"], java=Java(program, 17))
    assert list(coordinates_folder("a.b:thing:1.0").parent.iterdir()) == []
