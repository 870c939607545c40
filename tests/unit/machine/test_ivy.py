"""The download cache, with scripts that pretend to be Ivy, and one real Ivy that reaches nothing."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import threading
import time
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.connectors.jdbc.driver.drivers import DRIVERS
from airflow_kconnect.hosted.jvm.libraries import CONNECT, SEVERAL_WORKERS
from airflow_kconnect.local.broker import KAFKA
from airflow_kconnect.local.ports import free_port
from airflow_kconnect.machine import ivy
from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.machine.java import Java, find_java
from tests.support.http_server import Answer, http_server

COORDINATES = ["some.group:thing:1.0", "some.group:other:2.0"]
THING = "some/group/thing/1.0/thing-1.0.jar"
# Finds the folder in `-retrieve <folder>/[artifact]...` and puts a jar into it.
DOWNLOADS = """
echo " found a#b;1 in central"
echo "downloading http://m.invalid/thing-1.0.jar ..."
echo "... (1500kB)"
for word; do case $word in */\\[artifact\\]*) echo jar > "${word%/*}/thing-1.0.jar";; esac; done
"""


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in os.environ:
        if name.lower().endswith("_proxy") or name in ("KCONNECT_CACHE", "KCONNECT_IVY_SETTINGS"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def use_mirror(home: Path, url: str) -> None:
    """As Maven's settings say it."""
    (settings := home / ".m2" / "settings.xml").parent.mkdir(parents=True)
    mirror = f"<mirror><mirrorOf>central</mirrorOf><url>{url}</url></mirror>"
    settings.write_text(f"<settings><mirrors>{mirror}</mirrors></settings>")


def fake_java(folder: Path, script: str) -> Java:
    """A `java` that counts its calls and then runs a script."""
    program = folder / "fake-java"
    program.write_text(f'#!/bin/sh\necho "$@" >> {folder}/calls\n{script}\n')
    program.chmod(0o755)
    return Java(program, 17)


def calls(folder: Path) -> list[str]:
    path = folder / "calls"
    return path.read_text().splitlines() if path.exists() else []


class TestResolve:
    def test_downloads_once(self, tmp_path: Path) -> None:
        java, messages = fake_java(tmp_path, DOWNLOADS), list[str]()
        folder = ivy.resolve(COORDINATES, java=java, cache=tmp_path / "cache", progress=messages.append)
        assert [jar.name for jar in folder.glob("*.jar")] == ["thing-1.0.jar"]
        assert messages[-1] == "Downloading some.group:thing:1.0: 1 of 1 files, 1.5 MB"
        assert ivy.resolve(COORDINATES, java=java, cache=tmp_path / "cache") == folder
        assert len(calls(tmp_path)) == 1

    def test_other_coordinates_have_another_folder(self, tmp_path: Path) -> None:
        java = fake_java(tmp_path, DOWNLOADS)
        first = ivy.resolve(COORDINATES, java=java, cache=tmp_path)
        assert ivy.resolve(COORDINATES[:1], java=java, cache=tmp_path) != first

    def test_a_filled_cache_needs_neither_java_nor_network(self, tmp_path: Path) -> None:
        ivy.resolve(COORDINATES, java=fake_java(tmp_path, DOWNLOADS), cache=tmp_path / "cache")
        (tmp_path / "cache").rename(tmp_path / "elsewhere")
        ivy.resolve(COORDINATES, java=Java(Path("/nowhere"), 17), cache=tmp_path / "elsewhere")

    def test_what_a_killed_download_left_is_thrown_away(self, tmp_path: Path) -> None:
        java = fake_java(tmp_path, DOWNLOADS)
        folder = ivy.resolve(COORDINATES, java=java, cache=tmp_path / "cache")
        (folder / ".complete").unlink()
        left = folder.with_name(folder.name + ".part")
        left.mkdir()
        (left / "half.jar").touch()
        ivy.resolve(COORDINATES, java=java, cache=tmp_path / "cache")
        assert sorted(path.name for path in folder.iterdir()) == [".complete", "thing-1.0.jar"]
        assert len(calls(tmp_path)) == 2

    def test_two_at_once_download_once(self, tmp_path: Path) -> None:
        java, messages = (
            fake_java(tmp_path, f"{DOWNLOADS}while ! test -e {tmp_path}/go; do sleep 0.05; done"),
            list[str](),
        )

        def resolve() -> None:
            ivy.resolve(COORDINATES, java=java, cache=tmp_path / "cache", progress=messages.append)

        threads = [threading.Thread(target=resolve) for _ in range(3)]
        for thread in threads:
            thread.start()
        deadline = time.monotonic() + 30
        while messages.count("Waiting for another process that is downloading") < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        (tmp_path / "go").touch()
        for thread in threads:
            thread.join()
        assert len(calls(tmp_path)) == 1
        assert messages.count("Waiting for another process that is downloading") == 2

    def test_the_lock_is_free_afterwards(self, tmp_path: Path) -> None:
        ivy.resolve(COORDINATES, java=fake_java(tmp_path, DOWNLOADS), cache=tmp_path)
        with (tmp_path / ".lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def test_passwords_of_a_proxy_are_not_on_the_command_line(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("https_proxy", "http://ann:s3cret@proxy.invalid:3128")
        java = fake_java(
            tmp_path, f'cat "${{1#@}}" > {tmp_path}/arguments; ls -l "${{1#@}}" >> {tmp_path}/arguments\n{DOWNLOADS}'
        )
        ivy.resolve(COORDINATES, java=java, cache=tmp_path / "cache")
        assert "s3cret" not in calls(tmp_path)[0]
        arguments = (tmp_path / "arguments").read_text()
        assert '"-Dhttp.proxyPassword=s3cret"' in arguments
        assert "-rw------- " in arguments


class TestReleasedJars:
    @pytest.mark.parametrize(
        "coordinates",
        [KAFKA, CONNECT, SEVERAL_WORKERS, *(d.coordinates for d in DRIVERS.values() if d.coordinates)],
        ids=str,
    )
    def test_all_that_is_asked_for_here_is_pinned(self, coordinates: tuple[str, ...]) -> None:
        pinned = ivy._by_name(json.loads(ivy._CHECKSUMS.read_text())[" ".join(coordinates)])
        named = ["{1}-{2}.jar".format(*coordinate.split(":")) for coordinate in coordinates]
        assert [name for name in named if not re.fullmatch("[0-9a-f]{64}", pinned[name])] == []

    @pytest.fixture
    def pinned(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        checksums = {" ".join(COORDINATES): {THING: hashlib.sha256(b"jar\n").hexdigest()}}
        monkeypatch.setattr(ivy, "_CHECKSUMS", tmp_path / "checksums.json")
        (tmp_path / "checksums.json").write_text(json.dumps(checksums))

    @pytest.fixture
    def by_ivy(self, tmp_path: Path) -> None:
        """Where nothing can be downloaded otherwise."""
        use_mirror(tmp_path / "home", f"http://127.0.0.1:{free_port()}")

    def test_are_downloaded_without_java(self, tmp_path: Path, pinned: None) -> None:
        messages: list[str] = []
        with http_server(answer=lambda _: Answer(body=b"jar\n")) as server:
            use_mirror(tmp_path / "home", server.url)
            java = Java(Path("/nowhere"), 17)
            folder = ivy.resolve(COORDINATES, java=java, cache=tmp_path / "cache", progress=messages.append)
        assert [(file.name, file.read_text()) for file in folder.glob("*.jar")] == [("thing-1.0.jar", "jar\n")]
        assert messages == ["Downloading some.group:thing:1.0: 1 of 1 files, 0.0 MB"]

    @pytest.mark.parametrize("answer", [Answer(404), Answer(body=b"other")], ids=["missing", "changed"])
    def test_are_looked_up_by_ivy_where_that_fails(self, tmp_path: Path, pinned: None, answer: Answer) -> None:
        with http_server(answer=lambda _: answer) as server:
            use_mirror(tmp_path / "home", server.url)
            folder = ivy.resolve(COORDINATES, java=fake_java(tmp_path, DOWNLOADS), cache=tmp_path / "cache")
        assert [file.read_text() for file in folder.glob("*.jar")] == ["jar\n"]

    def test_are_looked_up_where_settings_of_ivy_say(
        self, tmp_path: Path, pinned: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (settings := tmp_path / "ivysettings.xml").touch()
        monkeypatch.setenv("KCONNECT_IVY_SETTINGS", str(settings))
        ivy.resolve(COORDINATES, java=fake_java(tmp_path, DOWNLOADS), cache=tmp_path / "cache")
        assert str(settings) in calls(tmp_path)[0]

    def test_are_taken(self, tmp_path: Path, pinned: None, by_ivy: None) -> None:
        assert ivy.resolve(COORDINATES, java=fake_java(tmp_path, DOWNLOADS), cache=tmp_path / "cache").is_dir()

    @pytest.mark.parametrize(
        ("script", "problem"),
        [
            (DOWNLOADS.replace("echo jar", "echo other"), "thing-1.0.jar is not what was released"),
            (DOWNLOADS.replace('thing-1.0.jar";;', 'more-1.0.jar";;'), "thing-1.0.jar is missing"),
            (DOWNLOADS + DOWNLOADS.replace('thing-1.0.jar";;', 'more-1.0.jar";;'), "more-1.0.jar is not what was"),
        ],
        ids=["changed", "missing", "one more"],
    )
    def test_others_are_not_used(self, tmp_path: Path, pinned: None, by_ivy: None, script: str, problem: str) -> None:
        with pytest.raises(SetupError, match=re.escape(problem)):
            ivy.resolve(COORDINATES, java=fake_java(tmp_path, script), cache=tmp_path / "cache")
        assert list((tmp_path / "cache" / "jars").glob("*/*.jar")) == []

    def test_of_several_each_is_known_by_itself(self, tmp_path: Path, pinned: None, by_ivy: None) -> None:
        known = {"some.group:thing:1.0": {THING: hashlib.sha256(b"jar\n").hexdigest()}}
        (tmp_path / "checksums.json").write_text(json.dumps(known))
        more = DOWNLOADS + DOWNLOADS.replace('thing-1.0.jar";;', 'more-1.0.jar";;')
        assert ivy.resolve(COORDINATES, java=fake_java(tmp_path, more), cache=tmp_path / "cache").is_dir()
        changed = fake_java(tmp_path, more.replace("echo jar", "echo other"))
        with pytest.raises(SetupError, match=r"thing-1\.0\.jar is not what was released"):
            ivy.resolve(COORDINATES, java=changed, cache=tmp_path / "another")


class TestFailures:
    def test_no_network(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for scheme in ("http", "https"):
            monkeypatch.setenv(f"{scheme}_proxy", f"http://127.0.0.1:{free_port()}")
        cache = tmp_path / "cache"
        with pytest.raises(RetriableError) as caught:
            ivy.resolve(["some.group:thing:1.0"], java=find_java(), cache=cache)
        text = str(caught.value)
        assert text.startswith(f"Cannot download some.group:thing:1.0 into {cache}: ")
        assert "Connection refused" in text
        assert text.endswith("or set KCONNECT_CACHE to a cache folder filled on another machine.")
        assert list((cache / "jars").iterdir()) == []

    def test_disk_full(self, tmp_path: Path) -> None:
        java = fake_java(tmp_path, 'echo "java.io.IOException: No space left on device"; exit 1')
        with pytest.raises(RetriableError, match=rf"The disk that holds {tmp_path} is full: free some space"):
            ivy.resolve(COORDINATES, java=java, cache=tmp_path)

    def test_ivy_that_fetches_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(RetriableError, match="Ivy said nothing"):
            ivy.resolve(COORDINATES, java=fake_java(tmp_path, ""), cache=tmp_path)

    def test_cache_cannot_be_written(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with pytest.raises(SetupError, match=r"Cannot write .*Not a directory.*set KCONNECT_CACHE to a folder that is"):
            ivy.resolve(COORDINATES, java=fake_java(tmp_path, DOWNLOADS), cache=tmp_path / "file" / "cache")

    def test_spark_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(ivy, "spark_home", lambda: None)
        with pytest.raises(SetupError, match=r"airflow-kconnect\[spark\]"):
            ivy.ivy_jar()

    def test_spark_without_ivy(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("SPARK_HOME", str(tmp_path))
        with pytest.raises(SetupError, match=rf"Spark in {tmp_path} has no jars/ivy-\*.jar"):
            ivy.ivy_jar()
