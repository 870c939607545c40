"""What a place does: the contract of folders and object stores."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from types import TracebackType
from typing import Any, BinaryIO, Protocol, Self

from airflow_kconnect.connect.errors import ConnectError, RetriableError
from airflow_kconnect.places.address import Address

_THREADS = 8
_BLOCK = 8 * 1024 * 1024
_PAUSES_S = (0.5, 1, 2, 4)
"""Between attempts to remove a file."""


@dataclass(frozen=True)
class PlacedFile:
    """A visible file as it was seen.

    :param name: below the address of its place, folders separated by ``/``.
    :param size: bytes.
    :param changed_ms: when it was last changed, ms since the epoch, by the store's clock.
    :param version: what tells it from another file that gets the same name: inode, time of change and size, the ETag
        with the time, or the id with the time.
    """

    name: str
    size: int
    changed_ms: int
    version: str


@dataclass(frozen=True)
class StagedFile:
    """A complete file that is not visible yet, or what is left of one. It is JSON data, so a task can report it.

    :param name: what it will be named.
    :param size: bytes; 0 of what a killed run has left.
    :param facts: what its store needs to make it visible: the hidden name, or the upload and its parts.
    """

    name: str
    size: int
    facts: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """JSON data; see `from_json`."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Of `to_json`."""
        return cls(data["name"], data["size"], data["facts"])


class Output(Protocol):
    """Takes bytes, as binary files do."""

    def write(self, data: Any, /) -> int:
        """Append bytes, or anything with their buffer."""


class Staging(Output, Protocol):
    """A file that is being written: binary, forwards only. No reader sees any of it."""

    def finish(self) -> StagedFile:
        """All was written. It is durable, and as hidden as before."""

    def abort(self) -> None:
        """Remove what was written. Raises nothing: what stays is found by `Place.staged`."""


class Place(ABC):
    """Files below an address. Pickled into tasks; it connects where it is first used, and one can be used by several
    threads.

    Each method raises a `RetriableError` if the store or the disk is unavailable, and a `DataError` or `ConfigError`
    that names the address and says what to do if it refuses.

    :param at: its address.
    """

    def __init__(self, at: Address) -> None:
        self.at = at

    def __str__(self) -> str:
        return str(self.at)

    def uri(self, name: str) -> str:
        """The address of a file."""
        return str(self.at.below(name))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    @abstractmethod
    def check(self) -> None:
        """Called before a run plans anything: can files be written here? Changes nothing.

        :raises ConfigError: keyed by ``directory``: it is missing and cannot be made, or may not be written.
        """

    @abstractmethod
    def files(
        self, prefix: str = "", *, after: str = "", hidden: bool = False, wanted: Callable[[str], bool] | None = None
    ) -> Iterator[PlacedFile]:
        """The visible files whose names begin with a prefix, folders included, in the order of their names' bytes.

        Files with a part that begins with a dot are left out: they are not visible.

        :param after: only names after this one, which need not exist. Where a store can begin there, what precedes it
            costs nothing.
        :param hidden: they are not left out: for who knows the names of its own files. A topic may begin with a dot.
        :param wanted: by its name, whether a file is looked at; all if not given.
        """

    @abstractmethod
    def find(self, name: str) -> PlacedFile | None:
        """One visible file."""

    def has(self, file: PlacedFile) -> bool:
        """Whether a file is there as it was seen."""
        now = self.find(file.name)
        # A file that is still written may be longer although its time is the same: clocks of file systems are coarse.
        return now is not None and (now.version, now.size) == (file.version, file.size)

    @abstractmethod
    def read(self, file: PlacedFile) -> BinaryIO:
        """Open a file for reading; it can seek, and reads what it needs.

        :raises DataError: it has been replaced or removed since it was seen. Reading may raise it, too.
        """

    @abstractmethod
    def stage(self, name: str, part_bytes: int = 8 * 1024 * 1024) -> Staging:
        """Begin a file.

        :param part_bytes: how much is sent at once, where a store takes files in parts.
        """

    @abstractmethod
    def publish(self, staged: StagedFile) -> None:
        """Make a file visible as a whole, in place of one with its name. Again, if it was published: nothing happens.

        :raises FencedError: it was discarded, by a newer run.
        """

    def publish_all(self, staged: Sequence[StagedFile]) -> None:
        """Publish files, several at a time: each waits for its store.

        :raises ConnectError: of the first one that failed; those that had begun are published nevertheless.
        """
        with ThreadPoolExecutor(_THREADS, thread_name_prefix="kconnect-publish") as pool:
            list(pool.map(self.publish, staged))

    @abstractmethod
    def discard(self, staged: StagedFile) -> None:
        """Remove what is staged: nothing can make it visible any more. If there is nothing: nothing happens."""

    @abstractmethod
    def staged(self, prefix: str = "") -> Iterator[StagedFile]:
        """What is staged, or left of runs that were killed, for names that begin with a prefix."""

    @abstractmethod
    def remove(self, file: PlacedFile) -> bool:
        """Remove a file as it was seen; False: it is gone, or another one has its name, which stays.

        Not every store compares and removes in one step: there is a moment in between, in which another file may get
        the name; see docs/delivery-guarantees.md.
        """

    def _ask_to_remove(self, file: PlacedFile, ask: Callable[[], bool]) -> bool:
        """A store is asked once, and looked at again before it is asked again: by then the name may be another file's.

        :param ask: one request; False: it is gone, or another one has its name.
        """
        pauses = iter(_PAUSES_S)
        is_asked = False
        while self.has(file):
            is_asked = True
            try:
                return ask()
            except RetriableError:
                if (pause := next(pauses, None)) is None:
                    raise
                time.sleep(pause)
        return is_asked and self.find(file.name) is None

    def remove_folder(self, name: str) -> None:
        """Remove a folder that nothing is in. Object stores have none."""

    def replace(self, staged: Sequence[StagedFile], left: Iterable[PlacedFile]) -> int:
        """Make the files of a round visible, and remove what was left at its offsets. What one of them replaces by its
        name is gone already.

        :param left: files as they were seen before. :returns: how many of them were removed.
        :raises FencedError: see `publish`.
        """
        self.publish_all(staged)
        published = {file.name for file in staged}
        removed = [file.name for file in left if file.name not in published and self.remove(file)]
        self.settle([*published, *removed])
        return len(removed)

    def copy(self, source: Place, file: PlacedFile, name: str) -> bool:
        """Make a copy of another place's file visible under a name that is free; see `moving.copied`.

        :returns: False: the file is gone, or another one has its name, or this one's name is taken by now.
        """
        for left in self.staged(name):
            if left.name == name:
                self.discard(left)  # of a run that was killed
        staging = self.stage(name)
        try:
            with source.read(file) as content:
                while block := content.read(_BLOCK):
                    staging.write(block)
            staged = staging.finish()
        except ConnectError:
            staging.abort()
            if not source.has(file):
                return False
            raise
        if not source.has(file) or self.find(name) is not None:
            self.discard(staged)
            return False
        self.publish(staged)
        return True

    def settle(self, names: Iterable[str]) -> None:
        """Called after files were published or removed: make it durable. Stores do so by themselves."""

    def close(self) -> None:
        """Close connections; the place may be used again. A task does not: its process has them as long as it lives."""


def is_hidden(name: str) -> bool:
    """Whether readers do not see a file of this name."""
    return any(part.startswith(".") for part in name.split("/"))
