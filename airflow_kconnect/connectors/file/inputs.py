"""Which files a file source reads, whether they are readable, and whether they are still the same files."""

from __future__ import annotations

import fnmatch
import glob
import hashlib
import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.connectors.file.opening import Input, Location, opened, unreadable
from airflow_kconnect.places.system_errors import system_error

_FINGERPRINT_BYTES = 4096
_HASH_DIGITS = 32
Identity = tuple[int, int]
"""Device and inode: what a file keeps when it is renamed."""
_COMPRESSED = re.compile(r"(?P<plain>.+)\.(gz|zst|bz2|xz)")
_ROTATED = re.compile(r"(?P<log>.+?)([.-][0-9]+)*")
"""What rotation appends to the name of a log: a number or a date."""
_NOT_REGULAR = "is not a regular file (a pipe or a device cannot be resumed)"


@dataclass(frozen=True)
class InputFile:
    """A file as seen by a run.

    :param name: as configured, or as found in a folder; ``filename`` in the source partition.
    :param size: bytes.
    :param changed_ms: when it was last changed, ms since the epoch.
    :param identity: which file it is, whatever its name.
    """

    name: str
    size: int
    changed_ms: int = field(default=0, compare=False)
    identity: Identity = field(default=(0, 0), compare=False)

    @property
    def partition(self) -> dict[str, Any]:
        """Its source partition."""
        return {"filename": self.name}


def open_input(key: str, name: str) -> InputFile:
    """Examine one file.

    :raises ConfigError: it is missing, not a regular file, or not readable.
    :raises RetriableError: the disk is unavailable.
    """
    problem = None
    try:
        status = Path(name).stat()
        if stat.S_ISDIR(status.st_mode):
            problem = "is a directory; set `files` to read every file in it"
        elif not stat.S_ISREG(status.st_mode):
            problem = _NOT_REGULAR
        elif not os.access(name, os.R_OK):
            problem = "may not be read by the user of this job: check its permissions"
        else:
            identity = (status.st_dev, status.st_ino)
            return InputFile(name, status.st_size, _changed_ms(status), identity)
    except FileNotFoundError:
        problem = "does not exist on the machine where the job runs"
    except (OSError, ValueError) as error:
        problem = _examined(name, error)
    raise ConfigError({key: [f"{name} {problem}"]})


def _examined(name: str, error: OSError | ValueError) -> str:
    """:raises RetriableError: the disk is unavailable."""
    if isinstance(error, OSError) and isinstance(failure := system_error(f"looking at {name}", error), RetriableError):
        raise failure from error
    return f"cannot be examined: {getattr(error, 'strerror', error)}"


@dataclass(frozen=True)
class Inputs:
    """The files that a folder or pattern matches.

    :param skipped: what is wrong with entries that are not read, by their names.
    """

    files: tuple[InputFile, ...]
    skipped: tuple[str, ...] = ()


def root_of(pattern: str) -> str:
    """The folder in a folder name or pattern: what is below it may belong to any user."""
    if Path(pattern).is_dir():
        return pattern
    magic = re.search(r"[*?\[]", pattern)
    # With a letter in place of the wildcard the last part is a name, whatever preceded it.
    return str(Path(pattern[: magic.start()] + "x" if magic else pattern).parent)


def find_inputs(pattern: str, *, follow_links: bool = False) -> Inputs:
    """The files of a folder or glob pattern, sorted by name; hidden files and folders are left out.

    Users who may write to the folder must not be able to make a run read files elsewhere, or wait for a pipe: symbolic
    links, pipes and devices are skipped. So are compressed files; nothing is said of those that belong to a log that is
    there. A file that disappears meanwhile is left out.

    :raises ConfigError: lists all unreadable files at once; a pattern without matches is not an error.
    :raises RetriableError: the disk is unavailable.
    """
    root = root_of(pattern)
    inputs: list[InputFile] = []
    skipped: list[str] = []
    errors: list[str] = []
    names = set(_names(pattern, root, follow_links=follow_links))
    for name in sorted(names):
        if Path(name).name.startswith(".") or Path(name).is_dir():
            continue
        if (compressed := _COMPRESSED.fullmatch(name)) is not None:
            if not _is_rotated(compressed["plain"], names):
                skipped.append(f"{name} is compressed: decompress it, or take the files source, which reads such files")
            continue
        if not follow_links and Location(name, root).is_linked():
            skipped.append(f"{name} is a symbolic link, or in one: to read it, set `files.follow.links`")
            continue
        try:
            inputs.append(open_input("files", name))
        except ConfigError as error:
            if not os.path.lexists(name):
                continue
            problems = error.errors["files"]
            (skipped if problems[0].endswith(_NOT_REGULAR) else errors).extend(problems)
    if errors:
        raise ConfigError({"files": errors})
    return Inputs(tuple(inputs), tuple(skipped))


def _is_rotated(plain: str, names: Collection[str]) -> bool:
    """Whether a compressed file is what has happened to a log that is there."""
    match = _ROTATED.fullmatch(plain)
    return plain in names or (match is not None and match["log"] in names)


def _names(pattern: str, root: str, *, follow_links: bool) -> list[str]:
    try:
        if pattern == root:
            return [str(path) for path in Path(pattern).iterdir()]
        if "**" in pattern and not follow_links:
            return list(_walked(root, Path(os.path.relpath(pattern, root)).parts))
        names = glob.glob(pattern, recursive=True)  # noqa: PTH207 (Path.glob refuses absolute patterns)
    except OSError as error:
        raise ConfigError({"files": [f"{pattern} {_examined(pattern, error)}"]}) from error
    if not names and not glob.has_magic(pattern):
        raise ConfigError({"files": [f"{pattern} does not exist on the machine where the job runs"]})
    return names


def _walked(root: str, pattern: Sequence[str]) -> Iterator[str]:
    """Like `glob`, which however follows links: two of them that point upwards would be endless work."""
    for folder, _, names in os.walk(root):
        inner = Path(os.path.relpath(folder, root)).parts
        for name in names:
            if _matches([*inner, name], pattern):
                yield str(Path(folder, name))


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    if not parts or not pattern:
        return not parts and all(part == "**" for part in pattern)
    if pattern[0] == "**":
        return _matches(parts, pattern[1:]) or (not parts[0].startswith(".") and _matches(parts[1:], pattern))
    if parts[0].startswith(".") and not pattern[0].startswith("."):
        return False
    return fnmatch.fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def fingerprint(path: Input, length: int) -> dict[str, Any]:
    """What identifies a file even after bytes were appended to it: hashes of its first bytes and of those before
    `length` (at most 4096 each), its size and time of change, and which file it is.

    :raises ConnectError: it cannot be read; see `Location.open`.
    """
    head = min(length, _FINGERPRINT_BYTES)
    with opened(path) as file:
        status = os.fstat(file.fileno())
        facts = {"head_bytes": head, "head_sha256": hashlib.sha256(_bytes_before(path, file, head)).hexdigest()}
        if length > head:
            facts |= {"tail_end": length, "tail_sha256": _hash(_bytes_before(path, file, length))}
    now = {"size": status.st_size, "changed_ms": _changed_ms(status)}
    return {**facts, **now, "device": status.st_dev, "inode": status.st_ino}


def _changed_ms(status: os.stat_result) -> int:
    return status.st_mtime_ns // 1_000_000


def _bytes_before(path: Input, file: FileIO, end: int, most: int = _FINGERPRINT_BYTES) -> bytes:
    try:
        return os.pread(file.fileno(), min(end, most), max(0, end - most))
    except OSError as error:
        raise unreadable(path, error) from error


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:_HASH_DIGITS]


def identity_of(facts: Mapping[str, Any]) -> Identity | None:
    """Which file a fingerprint is of; None: one of an older version does not say."""
    return (facts["device"], facts["inode"]) if {"device", "inode"} <= facts.keys() else None


def change_of(path: Input, facts: Mapping[str, Any]) -> str | None:
    """What has changed since a fingerprint was taken: the ``beginning`` or the ``end``; None: nothing."""
    with opened(path) as file:
        head = _bytes_before(path, file, int(facts["head_bytes"]))
        if hashlib.sha256(head).hexdigest() != facts["head_sha256"]:
            return "beginning"
        if "tail_end" in facts and _hash(_bytes_before(path, file, int(facts["tail_end"]))) != facts["tail_sha256"]:
            return "end"
    return None


def is_same_file(path: Input, facts: Mapping[str, Any]) -> bool:
    """Whether what was there is still there."""
    return change_of(path, facts) is None


def is_line_start(path: Input, position: int) -> bool:
    """Whether a line ends at a position, so that reading can begin there."""
    with opened(path) as file:
        return position == 0 or _bytes_before(path, file, position, 1) in (b"\n", b"\r")


def offset_problems(partition: Mapping[str, Any], offset: Mapping[str, Any]) -> list[str]:
    """What is wrong with an offset set by a user, in the words of Connect's FileStreamSource."""
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
