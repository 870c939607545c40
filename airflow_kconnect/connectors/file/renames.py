"""Files that have another name than when they were read: rotated logs.

Or they were copied, and truncated; then inodes say nothing, and a copy is known by its beginning alone.

Inodes of removed files are given to new ones, often at once. So a renamed file must also begin with what was read, and
if it has not grown since, must not have been written since either: new files can have the contents of old ones.

What was read of a file is known under its old name until its offset is committed under the new one. That must happen
before another file under the old name gets an offset, or in the same transaction: so renamed files are planned first,
and have a split even if nothing of them is new.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.connector.source import PlanContext
from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.connectors.file.inputs import Identity, InputFile, identity_of, is_same_file
from airflow_kconnect.connectors.file.opening import Location


class Renames:
    """Tells a renamed file from a new one: by device and inode, and by what was read of it.

    :param files: those of this run. A replay reads them whatever their names were.
    :param copied: whether files are copied and truncated. Then a new file that begins with all that was read of one
        that was truncated is its copy.
    """

    def __init__(
        self, files: Sequence[InputFile], context: PlanContext, at: Callable[[str], Location], *, copied: bool = False
    ) -> None:
        self._files = files
        self._now = {file.name: file.identity for file in files}
        self._names: dict[Identity, list[str]] = {}
        for file in files:
            self._names.setdefault(file.identity, []).append(file.name)
        self._context, self._at = context, at
        self._read: dict[Identity, list[tuple[str, Any, Mapping[str, Any]]]] = {}
        for partition, facts in context.facts.items() if context.replay is None else ():
            identity, offset = identity_of(facts), context.offsets.get(partition)
            if identity is not None and offset is not None:
                name = json.loads(partition).get("filename")
                self._read.setdefault(identity, []).append((name, offset.get("position"), facts))
        self._copies = dict(self._copied()) if copied and context.replay is None else {}
        self._truncated = {original.name for original, _ in self._copies.values()}

    def moved_first(self, files: Sequence[InputFile]) -> list[InputFile]:
        """The files in the order in which they are planned. Of rotated ones the oldest is last by name; a truncated one
        follows its copy.
        """
        ordered: list[InputFile] = []
        for file in reversed(files):
            if self._may_have_moved(file):
                ordered.append(file)
                if file.name in self._copies:
                    ordered.append(self._copies[file.name][0])
        return [*ordered, *(file for file in files if not self._may_have_moved(file) and not self.is_truncated(file))]

    def is_truncated(self, file: InputFile) -> bool:
        """Whether its copy is read. The offsets of both have to be committed together: so they are in one plan."""
        return file.name in self._truncated

    def _may_have_moved(self, file: InputFile) -> bool:
        return file.name in self._copies or (self._is_new(file) and file.identity in self._read)

    def _is_new(self, file: InputFile) -> bool:
        return identity_of(self._facts(file)) != file.identity

    def _was_read(self, file: InputFile) -> bool:
        """Whether anything of this very file was: its inode alone may be that of a removed one."""
        if self._is_new(file):
            return any(self._positions(file))
        return bool(self._position(file)) and is_same_file(self._at(file.name), self._facts(file))

    def _position(self, file: InputFile) -> int:
        """How far a file of this name was read."""
        position = (self._context.offset(file.partition) or {}).get("position")
        return position if isinstance(position, int) else 0

    def _facts(self, file: InputFile) -> Mapping[str, Any]:
        return self._context.facts_of(file.partition) or {}

    def _copied(self) -> Iterator[tuple[str, tuple[InputFile, int]]]:
        """Copies of truncated files: name -> the original, and how far that was read."""
        truncated = [(position, file) for file in self._files if (position := self._lost_position(file))]
        free = [file for file in self._files if not self._was_read(file)] if truncated else []
        taken: set[str] = set()  # a copy that has got the inode of a removed one looks as if it were truncated
        # Logs often begin alike. What begins with more of one is its copy rather than that of another one.
        for position, original in sorted(truncated, key=lambda found: -found[0]):
            if original.name in taken:
                continue
            others = [file for file in free if file.name not in {original.name, *taken}]
            if (copy := copy_of(self._facts(original), position, others, self._at)) is not None:
                taken |= {copy, original.name}
                yield copy, (original, position)

    def _lost_position(self, file: InputFile) -> int | None:
        """How far a file was read whose contents are no longer those that were read; None: they are."""
        if self._is_new(file) or not (position := self._position(file)):
            return None
        return None if file.size >= position and is_same_file(self._at(file.name), self._facts(file)) else position

    def position_of(self, file: InputFile) -> int | None:
        """How far a file was read under another name, which it no longer has; None: it was not."""
        if file.name in self._copies:
            return self._copies[file.name][1]
        return max(self._positions(file), default=None) if self._may_have_moved(file) else None

    def _positions(self, file: InputFile) -> Iterator[int]:
        for name, position, facts in self._read.get(file.identity, ()):
            is_moved = name != file.name and self._now.get(name) != file.identity
            is_read = is_moved and isinstance(position, int) and position <= file.size
            if is_read and not _is_written_again(file, facts) and is_same_file(self._at(file.name), facts):
                yield position

    def has_left(self, file: InputFile) -> bool:
        """Whether the file that had this name before is read under another one."""
        if self.is_truncated(file):
            return True
        facts = self._facts(file)
        before = identity_of(facts)
        if before is None or before == file.identity:
            return False
        return any(is_same_file(self._at(name), facts) for name in self._names.get(before, ()))


def copy_of(
    facts: Mapping[str, Any], position: int, files: Sequence[InputFile], at: Callable[[str], Location]
) -> str | None:
    """The name of a file that begins with what was read of another one, up to a position; None: there is none.

    Of several it is the oldest: what was read is in the first copy that was made.
    """
    copies = [file for file in files if file.size >= position and is_same_file(at(file.name), facts)]
    return min(copies, key=lambda copy: copy.changed_ms).name if copies else None


def _is_written_again(file: InputFile, facts: Mapping[str, Any]) -> bool:
    """Whether a file that is as long as it was has another time of change."""
    return file.size == facts.get("size") and file.changed_ms != facts.get("changed_ms")


def renamed_to(name: str, facts: Mapping[str, Any]) -> Path | None:
    """The file that had a name, under its new name in the same folder; None: it is not there, or cannot be found."""
    identity = identity_of(facts)
    if identity is None:
        return None
    try:
        with os.scandir(Path(name).parent) as entries:
            inodes = [entry.path for entry in entries if entry.inode() == identity[1] and entry.path != name]
        found = [path for path in inodes if _identity(path) == identity and is_same_file(path, facts)]
    except (OSError, ConnectError):
        return None
    return Path(found[0]) if found else None


def _identity(path: str) -> Identity:
    status = Path(path).lstat()
    return status.st_dev, status.st_ino
