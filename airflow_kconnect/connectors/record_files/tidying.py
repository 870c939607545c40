"""What happens to files that were read: they stay, or are moved to other folders, or removed."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from airflow_kconnect.connect.connector.source import Offset, Tidied
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.record_files.config import BY_DATE, DELETE, MOVES, NO_POLICY
from airflow_kconnect.connectors.record_files.offsets import is_of, partition_of
from airflow_kconnect.connectors.record_files.selection import Selected
from airflow_kconnect.connectors.record_files.types import columns_in
from airflow_kconnect.java_text.json import partition_identity
from airflow_kconnect.places.address import LOCAL, Address, address
from airflow_kconnect.places.base import Place, PlacedFile
from airflow_kconnect.places.moving import Move, Moved, move_all
from airflow_kconnect.places.registry import open_place
from airflow_kconnect.runs.warnings import Kind, RunWarning

FINISHED, ERROR = "finished.path", "error.path"
FORGOTTEN = {"files": "forgotten"}
"""The source partition under which the columns of files are kept that are gone."""
_IS_ABOVE = "must not be `directory`, nor a folder above it: files would be read again"

Facts = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Tidying:
    """What the configuration wants.

    :param finished: where files go that were read. :param error: where those with bad records go.
    """

    policy: str
    finished: Place | None = None
    error: Place | None = None

    def wants(self, offset: Offset) -> bool:
        """Whether something is to be done with a file that was read."""
        if self.policy == DELETE and self.error is None:
            return not offset.get("bad")  # what could not be read of it is nowhere else
        return self.policy in (DELETE, *MOVES) or self._is_bad(offset)

    def check(self, source: Place) -> None:
        """Called before a run plans anything.

        :raises ConfigError: files cannot be written there, or not be removed where they are; or a link leads back to
            their own folder, where each would be taken for its copy.
        """
        is_folder = source.at.scheme == LOCAL and (self.policy in (DELETE, *MOVES) or self.error is not None)
        if is_folder and not os.access(source.at.path, os.W_OK | os.X_OK):
            text = f"the user of this job may not remove files from {source}, as `cleanup.policy` or `error.path` wants"
            raise ConfigError({"directory": [text]})
        for key, place in ((FINISHED, self.finished), (ERROR, self.error)):
            if place is not None:
                if _below(_real(place.at), _real(source.at)) is not None:
                    raise ConfigError({key: [_IS_ABOVE]})
                try:
                    place.check()
                except ConfigError as error:  # a place calls its key `directory`
                    texts = error.errors.get("directory")
                    raise ConfigError({key: texts}) if texts else error from error

    def moves(self, read: Iterable[tuple[PlacedFile, Offset]]) -> list[Move]:
        """How files leave their place."""
        return [self._move(file, offset) for file, offset in read if self.wants(offset)]

    def close(self) -> None:
        """Close connections."""
        for place in (self.finished, self.error):
            if place is not None:
                place.close()

    def _is_bad(self, offset: Offset) -> bool:
        return self.error is not None and bool(offset.get("bad"))

    def _move(self, file: PlacedFile, offset: Offset) -> Move:
        if self._is_bad(offset):
            return Move(file, self.error, file.name)
        if self.policy == DELETE:
            return Move(file)
        day = f"{datetime.fromtimestamp(file.changed_ms / 1000, UTC):%Y-%m-%d}/" if self.policy == BY_DATE else ""
        return Move(file, self.finished, f"{day}{file.name}")


class Tidier:
    """What a run does with files.

    :param source: where they are.
    """

    def __init__(self, source: Place, tidying: Tidying) -> None:
        self._source, self._tidying = source, tidying
        self._selected = Selected()
        self._facts: dict[str, Mapping[str, Any]] = {}
        self._notes: Counter[str] = Counter()

    def planned(self, selected: Selected, facts: Facts) -> None:
        """A plan was made. :param facts: of all files, also those of this plan."""
        self._selected, self._facts = selected, dict(facts)

    def tidied(self, offsets: Sequence[tuple[Mapping[str, Any], Offset]]) -> Tidied | None:
        """Files of these offsets, and what earlier runs have left, leave their place. What is of an earlier run's plan
        is left to the plan that follows.
        """
        selected, self._selected = self._selected, Selected()
        planned = {start.file.name: start.file for start in selected.to_read}
        seen = ((planned.get(partition.get("file", "")), offset) for partition, offset in offsets)
        read = [(file, offset) for file, offset in seen if file and offset.get("done") and is_of(file, offset)]
        moves = self._tidying.moves([*selected.read, *read])
        outdated = _outdated(selected, {partition.get("file", "") for partition, _ in offsets})
        if not moves and not outdated:
            return None
        moved = move_all(self._source, moves)
        gone = {file.name for file in moved.files}
        self._notes.update(
            "removed_files" if move.target is None else "moved_files" for move in moves if move.file.name in gone
        )
        forgotten = tuple(partition_of(name) for name in sorted(gone | outdated))
        facts = (FORGOTTEN, self._kept(map(partition_identity, forgotten))) if forgotten else None
        return Tidied(dict(self._notes), tuple(_warnings(moved)), forgotten, facts)

    def _kept(self, forgotten: Iterable[str]) -> dict[str, Any]:
        """What files say about columns that are forgotten now or were before: types stay what they are."""
        own = partition_identity(FORGOTTEN)
        columns = columns_in(self._facts.get(identity, {}) for identity in (own, *forgotten))
        kept = {"columns": json.dumps(columns)} if columns else {}
        self._facts[own] = kept
        return kept


def _outdated(selected: Selected, committed: set[str]) -> set[str]:
    """Names of files that have left, or that are known under new names by now: a file that gets one of them is a
    new one, and one that gets its old name back has not lost what was read since.
    """
    names = committed.union(file.name for file, _ in selected.read)
    return selected.gone.union(*(selected.former.get(name, ()) for name in names)) - committed


def _warnings(moved: Moved) -> list[RunWarning]:
    if not moved.errors:
        return []
    count = len(moved.errors)
    text = f"{count:,} files that were read could not be moved or removed; the next run tries again: {moved.errors[0]}"
    return [RunWarning(Kind.SOURCE, text)]


def excluded(source: Address, others: Iterable[Address]) -> tuple[str, ...]:
    """Folders below a place which are others: what is there is not read."""
    return tuple(f"{name}/" for other in others if (name := _below(_real(source), _real(other))))


def _real(at: Address) -> Address:
    """A folder without the links in its path."""
    return replace(at, path=os.path.realpath(at.path)) if at.scheme == LOCAL else at


def _below(at: Address, other: Address) -> str | None:
    """The name of an address below another one; empty: it is the same; None: it is elsewhere."""
    above = f"{at.path.rstrip('/')}/".removeprefix("/" if at.scheme != LOCAL else "")
    if (at.scheme, at.root) != (other.scheme, other.root) or not f"{other.path}/".startswith(above):
        return None
    return other.path.removeprefix(above.rstrip("/")).strip("/")


def path_problems(props: Mapping[str, str]) -> dict[str, list[str]]:
    """Key -> messages: folders for files that were read, where none can be."""
    problems: dict[str, list[str]] = {}
    moves = props.get("cleanup.policy", NO_POLICY) in MOVES
    if moves and not props.get(FINISHED):
        problems[FINISHED] = [f"is not set, and `cleanup.policy` is {props['cleanup.policy']}: set it"]
    if props.get(FINISHED) and not moves:
        problems[FINISHED] = ["has no effect: set `cleanup.policy` to MOVE or MOVEBYDATE, or leave it out"]
    try:
        source = address(props.get("directory", ""))
        others = {key: address(props[key]) for key in (FINISHED, ERROR) if props.get(key)}
    except ValueError:
        return problems  # they are named already
    for key, other in others.items():
        if other.scheme != source.scheme:
            problems[key] = [f"is {other}, in another store than `directory`"]
        elif _below(other, source) is not None:
            problems[key] = [_IS_ABOVE]
    return problems


def tidying_of(values: Mapping[str, Any]) -> Tidying:
    """For the typed values of a valid configuration."""
    finished, error = (open_place(values[key], values, key) if values[key] else None for key in (FINISHED, ERROR))
    return Tidying(values["cleanup.policy"], finished, error)
