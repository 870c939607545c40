"""Google's and Azure's stores: hidden objects, which are copied to their names when a file becomes visible.

What is staged is two objects: a marker, which is there until it is discarded, and the content; see `hidden`. A run that
is still writing would bring back a single object that another one has removed; so it could not be fenced.
"""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, BinaryIO, cast

from airflow_kconnect.connect.errors import ConnectError, DataError, FencedError, RetriableError
from airflow_kconnect.places import hidden as names
from airflow_kconnect.places.address import Address
from airflow_kconnect.places.base import Place, PlacedFile, StagedFile, Staging, is_hidden
from airflow_kconnect.places.objects.client import ObjectsSettings, open_client
from airflow_kconnect.places.objects.errors import errors_named, status_of
from airflow_kconnect.places.spill import PartStaging
from airflow_kconnect.places.streams import RangeReader

PART_BYTES_MIN = 5 * 1024 * 1024
"""Google refuses smaller parts, but for the last one."""
_PARTS_MAX = {"gs": 10_000, "abfss": 50_000}
_PAGE = 1000
_CLIENTS = ("_store", "_store_once")
_WRITER = "kconnectfile"
"""In the metadata of an object, which copies keep: which staged file it was. Azure allows no `-` in its name."""
_COPY_SECONDS = 600
"""How long a copy within the store may take; Azure may do it later than it says so."""


class ObjectsPlace(Place):
    """Objects below a prefix of a bucket or container."""

    def __init__(self, at: Address, settings: ObjectsSettings) -> None:
        super().__init__(at)
        self._settings = settings
        self._base = f"{at.path}/" if at.path else ""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name not in _CLIENTS}

    def check(self) -> None:
        """Tries each right that a run needs, with a hidden object."""
        self._look()
        probe = f"{self._base}{names.PROBE}"
        with self._named("use", "", key="directory"):
            self._store.put(probe, b"")
            with contextlib.suppress(FileNotFoundError):  # another check has removed it
                self._store.head(probe)
                self._store.delete(probe)

    def files(
        self, prefix: str = "", *, after: str = "", hidden: bool = False, wanted: Callable[[str], bool] | None = None
    ) -> Iterator[PlacedFile]:
        with self._named("list", prefix):
            found = (
                _placed(name, each)
                for name, each in self._objects(prefix, after)
                if (hidden or not is_hidden(name)) and (wanted is None or wanted(name))
                if each["size"] or not self._is_folder(name)
            )
            # Azure lists a folder before what is named `folder.x`, where accounts have real folders.
            yield from sorted(found, key=lambda file: file.name) if self.at.scheme == "abfss" else found

    def find(self, name: str) -> PlacedFile | None:
        with self._named("look at", name):
            try:
                return _placed(name, self._store.head(self._base + name))
            except FileNotFoundError:
                return None

    def read(self, file: PlacedFile) -> BinaryIO:
        etag, _, _ = file.version.rpartition("@")

        def fetch(start: int, end: int) -> bytes:
            with self._named("read", file.name):
                options = {"if_match": f'"{etag}"', "range": (start, end)}
                return bytes(self._store.get(self._base + file.name, options=options).bytes())

        return cast("BinaryIO", RangeReader(fetch, file.size))

    def stage(self, name: str, part_bytes: int = 8 * 1024 * 1024) -> Staging:
        return _ObjectsStaging(self, name, max(part_bytes, PART_BYTES_MIN))

    def publish(self, staged: StagedFile) -> None:
        marker, content = self._hidden(staged)
        with self._named("write", staged.name):
            try:
                # The content was complete before this, and is discarded after the marker: who sees the marker copies
                # the content, or finds it gone.
                self._store.head(marker)
                self._store.copy(content, self._base + staged.name)
                self._await_copy(staged)
                published = True
            except FileNotFoundError:
                published = self._is_published(staged)
        if not published:
            self._fenced(staged)
        self.discard(staged)

    def discard(self, staged: StagedFile) -> None:
        with self._named("remove", staged.name):
            for path in self._hidden(staged):
                with contextlib.suppress(FileNotFoundError):
                    self._store.delete(path)

    def staged(self, prefix: str = "") -> Iterator[StagedFile]:
        with self._named("list", prefix):
            found = (names.parsed(path) for path, _ in self._objects(names.FOLDER + prefix))
            for name, id_ in dict.fromkeys(each for each in found if each is not None):
                yield StagedFile(name, 0, {"id": id_})

    def remove(self, file: PlacedFile) -> bool:
        return self._ask_to_remove(file, lambda: self._delete(file))

    def _delete(self, file: PlacedFile) -> bool:
        from obstore.exceptions import PreconditionError

        with self._named("remove", file.name):
            try:
                store = self._store_for(file) if self.at.scheme == "gs" else self._store_once
                store.delete(self._base + file.name)
            except (FileNotFoundError, PreconditionError):
                return False
        return True

    def _store_for(self, file: PlacedFile) -> Any:
        """A client that removes this file only, and repeats no requests: obstore has no conditions for removals.

        Azure has a condition, too, but there obstore asks by another request, for several removals.

        :raises FileNotFoundError: the file is not there as it was seen.
        """
        found = self._store.head(self._base + file.name)
        if _placed(file.name, found) != file:
            raise FileNotFoundError(file.name)
        headers = {"x-goog-if-generation-match": found["version"]} if found["version"] else {}
        return open_client(self.at, self._settings, retries=0, headers=headers)

    def close(self) -> None:
        for name in _CLIENTS:
            vars(self).pop(name, None)

    @cached_property
    def _store(self) -> Any:
        with self._named("use", "", key="directory"):
            return open_client(self.at, self._settings)

    @cached_property
    def _store_once(self) -> Any:
        """Repeats no requests."""
        with self._named("use", "", key="directory"):
            return open_client(self.at, self._settings, retries=0)

    def _look(self) -> None:
        """:raises ConfigError: the bucket is gone."""
        with self._named("use", "", key="directory"):
            next(iter(self._store.list(self._base or None, chunk_size=1)), None)

    def _hidden(self, staged: StagedFile) -> tuple[str, str]:
        own = staged.name, staged.facts["id"]
        return f"{self._base}{names.marker(*own)}", f"{self._base}{names.content(*own)}"

    def _is_folder(self, name: str) -> bool:
        """Whether an empty object is named `name/`: consoles create such ones. obstore leaves the slash out."""
        return self.find(name) is None

    def _objects(self, prefix: str, after: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Names that begin with a prefix, after another one, hidden ones too."""
        folder, slash, begin = (self._base + prefix).rpartition("/")
        offset = f"{folder}{slash}{begin[:-1]}" if begin[:-1].strip(".") else None
        if after:
            offset = max(offset or "", self._base + after)
        for page in self._store.list(folder or None, offset=offset, chunk_size=_PAGE):
            for each in page:
                if not each["path"].startswith(folder + slash):  # the folder itself, as an object
                    continue
                first, _, _ = each["path"].removeprefix(folder + slash).partition("/")
                if not first.startswith(begin):
                    if first > begin:
                        return
                elif (name := each["path"].removeprefix(self._base)) > after:  # Azurite begins at the beginning
                    yield name, each

    def _is_published(self, staged: StagedFile) -> bool:
        """Whether the visible file is this one, to its last byte."""
        options = {"range": (staged.size - 1, staged.size)} if staged.size else {}
        try:
            found = self._store.get(self._base + staged.name, options=options)
            last = bytes(found.bytes())
        except FileNotFoundError:
            return False
        except Exception as error:
            if status_of(error) == 416:  # it is shorter
                return False
            raise
        right = found.attributes.get(_WRITER) == staged.facts["id"] and found.meta["size"] == staged.size
        return right and len(last) == min(staged.size, 1)

    def _await_copy(self, staged: StagedFile) -> None:
        """:raises FileNotFoundError: a newer run has removed the marker, and may have published a file of this name."""
        marker, _ = self._hidden(staged)
        until, pause = time.monotonic() + _COPY_SECONDS, 0.05
        while not self._is_published(staged):
            if time.monotonic() > until:
                raise RetriableError(f"{self.uri(staged.name)} is still being copied by the store: run again")
            self._store.head(marker)
            time.sleep(pause)
            pause = min(pause * 2, 5.0)

    def _fenced(self, staged: StagedFile) -> None:
        self._look()  # a bucket that is gone is another matter
        with contextlib.suppress(ConnectError):
            self.discard(staged)  # content that was written after the marker was removed
        marker, _ = self._hidden(staged)
        hidden = self.uri(marker.removeprefix(self._base))
        raise FencedError(f"{hidden} has disappeared: another run of this connector has removed it")

    def _named(self, verb: str, name: str, key: str | None = None) -> contextlib.AbstractContextManager[None]:
        return errors_named(f"cannot {verb} {self.uri(name)}", key)


class _ObjectsStaging(PartStaging):
    """A small file is sent at its end, a larger one in parts."""

    def __init__(self, place: ObjectsPlace, name: str, part_bytes: int) -> None:
        super().__init__(part_bytes)
        self._place, self._staged = place, StagedFile(name, 0, {"id": uuid.uuid4().hex})
        self._sender: Any = None
        self._sent = 0
        marker, self._content = place._hidden(self._staged)
        with self._named():
            place._store.put(marker, b"")

    def finish(self) -> StagedFile:
        with self._named():
            if self._sender is None:
                content = self._part.take()
                self._place._store.put(self._content, content, attributes=self._attributes, use_multipart=False)
            else:
                self._send()
                self._complete()
        return StagedFile(self._staged.name, self._size, self._staged.facts)

    def abort(self) -> None:
        # There is no way to end an upload in parts but to complete it.
        with contextlib.suppress(Exception):
            if self._sender is not None:
                self._sender.close()
        with contextlib.suppress(ConnectError):
            self._place.discard(self._staged)
        self._part.close()

    @property
    def _attributes(self) -> dict[str, str]:
        return {_WRITER: self._staged.facts["id"]}

    def _send(self) -> None:
        """:raises DataError: the store takes no more parts. They cannot grow within an upload, as they do on S3."""
        import obstore

        if self._sent == (most := _PARTS_MAX[self._place.at.scheme]):
            text = f"the store takes {most} parts, here of {self._part_bytes} bytes: lower `flush.size`"
            raise DataError(f"cannot write {self._place.uri(self._staged.name)}: {text}")
        self._sent += 1
        with self._named():
            if self._sender is None:
                self._sender = obstore.open_writer(
                    self._place._store,
                    self._content,
                    attributes=self._attributes,
                    buffer_size=self._part_bytes,
                    max_concurrency=2,
                )
            self._sender.write(self._part.take())

    def _complete(self) -> None:
        try:
            self._sender.close()
        except Exception:
            # Neither store completes an upload twice, as it is asked to if its first answer was lost.
            if not self._is_complete():
                raise

    def _is_complete(self) -> bool:
        with contextlib.suppress(Exception):
            return bool(self._place._store.head(self._content)["size"] == self._size)
        return False

    def _named(self) -> contextlib.AbstractContextManager[None]:
        return self._place._named("write", self._staged.name)


def _placed(name: str, found: Mapping[str, Any]) -> PlacedFile:
    # Listed and looked at, an object has the same version: ETags come with quotes or without, times in ms or seconds.
    changed_ms = int(found["last_modified"].timestamp()) * 1000
    return PlacedFile(name, found["size"], changed_ms, f"{(found['e_tag'] or '').strip(chr(34))}@{changed_ms}")
