"""The archive of the local registry: unpacked once, also by several processes at a time."""

from __future__ import annotations

import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from airflow_kconnect.local.registry import unpacked


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as a download leaves it."""
    program = tmp_path / "registry-runner.jar"
    program.write_bytes(b"jar" * 100_000)
    download = tmp_path / "download"
    download.mkdir()
    with tarfile.open(download / "registry-all.tar.gz", "w:gz") as archive:
        archive.add(program, program.name)
    return download


def test_the_program_is_in_the_unpacked_folder(folder: Path) -> None:
    assert unpacked(folder, print).read_bytes() == b"jar" * 100_000


def test_several_at_a_time_find_a_whole_one_and_leave_nothing_else(folder: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        paths = set(pool.map(lambda _: unpacked(folder, print), range(8)))

    assert {path.stat().st_size for path in paths} == {300_000}
    assert sorted(path.name for path in folder.iterdir()) == ["registry-all.tar.gz", "unpacked"]
