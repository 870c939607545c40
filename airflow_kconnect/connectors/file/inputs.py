"""Which files a file source reads, whether they can be read, and whether they are still the same files."""

from __future__ import annotations

import glob
import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.errors import ConfigError

_FINGERPRINT_BYTES = 4096


@dataclass(frozen=True)
class InputFile:
    """A file as a run finds it.

    :param name: as configured, or as found in a folder; the ``filename`` of the source partition.
    :param size: bytes.
    :param changed_ms: when it was last changed, ms since the epoch.
    """

    name: str
    size: int
    changed_ms: int = field(default=0, compare=False)

    @property
    def partition(self) -> dict[str, Any]:
        """Its source partition."""
        return {"filename": self.name}


def open_input(key: str, name: str) -> InputFile:
    """Look at one file.

    :raises ConfigError: it is missing, no regular file, or may not be read.
    """
    problem = None
    try:
        found = Path(name).stat()
        if stat.S_ISDIR(found.st_mode):
            problem = "is a directory; set `files` to read every file in it"
        elif not stat.S_ISREG(found.st_mode):
            problem = "is not a regular file (a pipe or a device cannot be resumed)"
        elif not os.access(name, os.R_OK):
            problem = "may not be read by the user of this job: check its permissions"
        else:
            return InputFile(name, found.st_size, found.st_mtime_ns // 1_000_000)
    except FileNotFoundError:
        problem = "does not exist on the machine where the job runs"
    except (OSError, ValueError) as error:
        problem = f"cannot be examined: {getattr(error, 'strerror', error)}"
    raise ConfigError({key: [f"{name} {problem}"]})


def find_inputs(pattern: str) -> list[InputFile]:
    """The files of a folder or glob pattern, sorted by name; hidden files and folders are left out.

    :raises ConfigError: all files that cannot be read, at once; a pattern that finds nothing is no error.
    """
    folder = Path(pattern)
    names = [str(path) for path in folder.iterdir()] if folder.is_dir() else glob.glob(pattern, recursive=True)  # noqa: PTH207 (Path.glob refuses absolute patterns)
    if not names and not glob.has_magic(pattern) and not folder.exists():
        raise ConfigError({"files": [f"{pattern} does not exist on the machine where the job runs"]})
    inputs, errors = [], []
    for name in sorted(names):
        if Path(name).name.startswith(".") or Path(name).is_dir():
            continue
        try:
            inputs.append(open_input("files", name))
        except ConfigError as error:
            errors += error.errors["files"]
    if errors:
        raise ConfigError({"files": errors})
    return inputs


def fingerprint(name: str, length: int) -> dict[str, Any]:
    """What recognises a file after bytes were appended to it: a hash of its first bytes (at most 4096)."""
    length = min(length, _FINGERPRINT_BYTES)
    with Path(name).open("rb") as file:
        return {"head_bytes": length, "head_sha256": hashlib.sha256(file.read(length)).hexdigest()}


def is_same_file(name: str, facts: dict[str, Any]) -> bool:
    """Whether the file still begins as it did."""
    return fingerprint(name, int(facts["head_bytes"])) == {k: facts[k] for k in ("head_bytes", "head_sha256")}


def offset_problems(partition: Mapping[str, Any], offset: Mapping[str, Any]) -> list[str]:
    """What is wrong with an offset that a user sets, in the words of Connect's FileStreamSource."""
    problems = []
    position = offset.get("position")
    if "position" not in offset:
        problems.append("Offset objects should either be null or contain the key 'position'")
    elif not isinstance(position, int) or isinstance(position, bool):
        problems.append("The value for the 'position' key in the offset is expected to be a Long value")
    elif position < 0:
        problems.append("The value for the 'position' key in the offset should be a non-negative value")
    if "filename" not in partition:
        problems.append("Partition objects should contain the key 'filename'")
    return problems
