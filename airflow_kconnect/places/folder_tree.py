"""Places with folders: what is staged has a hidden name next to its place, and is renamed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, Protocol, TypeVar

from airflow_kconnect.connect.errors import FencedError
from airflow_kconnect.places.base import Place, PlacedFile, StagedFile, is_hidden
from airflow_kconnect.places.folders import shown_name


class Entry(Protocol):
    """Of a folder, as `os.scandir` has them."""

    @property
    def name(self) -> str: ...

    def is_dir(self) -> bool: ...


_E = TypeVar("_E", bound=Entry)


class FolderTree(Place, Generic[_E]):
    """Subclasses list one folder at a time."""

    def files(
        self, prefix: str = "", *, after: str = "", hidden: bool = False, wanted: Callable[[str], bool] | None = None
    ) -> Iterator[PlacedFile]:
        for name, entry in self._below(prefix, hidden=hidden):
            shown = (hidden or not is_hidden(name)) and name.startswith(prefix) and name > after
            # What is not wanted is not looked at: a folder in a network is asked for each file.
            if shown and (wanted is None or wanted(name)) and (found := self._placed(name, entry)):
                yield found

    def staged(self, prefix: str = "") -> Iterator[StagedFile]:
        folder, slash, _ = prefix.rpartition("/")
        for name, entry in self._below(f"{folder}{slash}"):
            final = shown_name(name)
            if final is not None and final.startswith(prefix) and self._placed(name, entry):
                yield StagedFile(final, 0, {"hidden": name})

    @abstractmethod
    def _entries(self, folder: str) -> Iterable[_E]:
        """What is in a folder, in any order; nothing if it is not there.

        :param folder: below the address, with a slash at its end unless it is empty.
        """

    @abstractmethod
    def _placed(self, name: str, entry: _E) -> PlacedFile | None:
        """An entry as it is seen; None: it is not a file, or is gone."""

    def _below(self, prefix: str, *, hidden: bool = False) -> Iterator[tuple[str, _E]]:
        """What is not a folder and has a name that begins with a prefix, hidden or not, in the order of names' bytes.

        :param hidden: what is in hidden folders, too.
        """
        above, slash, begin = prefix.rpartition("/")
        folder = f"{above}{slash}"
        found = [entry for entry in self._entries(folder) if entry.name.startswith((begin, f".{begin}"))]
        for entry in sorted(found, key=_order):
            if not entry.is_dir():
                yield f"{folder}{entry.name}", entry
            elif hidden or not entry.name.startswith("."):
                yield from self._below(f"{folder}{entry.name}/", hidden=hidden)

    def _fenced(self, hidden: str) -> FencedError:
        return FencedError(f"{self.uri(hidden)} has disappeared: another run of this connector has removed it")


def _order(entry: Entry) -> bytes:
    # A folder is where its files are: `a.b` is before `a/b`.
    name = f"{entry.name}/" if entry.is_dir() else entry.name
    return name.encode(errors="surrogateescape")
