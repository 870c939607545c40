"""What is opened as an input file, and what is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.file.opening import Location, opened


@pytest.fixture
def drop(tmp_path: Path) -> Path:
    """A folder with a file in a folder, next to a secret."""
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "a.txt").write_text("secret")
    (tmp_path / "drop" / "sub").mkdir(parents=True)
    (tmp_path / "drop" / "sub" / "a.txt").write_text("own")
    return tmp_path / "drop"


def text_of(location: Location) -> str:
    with location.open() as file:
        return file.read().decode()


def test_a_file_in_a_folder_is_read(drop: Path) -> None:
    assert text_of(Location(f"{drop}/sub/a.txt", str(drop))) == "own"


def test_a_relative_name_is_read(drop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(drop)
    assert text_of(Location("sub/a.txt", ".")) == "own"


def test_a_name_outside_of_the_folder_is_read(drop: Path) -> None:
    assert text_of(Location(f"{drop}/sub/a.txt", f"{drop.parent}/secret")) == "own"


@pytest.mark.parametrize("part", ["sub/a.txt", "sub"])
def test_what_was_exchanged_for_a_link_is_not_followed(drop: Path, part: str) -> None:
    (drop / part).rename(drop / "elsewhere")
    (drop / part).symlink_to(drop.parent / "secret" / part.removeprefix("sub").lstrip("/"))
    with pytest.raises(DataError, match=r"a\.txt is a symbolic link"):
        Location(f"{drop}/sub/a.txt", str(drop)).open()
    assert text_of(Location(f"{drop}/sub/a.txt")) == "secret"


@pytest.mark.parametrize("root", [True, False])
def test_a_pipe_does_not_keep_the_reader_waiting(tmp_path: Path, root: bool) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="pipe is not a regular file"):
        Location(f"{tmp_path}/pipe", str(tmp_path) if root else None).open()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"file .*/none cannot be read: No such file"):
        opened(tmp_path / "none")
