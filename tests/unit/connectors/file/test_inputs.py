"""Which files a file source reads, and what it says about those that it cannot read."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.connectors.file.inputs import (
    InputFile,
    Inputs,
    find_inputs,
    fingerprint,
    is_same_file,
    open_input,
)

NOT_ROOT = pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")


def refusal(name: str | Path) -> str:
    with pytest.raises(ConfigError) as caught:
        open_input("file", str(name))
    (message,) = caught.value.errors["file"]
    return message


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """b.txt, a.txt, .hidden, sub/c.txt, sub/.d.txt"""
    (tmp_path / "sub").mkdir()
    for name in ("b.txt", "a.txt", ".hidden", "sub/c.txt", "sub/.d.txt"):
        (tmp_path / name).write_text("x\n")
    return tmp_path


def found(folder: Path, pattern: str) -> list[str]:
    return [str(Path(file.name).relative_to(folder)) for file in find_inputs(str(folder / pattern)).files]


class TestOneFile:
    def test_a_file_has_its_name_and_size(self, tmp_path: Path) -> None:
        path = tmp_path / "in.txt"
        path.write_bytes(b"hello\n")
        assert open_input("file", str(path)) == InputFile(str(path), 6)

    def test_an_empty_file_is_fine(self, tmp_path: Path) -> None:
        path = tmp_path / "in.txt"
        path.touch()
        assert open_input("file", str(path)).size == 0

    def test_its_source_partition_is_connects(self) -> None:
        assert InputFile("/data/in", 6).partition == {"filename": "/data/in"}

    def test_its_name_is_kept_as_it_is_written(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "in.txt").touch()
        monkeypatch.chdir(tmp_path)
        assert open_input("file", "./in.txt").name == "./in.txt"

    def test_a_link_is_followed(self, tmp_path: Path) -> None:
        (tmp_path / "in.txt").write_text("hello\n")
        (tmp_path / "link").symlink_to("in.txt")
        assert open_input("file", str(tmp_path / "link")).size == 6

    def test_missing(self, tmp_path: Path) -> None:
        path = tmp_path / "none"
        assert refusal(path) == f"{path} does not exist on the machine where the job runs"

    def test_a_link_to_nothing(self, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to("none")
        assert "does not exist" in refusal(tmp_path / "link")

    def test_a_directory_names_the_key_for_directories(self, tmp_path: Path) -> None:
        assert refusal(tmp_path) == f"{tmp_path} is a directory; set `files` to read every file in it"

    def test_a_pipe(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        assert "is not a regular file (a pipe or a device cannot be resumed)" in refusal(tmp_path / "pipe")

    def test_a_device(self) -> None:
        assert "is not a regular file" in refusal("/dev/null")

    @NOT_ROOT
    def test_no_permission(self, tmp_path: Path) -> None:
        path = tmp_path / "in.txt"
        path.touch(mode=0o000)
        assert "may not be read by the user of this job" in refusal(path)

    @NOT_ROOT
    def test_no_permission_on_the_folder(self, tmp_path: Path) -> None:
        folder = tmp_path / "closed"
        folder.mkdir(mode=0o000)
        assert "cannot be examined: Permission denied" in refusal(folder / "in.txt")

    def test_a_file_where_a_folder_should_be(self, tmp_path: Path) -> None:
        (tmp_path / "in.txt").touch()
        assert "cannot be examined: Not a directory" in refusal(tmp_path / "in.txt" / "x")

    def test_a_name_that_is_too_long(self, tmp_path: Path) -> None:
        assert "cannot be examined: File name too long" in refusal(tmp_path / ("x" * 300))

    def test_a_name_with_a_null_character(self, tmp_path: Path) -> None:
        assert "cannot be examined: embedded null" in refusal(f"{tmp_path}/a\0b")


class TestManyFiles:
    @pytest.mark.parametrize(
        ("pattern", "expected"),
        [
            pytest.param("", ["a.txt", "b.txt"], id="a folder"),
            pytest.param("*.txt", ["a.txt", "b.txt"], id="a pattern"),
            pytest.param("[ab].txt", ["a.txt", "b.txt"], id="a set of characters"),
            pytest.param("a.txt", ["a.txt"], id="a single file"),
            pytest.param("*", ["a.txt", "b.txt"], id="folders within are left out"),
            pytest.param("**/*.txt", ["a.txt", "b.txt", "sub/c.txt"], id="any depth"),
            pytest.param("*/*.txt", ["sub/c.txt"], id="one level down"),
            pytest.param(".hidden", [], id="a hidden file"),
            pytest.param("*.csv", [], id="no match"),
            pytest.param("none/*.txt", [], id="no match in a missing folder"),
            pytest.param("**", ["a.txt", "b.txt", "sub/c.txt"], id="everything below"),
            pytest.param("**/sub/**/*.txt", ["sub/c.txt"], id="any depth twice"),
            pytest.param("**.txt", ["a.txt", "b.txt"], id="two stars in a name are one"),
            pytest.param("s*/../*.txt", ["sub/../a.txt", "sub/../b.txt"], id="upwards"),
        ],
    )
    def test_found(self, folder: Path, pattern: str, expected: list[str]) -> None:
        assert found(folder, pattern) == expected

    def test_an_empty_folder_is_not_an_error(self, tmp_path: Path) -> None:
        assert find_inputs(str(tmp_path)) == Inputs(())

    def test_a_missing_folder_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match=r"`files`: .*none does not exist"):
            find_inputs(str(tmp_path / "none"))

    @NOT_ROOT
    def test_all_files_that_cannot_be_read_are_named(self, tmp_path: Path) -> None:
        (tmp_path / "good").touch()
        for name in ("a", "b"):
            (tmp_path / name).touch(mode=0o000)
        with pytest.raises(ConfigError) as caught:
            find_inputs(str(tmp_path))
        named = [message.split()[0] for message in caught.value.errors["files"]]
        assert named == [str(tmp_path / "a"), str(tmp_path / "b")]

    @pytest.mark.parametrize("pattern", ["", "*", "**"], ids=["a folder", "a pattern", "any depth"])
    def test_pipes_are_skipped_and_named(self, tmp_path: Path, pattern: str) -> None:
        (tmp_path / "good").touch()
        os.mkfifo(tmp_path / "pipe")
        inputs = find_inputs(str(tmp_path / pattern))
        assert [file.name for file in inputs.files] == [str(tmp_path / "good")]
        assert inputs.skipped == (f"{tmp_path}/pipe is not a regular file (a pipe or a device cannot be resumed)",)

    def test_a_file_that_vanishes_meanwhile_is_left_out(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        listed = Path.iterdir

        def vanishing(path: Path) -> Iterator[Path]:
            names = list(listed(path))
            (folder / "a.txt").unlink()
            return iter(names)

        monkeypatch.setattr(Path, "iterdir", vanishing)
        assert found(folder, "") == ["b.txt"]

    @pytest.mark.parametrize("code", [errno.EIO, errno.ESTALE, errno.ETIMEDOUT], ids=os.strerror)
    def test_a_disk_that_is_unavailable_is_tried_again(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, code: int
    ) -> None:
        def unavailable(*_: object) -> None:
            raise OSError(code, os.strerror(code))

        monkeypatch.setattr(Path, "iterdir", unavailable)
        with pytest.raises(RetriableError, match=os.strerror(code)):
            find_inputs(str(folder))


class TestLinks:
    @pytest.fixture
    def drop(self, tmp_path: Path) -> Path:
        """drop/own.txt, drop/link.txt -> secret/key.txt, drop/linked -> secret, drop/loop -> drop"""
        (tmp_path / "secret").mkdir()
        (tmp_path / "secret" / "key.txt").write_text("secret\n")
        drop = tmp_path / "drop"
        drop.mkdir()
        (drop / "own.txt").write_text("own\n")
        (drop / "link.txt").symlink_to("../secret/key.txt")
        (drop / "linked").symlink_to("../secret")
        (drop / "loop").symlink_to(".")
        return drop

    @pytest.mark.parametrize("pattern", ["", "*.txt", "*/*.txt", "**/*.txt"])
    def test_those_below_the_folder_are_not_followed(self, drop: Path, pattern: str) -> None:
        assert set(found(drop, pattern)) <= {"own.txt"}

    def test_they_are_named(self, drop: Path) -> None:
        assert [text.split()[0] for text in find_inputs(f"{drop}/*/k*.txt").skipped] == [f"{drop}/linked/key.txt"]

    def test_they_are_followed_on_demand(self, drop: Path) -> None:
        assert [Path(file.name).name for file in find_inputs(str(drop), follow_links=True).files] == [
            "link.txt",
            "own.txt",
        ]

    def test_the_folder_itself_may_be_one(self, drop: Path) -> None:
        assert found(drop / "loop", "") == ["own.txt"]


class TestFingerprint:
    def write(self, folder: Path, data: bytes) -> str:
        (folder / "in.txt").write_bytes(data)
        return str(folder / "in.txt")

    def test_it_is_a_hash_of_the_first_bytes(self, tmp_path: Path) -> None:
        expected = {"head_bytes": 3, "head_sha256": hashlib.sha256(b"abc").hexdigest()}
        found = fingerprint(self.write(tmp_path, b"abcdef"), 3)
        assert {key: found[key] for key in found.keys() - {"device", "inode", "size", "changed_ms"}} == expected

    def test_it_covers_at_most_4096_bytes(self, tmp_path: Path) -> None:
        assert fingerprint(self.write(tmp_path, bytes(10_000)), 9_000)["head_bytes"] == 4096

    @pytest.mark.parametrize(
        ("now", "same"),
        [
            pytest.param(b"abc\ndef\n", True, id="unchanged"),
            pytest.param(b"abc\ndef\nmore\n", True, id="appended"),
            pytest.param(b"abc\nxyz\n", True, id="changed behind"),
            pytest.param(b"xbc\ndef\n", False, id="changed"),
            pytest.param(b"abc", False, id="shorter"),
            pytest.param(b"", False, id="empty"),
        ],
    )
    def test_same_file(self, tmp_path: Path, now: bytes, same: bool) -> None:
        facts = fingerprint(self.write(tmp_path, b"abc\ndef\n"), 4)
        assert is_same_file(self.write(tmp_path, now), facts) is same

    def test_of_nothing_every_file_is_the_same(self, tmp_path: Path) -> None:
        facts = fingerprint(self.write(tmp_path, b""), 0)
        assert is_same_file(self.write(tmp_path, b"anything"), facts)
