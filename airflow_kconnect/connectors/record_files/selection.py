"""Which files a run reads, in which order, and from where on; the offsets are what is known of files that were read."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from airflow_kconnect.connect.connector.source import Offset, PlanContext
from airflow_kconnect.connectors.record_files.config import AUTO, FAIL, IGNORE, ORDERS, SKIP
from airflow_kconnect.connectors.record_files.offsets import begins, changed, is_of, partition_of, reached
from airflow_kconnect.places.address import LOCAL
from airflow_kconnect.places.base import Place, PlacedFile

_THREADS = 8


@dataclass(frozen=True)
class Rules:
    """What the configuration says about it.

    :param excluded: folders below the place, each with a slash at its end, in which files are that were read.
    :param leaves: by its offset, whether a file leaves its place.
    :param below: whether folders below the place belong to it.
    """

    pattern: str = ".*"
    on_changed: str = FAIL
    on_renamed: str = AUTO
    minimum_age_ms: int = 0
    order: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    leaves: Callable[[Offset], bool] = lambda _: False
    below: bool = True

    def wants(self, name: str) -> bool:
        """Whether a file of this name is one to be read."""
        *folders, own = name.split("/")
        # What Spark and Hadoop are still writing is in such folders; one of theirs with a value is a part of a table.
        hidden = own.startswith("_") or any(each.startswith("_") and "=" not in each for each in folders)
        belongs = not hidden and (self.below or not folders) and not name.startswith(self.excluded)
        return belongs and self._pattern.fullmatch(own) is not None

    def ordered(self, files: Sequence[PlacedFile]) -> list[PlacedFile]:
        """Files in the order in which they are read."""
        found = list(files)
        for each in reversed(self.order):
            attribute, descending = ORDERS[each]
            found.sort(key=lambda file: getattr(file, attribute), reverse=descending)
        return found

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        return re.compile(self.pattern)


@dataclass(frozen=True)
class Start:
    """A file that is to be read.

    :param begin: where reading begins; None: it was read under another name, which only has to be noted.
    :param rows: how many rows after that were read already. :param offset: what is known of the file.
    """

    file: PlacedFile
    begin: int | None
    rows: int
    offset: Offset = field(default_factory=dict)


@dataclass
class Selected:
    """Files of a place.

    :param to_read: those that are new or were not read to their ends. :param read: those that were, with their offsets.
    :param former: by the name of a file: those that it had before, and under which something is known of it.
    :param gone: names of files that have left their place, and whose offsets are still there: the run that had moved
        them was killed.
    :param notes: for the report: how many were left out and why.
    """

    to_read: list[Start] = field(default_factory=list)
    read: list[tuple[PlacedFile, Offset]] = field(default_factory=list)
    former: dict[str, list[str]] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    notes: Counter[str] = field(default_factory=Counter)

    def after(self, count: int) -> Selected:
        """What is left when that many files are planned."""
        return Selected(self.to_read[count:], former=self.former)


def still_there(place: Place, selected: Selected, most: int | None) -> Selected:
    """What an earlier plan of the run has left, without files that are not there as they were seen.

    :param most: at most that many of the first ones are looked at: a plan has no more.
    """
    first = selected.to_read[:most]
    with ThreadPoolExecutor(_THREADS, thread_name_prefix="kconnect-look") as pool:
        found = pool.map(place.has, (start.file for start in first))
    kept = [start for start, is_there in zip(first, found, strict=True) if is_there]
    return replace(selected, to_read=[*kept, *selected.after(len(first)).to_read])


def select(place: Place, rules: Rules, context: PlanContext) -> Selected:
    """List the files.

    :raises DataError: one has changed, and the user must decide.
    """
    files = list(place.files(wanted=rules.wants))
    selected, renames = Selected(), _Renames(place, rules, context, files)
    youngest_ms = time.time() * 1000 - rules.minimum_age_ms
    # Renamed files first: what is known of them must not be replaced before it is noted under their new names.
    for file in sorted(rules.ordered(files), key=renames.has_none):
        offset = context.offset(partition_of(file.name))
        if former := renames.former(file):
            selected.former[file.name] = [name for name in former if name != file.name]
        if (known := renames.offset_of(file)) is not None:
            selected.notes["renamed_files"] += 1
            begin, rows = begins(known) or (None, 0)
            selected.to_read.append(Start(file, begin, rows, known))
        elif offset is not None and is_of(file, offset):
            if (start := begins(offset)) is None:
                selected.read.append((file, offset))
            else:
                selected.to_read.append(Start(file, *start, offset))
        elif offset is not None and not renames.has_left(offset) and rules.on_changed in (FAIL, IGNORE):
            if rules.on_changed == FAIL:
                raise changed(place.uri(file.name))
        elif file.changed_ms > youngest_ms:
            selected.notes["young_files"] += 1
        else:
            selected.to_read.append(Start(file, 0, 0))
    selected.gone = set(_gone(place, rules, context, {file.name for file in files}))
    selected.gone.difference_update(*selected.former.values())
    return selected


def _gone(place: Place, rules: Rules, context: PlanContext, there: set[str]) -> Iterator[str]:
    """:param there: names of files, which need not be looked for."""
    for partition, offset in context.offsets.items():
        if offset.get("done") and rules.leaves(offset):
            name = json.loads(partition).get("file")
            if isinstance(name, str) and name not in there and place.find(name) is None:
                yield name


class _Renames:
    """Tells a file that was read under another name from a new one.

    In a folder the version says so: inode, time of change and size. A store makes a new object when one is renamed, and
    an ETag only says that the content is the same. So that is believed only if the configuration says so.
    """

    def __init__(self, place: Place, rules: Rules, context: PlanContext, files: Sequence[PlacedFile]) -> None:
        self._place, self._context, self._files = place, context, files
        self._is_local = place.at.scheme == LOCAL
        self._looks = rules.on_renamed == SKIP or (rules.on_renamed == AUTO and self._is_local)
        self._former: dict[str, dict[str, Offset]] = {}

    def has_none(self, file: PlacedFile) -> bool:
        """For an order with renamed files first."""
        return self.offset_of(file) is None

    def offset_of(self, file: PlacedFile) -> Offset | None:
        """What is known of a file under names that it had, if that is more than under the name that it has."""
        if not (former := self.former(file)):
            return None
        offset, own = max(former.values(), key=reached), self._context.offset(partition_of(file.name))
        if own is not None and is_of(file, own) and reached(own) >= reached(offset):
            return None
        return {**offset, "version": file.version}

    def former(self, file: PlacedFile) -> dict[str, Offset]:
        """Names that a file had, with their offsets: a run that was killed may have left several."""
        if file.name not in self._former:
            self._former[file.name] = self._former_of(file) if self._looks else {}
        return self._former[file.name]

    def has_left(self, offset: Offset) -> bool:
        """Whether the file of an offset is there under another name: then the one that has its name now is new."""
        return self._looks and self._identity(offset["version"]) in self._present

    def _former_of(self, file: PlacedFile) -> dict[str, Offset]:
        former = {}
        for name, offset in self._known.get(self._identity(file.version), ()):
            there = self._place.find(name) if name != file.name else file
            if there is None or not is_of(there, offset):
                former[name] = offset
        return former

    @cached_property
    def _known(self) -> dict[str, list[tuple[str, Offset]]]:
        """By identity: names under which files were read, and their offsets. Made once it is needed."""
        known: dict[str, list[tuple[str, Offset]]] = {}
        for partition, offset in self._context.offsets.items():
            name: Any = json.loads(partition).get("file")
            if isinstance(name, str) and isinstance(offset.get("version"), str):
                known.setdefault(self._identity(offset["version"]), []).append((name, offset))
        return known

    @cached_property
    def _present(self) -> set[str]:
        return {self._identity(file.version) for file in self._files}

    def _identity(self, version: str) -> str:
        return version if self._is_local else version.rpartition("@")[0]
