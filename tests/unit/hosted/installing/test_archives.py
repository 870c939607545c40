"""Archives of plug-ins are unpacked, and what could harm is refused."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import pytest

from airflow_kconnect.hosted.installing import archives
from airflow_kconnect.machine.errors import SetupError
from tests.support.connect.java_plugins import write_jar


@pytest.fixture
def into(tmp_path: Path) -> Path:
    folder = tmp_path / "into"
    folder.mkdir()
    return folder


def tar_of(path: Path, *members: tuple[tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for info, content in members:
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return path


def test_a_zip_with_folders(tmp_path: Path, into: Path) -> None:
    archives.unpack(write_jar(tmp_path / "x.zip", {"acme-1.0/": "", "acme-1.0/lib/a.jar": "jar"}), into)
    assert (into / "acme-1.0" / "lib" / "a.jar").read_text() == "jar"
    assert archives.single_folder(into) == into / "acme-1.0"


def test_a_compressed_tar(tmp_path: Path, into: Path) -> None:
    archives.unpack(tar_of(tmp_path / "x.tar.gz", (tarfile.TarInfo("acme/a.jar"), b"jar")), into)
    assert (into / "acme" / "a.jar").read_bytes() == b"jar"


@pytest.mark.parametrize("name", ["../evil.jar", "/etc/evil.jar", "a/../../evil.jar", "..\\evil.jar", "C:\\evil.jar"])
@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_a_file_outside_of_the_folder_is_refused(tmp_path: Path, into: Path, name: str, kind: str) -> None:
    path = tmp_path / f"x.{kind}"
    archive = write_jar(path, {name: "x"}) if kind == "zip" else tar_of(path, (tarfile.TarInfo(name), b"x"))
    with pytest.raises(SetupError, match="names a file outside of its folder"):
        archives.unpack(archive, into)
    assert not list(tmp_path.rglob("evil.jar"))


def test_links_are_left_out(tmp_path: Path, into: Path) -> None:
    link = tarfile.TarInfo("secret")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    archives.unpack(tar_of(tmp_path / "x.tar.gz", (link, b""), (tarfile.TarInfo("a.jar"), b"x")), into)
    linked = zipfile.ZipInfo("secret")
    linked.external_attr = 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr(linked, "/etc/passwd")
    archives.unpack(tmp_path / "x.zip", into)
    assert [path.name for path in into.iterdir()] == ["a.jar"]


def test_what_unpacks_to_too_much_is_refused(tmp_path: Path, into: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_BYTES", 1_000_000)
    bomb = write_jar(tmp_path / "x.zip", {"a.jar": bytes(2_000_000)})
    assert bomb.stat().st_size < 10_000
    with pytest.raises(SetupError, match="larger than a plug-in"):
        archives.unpack(bomb, into)


def test_too_many_files_are_refused(tmp_path: Path, into: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MOST_FILES", 10)
    with pytest.raises(SetupError, match="more than 10 files"):
        archives.unpack(write_jar(tmp_path / "x.zip", {f"{number}.jar": "" for number in range(11)}), into)


@pytest.mark.parametrize("name", ["x.zip", "x.tar.gz"])
@pytest.mark.parametrize("content", [b"", b"<html>", b"PK\x03\x04cut", b"\x1f\x8b\x08cut"])
def test_a_broken_archive(tmp_path: Path, into: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(SetupError, match=r"cannot be unpacked: .* Download it again\."):
        archives.unpack(tmp_path / name, into)


def test_a_zip_whose_content_is_damaged(tmp_path: Path, into: Path) -> None:
    archive = write_jar(tmp_path / "x.zip", {"a.jar": "content " * 100})
    content = bytearray(archive.read_bytes())
    content[45:60] = bytes(15)
    archive.write_bytes(content)
    with pytest.raises(SetupError, match="cannot be unpacked"):
        archives.unpack(archive, into)
