"""Moves files from a place to others, or removes them: nothing is lost wherever it is stopped, nothing overwritten."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

from airflow_kconnect.connect.errors import ConnectError, DataError
from airflow_kconnect.places.base import Place, PlacedFile

_THREADS = 8
_BLOCK = 1024 * 1024
_DIGITS = 8
_EXTENSIONS = re.compile(r"(?P<stem>.+?)(?P<rest>(\.[^./]*)?(\.(gz|zst|bz2))?)")
_T = TypeVar("_T")
_R = TypeVar("_R")


@dataclass(frozen=True)
class Move:
    """A file that is to be moved as it was seen.

    :param target: where to; None: it is removed. :param name: its name there.
    """

    file: PlacedFile
    target: Place | None = None
    name: str = ""


@dataclass(frozen=True)
class Moved:
    """:param files: those that have left their place. :param errors: what has kept others there."""

    files: tuple[PlacedFile, ...]
    errors: tuple[ConnectError, ...]


def move_all(source: Place, moves: Sequence[Move]) -> Moved:
    """Move files. One that is gone, or has been replaced, is left out.

    1 Each is copied under a name that is free, as a whole.
    2 The copies are made durable.
    3 The files are removed, if they still are as they were seen.

    A run that is killed in between finds its copies again: see `_is_copy`.
    """
    moves = _apart(moves)
    copied = _each(lambda move: _copied(source, move), moves)  # 1
    by_target: dict[int, tuple[Place, list[str]]] = {}
    ready = []
    for move, name in zip(moves, copied, strict=True):
        if isinstance(name, str):
            ready.append(move)
            if move.target is not None:
                by_target.setdefault(id(move.target), (move.target, []))[1].append(name)
    for target, names in by_target.values():
        target.settle(names)  # 2
    removed = _each(lambda move: source.remove(move.file), ready)  # 3
    gone = [move.file for move, is_removed in zip(ready, removed, strict=True) if is_removed is True]
    source.settle(file.name for file in gone)
    return Moved(tuple(gone), tuple(each for each in (*copied, *removed) if isinstance(each, ConnectError)))


def _apart(moves: Sequence[Move]) -> list[Move]:
    """Each has a name of its own: one target may be a folder of another one, and stores look and write in two steps."""
    taken: set[str] = set()
    found = []
    for move in moves:
        name = move.name
        if move.target is not None:
            if move.target.uri(name) in taken:
                name = with_version(name, move.file.version)
            taken.add(move.target.uri(name))
        found.append(replace(move, name=name))
    return found


def _each(do: Callable[[_T], _R], items: Iterable[_T]) -> list[_R | ConnectError]:
    """Results, or errors, in the order of the items: each waits for its store."""

    def tried(item: _T) -> _R | ConnectError:
        try:
            return do(item)
        except ConnectError as error:
            return error

    with ThreadPoolExecutor(_THREADS, thread_name_prefix="kconnect-move") as pool:
        return list(pool.map(tried, items))


def _copied(source: Place, move: Move) -> str | None:
    """The name of the copy; None: the file is not there as it was seen.

    :raises ConnectError: it cannot be copied.
    """
    target, file = move.target, move.file
    if target is None:
        return ""
    if not source.has(file):  # also since not every store knows conditions of copies
        return None
    for name in (move.name, with_version(move.name, file.version)):
        if (there := target.find(name)) is None:
            if target.copy(source, file, name):
                return name
            if not source.has(file):
                return None
            there = target.find(name)
        if there is not None and _is_copy(target, there, source, file):
            return name
    raise DataError(f"{target.uri(name)} is there already, and is another file: rename it")


def with_version(name: str, version: str) -> str:
    """A name for a file whose own is taken: it says which version it is, before the extensions."""
    folder, slash, own = name.rpartition("/")
    match = _EXTENSIONS.fullmatch(own)
    stem, rest = (match["stem"], match["rest"]) if match else (own, "")
    return f"{folder}{slash}{stem}.{hashlib.sha256(version.encode()).hexdigest()[:_DIGITS]}{rest}"


def _is_copy(target: Place, there: PlacedFile, source: Place, file: PlacedFile) -> bool:
    """Whether a file is the copy that an earlier run has made: it is not older, and has the same content. In a folder
    it is the same file, which has two names.
    """
    if there.version == file.version:
        return True
    if there.size != file.size or there.changed_ms < file.changed_ms:
        return False
    with target.read(there) as one, source.read(file) as other:
        while block := one.read(_BLOCK):
            if block != other.read(len(block)):
                return False
    return True
