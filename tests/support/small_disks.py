"""Disks of a few KB, which are full or must not be written. Mounting them needs the rights of root."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


class SmallDisk:
    """A folder, with what is in it, on a disk of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fill(self) -> None:
        """No byte can be written to it any more."""
        with (self.folder / ".filler").open("wb", buffering=0) as out:
            for size in (1 << 20, 1 << 12, 1):
                with contextlib.suppress(OSError):
                    while out.write(bytes(size)):
                        pass

    def enlarge(self, size: str = "64m") -> None:
        """There is space for everything."""
        _run("mount", "-o", f"remount,size={size}", str(self.folder))


@contextmanager
def small_disk(folder: Path) -> Iterator[SmallDisk]:
    """A disk of 2 MB at a folder; what is in the folder is copied to it, and lost at the end."""
    with tempfile.TemporaryDirectory() as aside:
        shutil.copytree(folder, aside, dirs_exist_ok=True)
        _run("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder))
        try:
            shutil.copytree(aside, folder, dirs_exist_ok=True)
            yield SmallDisk(folder)
        finally:
            _run("umount", "--lazy", str(folder))


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Within the block the folder cannot be written, not even by root."""
    _run("mount", "--bind", str(folder), str(folder))
    try:
        _run("mount", "-o", "remount,bind,ro", str(folder))
        yield
    finally:
        _run("umount", "--lazy", str(folder))


def _run(*command: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        if command[:1] == ("mount",):
            pytest.skip(f"no right to mount a disk: {error}")
        raise
