"""Files of Maven Central that are known: where they are, and what is not taken."""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from airflow_kconnect.machine import maven
from airflow_kconnect.machine.ivy import ivy_jar
from tests.support.http_server import Answer, HttpServer, http_server

FILES = {f"group/thing/{n}/thing-{n}.jar": hashlib.sha256(f"jar {n}".encode()).hexdigest() for n in range(20)}


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


@pytest.fixture
def server() -> Iterator[HttpServer]:
    """Has all files."""
    with http_server(answer=lambda request: Answer(body=f"jar {request.path.split('/')[3]}".encode())) as server:
        yield server


def test_all_are_downloaded_by_their_last_names(server: HttpServer, tmp_path: Path) -> None:
    said: list[tuple[int, int]] = []
    maven.download(server.url, FILES, tmp_path, lambda count, size: said.append((count, size)))
    assert {path.name: path.read_text() for path in tmp_path.glob("*.jar")} == {
        f"thing-{n}.jar": f"jar {n}" for n in range(20)
    }
    assert said[-1] == (20, 10 * 5 + 10 * 6)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (Answer(404), "404"),
        (Answer(body=b"another"), "thing-0.jar has another SHA-256"),
        (Answer(body=b"jar 0", cut=True), "thing-0.jar"),
        (Answer(headers={"Content-Length": "many"}), "thing-0.jar"),
    ],
    ids=["missing", "changed", "cut off", "no HTTP"],
)
def test_what_is_wrong_with_one_is_told(tmp_path: Path, answer: Answer, problem: str) -> None:
    with http_server(answer=lambda _: answer) as server, pytest.raises(OSError, match=re.escape(problem)):
        maven.download(server.url, dict([*FILES.items()][:1]), tmp_path, lambda *_: None)


def test_after_one_that_fails_no_more_are_asked_for(tmp_path: Path) -> None:
    with http_server(answer=lambda _: Answer(404)) as server, pytest.raises(OSError, match="404"):
        maven.download(server.url, FILES, tmp_path, lambda *_: None)
    assert len(server.requests) < 20


def test_an_address_that_is_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="unknown url type"):
        maven.download("nowhere", FILES, tmp_path, lambda *_: None)


def test_maven_central_is_where_ivy_says() -> None:
    assert re.fullmatch(r"https://[a-z0-9.]+/maven2", maven.address(ivy_jar()))


def test_a_mirror_takes_its_place(tmp_path: Path) -> None:
    (settings := tmp_path / "home" / ".m2" / "settings.xml").parent.mkdir(parents=True)
    mirror = "<mirror><mirrorOf>central</mirrorOf><url>https://maven.example.com/central/</url></mirror>"
    settings.write_text(f"<settings><mirrors>{mirror}</mirrors></settings>")
    assert maven.address(Path("/no/ivy.jar")) == "https://maven.example.com/central"


@pytest.mark.parametrize("content", ["", "zip"])
def test_an_ivy_that_does_not_say_it_is_told(tmp_path: Path, content: str) -> None:
    (jar := tmp_path / "ivy-3.jar").touch()
    if content:
        with zipfile.ZipFile(jar, "w") as archive:
            archive.writestr("some/Thing.class", "thing")
    with pytest.raises(OSError, match=r"ivy-3\.jar does not name Maven Central"):
        maven.address(jar)
