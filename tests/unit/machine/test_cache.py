"""Where the cache is, also for users who have no home."""

from __future__ import annotations

import os
import stat
import tempfile
from pathlib import Path

import pytest

from airflow_kconnect.machine.cache import cache_folder, expanded
from airflow_kconnect.machine.errors import SetupError


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files, and a home that cannot have a cache."""
    for name in ("KCONNECT_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", "/dev/null")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path / f"airflow_kconnect-{os.getuid()}"


@pytest.mark.parametrize(
    ("env", "folder"),
    [
        ({"KCONNECT_CACHE": "/a", "XDG_CACHE_HOME": "/tmp"}, "/a"),
        ({"KCONNECT_CACHE": "~/a", "HOME": "/b"}, "/b/a"),
        ({"XDG_CACHE_HOME": "/tmp/b"}, "/tmp/b/airflow_kconnect"),
        ({"XDG_CACHE_HOME": "", "HOME": "/tmp/none/there"}, "/tmp/none/there/.cache/airflow_kconnect"),
    ],
)
def test_place(monkeypatch: pytest.MonkeyPatch, env: dict[str, str], folder: str) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)

    assert str(cache_folder()) == folder


def test_without_a_home_it_is_a_private_temporary_folder(temporary: Path) -> None:
    assert cache_folder() == temporary
    assert stat.S_IMODE(temporary.stat().st_mode) == 0o700


def test_that_folder_is_found_again(temporary: Path) -> None:
    assert cache_folder() == cache_folder()


@pytest.mark.parametrize("kind", ["writable by others", "link", "file"])
def test_a_folder_that_others_can_have_made_is_refused(temporary: Path, kind: str) -> None:
    if kind == "writable by others":
        temporary.mkdir()
        temporary.chmod(0o777)
    elif kind == "link":
        temporary.symlink_to("/tmp")
    else:
        temporary.touch()

    with pytest.raises(SetupError, match="KCONNECT_CACHE"):
        cache_folder()


def test_a_path_below_a_home_that_does_not_exist_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SetupError, match="~nobody-has-this-name/x is below a home folder"):
        expanded("~nobody-has-this-name/x")
