"""HDFS: files are written under hidden names next to their places, and renamed, as in a folder.

What is staged exists from its beginning on, and is only appended to: a run that is still writing what a newer one has
removed gets an error, and does not bring it back.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import cached_property
from typing import Any, BinaryIO, cast

from airflow_kconnect.connect.errors import ConfigError, ConnectError, RetriableError
from airflow_kconnect.places.address import Address
from airflow_kconnect.places.base import PlacedFile, StagedFile, Staging
from airflow_kconnect.places.folder_tree import FolderTree
from airflow_kconnect.places.folders import hidden_name
from airflow_kconnect.places.hdfs.client import HdfsSettings, Listed, WebHdfs
from airflow_kconnect.places.hdfs.errors import HdfsError, errors_named
from airflow_kconnect.places.spill import PartStaging
from airflow_kconnect.places.streams import RangeReader

_NOT_FOUND = "FileNotFoundException"
_REPLICATED = "replication"
"""What HDFS calls it where a folder says that its files are not coded, though the one above it says so."""


class HdfsPlace(FolderTree[Listed]):
    """Files below a folder."""

    def __init__(self, at: Address, settings: HdfsSettings) -> None:
        super().__init__(at)
        self._settings = settings
        self._base = f"/{at.path}/" if at.path else "/"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_hdfs"}

    def check(self) -> None:
        """Asks for the right to write where the folder is or will be made. Waits for seconds, not for minutes."""
        with self._named("use", "", key="directory"), contextlib.closing(WebHdfs(self._settings, attempts=2)) as hdfs:
            folder = f"/{self.at.path}"
            while (found := hdfs.status(folder)) is None:
                folder = folder.rpartition("/")[0] or "/"
            if not found.is_dir():
                raise ConfigError({"directory": [f"cannot create the folder {self.at}: {folder} is a file"]})
            hdfs.check_access(folder, "-wx")
            if found.facts.get("ecPolicy", _REPLICATED) != _REPLICATED:
                text = "has erasure coding, and HDFS appends nothing to such files: name a folder without it"
                raise ConfigError({"directory": [f"{self.at.scheme}://{self.at.root}{folder} {text}"]})
            if not hdfs.keeps_plus():
                text = "takes `+` in names for a blank (HDFS-14423): it needs a newer Hadoop"
                raise ConfigError({"directory": [f"cannot use {self.at}: its WebHDFS {text}"]})

    def find(self, name: str) -> PlacedFile | None:
        with self._named("look at", name):
            found = self._hdfs.status(self._base + name)
        return None if found is None or found.is_dir() else self._placed(name, found)

    def read(self, file: PlacedFile) -> BinaryIO:
        path = _by_id(file)

        def fetch(start: int, end: int) -> bytes:
            with self._named("read", file.name):
                return self._hdfs.read(path, start, end)

        return cast("BinaryIO", RangeReader(fetch, file.size))

    def stage(self, name: str, part_bytes: int = 8 * 1024 * 1024) -> Staging:
        return _HdfsStaging(self, name, part_bytes)

    def publish(self, staged: StagedFile) -> None:
        hidden = staged.facts["hidden"]
        with self._named("write", staged.name):
            try:
                self._hdfs.rename(self._base + hidden, self._base + staged.name)
                return
            except HdfsError as error:
                if error.kind != _NOT_FOUND:
                    raise
        # The answer to a rename may have been lost.
        found = self.find(staged.name)
        if found is None or found.version != staged.facts.get("version"):
            raise self._fenced(hidden)

    def discard(self, staged: StagedFile) -> None:
        self._remove(staged.facts["hidden"])

    def remove(self, file: PlacedFile) -> bool:
        if not self.has(file):
            return False
        with self._named("remove", file.name):
            return self._hdfs.delete(_by_id(file)) or self.find(file.name) is None

    def remove_folder(self, name: str) -> None:
        with self._named("remove", name), contextlib.suppress(HdfsError):
            self._hdfs.delete(self._base + name)

    def _remove(self, name: str) -> None:
        with self._named("remove", name):
            self._hdfs.delete(self._base + name)

    def close(self) -> None:
        if (client := vars(self).pop("_hdfs", None)) is not None:
            client.close()

    @cached_property
    def _hdfs(self) -> WebHdfs:
        return WebHdfs(self._settings)

    def _entries(self, folder: str) -> Iterator[Listed]:
        with self._named("list", folder):
            yield from self._hdfs.entries((self._base + folder).rstrip("/") or "/")

    def _placed(self, name: str, entry: Listed) -> PlacedFile:
        facts = entry.facts
        if "fileId" not in facts:  # as HttpFS
            text = "does not say the ids of files, without which one cannot be told from another: name the name nodes"
            raise ConfigError({"store.endpoint": [text]})
        # Before the sign: what stays when a file is renamed, as the ETag of other stores.
        changed_ms = facts["modificationTime"]
        return PlacedFile(name, facts["length"], changed_ms, f"{facts['fileId']}@{changed_ms}")

    def _named(self, verb: str, name: str, key: str | None = None) -> contextlib.AbstractContextManager[None]:
        return errors_named(f"cannot {verb} {self.uri(name)}", key)


def _by_id(file: PlacedFile) -> str:
    """The path of a file whatever its name is: what replaces it has another id."""
    return f"/.reserved/.inodes/{file.version.partition('@')[0]}"


class _HdfsStaging(PartStaging):
    """Appends parts to a hidden file, which exists from its beginning on."""

    def __init__(self, place: HdfsPlace, name: str, part_bytes: int) -> None:
        super().__init__(part_bytes)
        self._place, self._name, self._hidden = place, name, hidden_name(name)
        with place._named("write", name):
            place._hdfs.create(place._base + self._hidden)

    def finish(self) -> StagedFile:
        if self._part.size:
            self._send()
        self._part.close()
        found = self._place.find(self._hidden)
        if found is None:
            raise self._place._fenced(self._hidden)
        if found.size != self._size:
            text = f"has {found.size} bytes, and {self._size} were written: run again"
            raise RetriableError(f"{self._place.uri(self._hidden)} {text}")
        return StagedFile(self._name, self._size, {"hidden": self._hidden, "version": found.version})

    def abort(self) -> None:
        with contextlib.suppress(ConnectError):
            self._place._remove(self._hidden)
        self._part.close()

    def _send(self) -> None:
        data = self._part.take()
        with self._place._named("write", self._name):
            try:
                self._place._hdfs.append(self._place._base + self._hidden, data)
                return
            except HdfsError as error:
                if error.kind not in (_NOT_FOUND, "LeaseExpiredException"):
                    raise
        raise self._place._fenced(self._hidden)
