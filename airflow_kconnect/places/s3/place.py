"""S3 and stores that speak its protocol: multipart uploads, which are completed when a file becomes visible.

A store like MinIO finds uploads by whole names only. There each has a marker, an empty object that is found by the
beginning of its name (see `hidden`): it is written before the upload is begun, and looked at when that was begun and
before it is completed. Who discards the upload removes the marker first. So an upload that a newer run did not find
has no marker any more, and who has begun it ends it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO, cast

from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.places import hidden as names
from airflow_kconnect.places.base import Place, PlacedFile, StagedFile, Staging, is_hidden
from airflow_kconnect.places.s3.client import Patience, s3_client
from airflow_kconnect.places.s3.errors import errors_named
from airflow_kconnect.places.s3.objects import S3Objects
from airflow_kconnect.places.s3.staging import S3Staging
from airflow_kconnect.places.s3.uploads import CHANGED, WRITER, delete, head, unless_gone, uploads
from airflow_kconnect.places.streams import RangeReader

PART_BYTES_MIN = 5 * 1024 * 1024
"""S3 refuses smaller parts, but for the last one."""
_PAGE = 1000

_CHECK = Patience(connect_s=5, read_s=5, attempts=2)
_COPY_MAX = 5 * 1024**3
"""Bytes of the largest object that S3 copies in one request."""
_READS = 4
"""Attempts to read a range, if the connection is lost in the middle of it."""


class S3Place(S3Objects):
    """Objects below a prefix of a bucket."""

    def check(self) -> None:
        """Tries each right that a run needs: an upload is begun and aborted, which no reader sees, and what is looked
        at and removed does not exist. Waits for seconds, not for minutes.
        """
        doing, probe = f"cannot use {self.at}", self._key(names.PROBE)
        with errors_named(doing, key="directory"):
            s3 = s3_client(self._settings, _CHECK)
        try:
            with errors_named(doing, key="directory"):
                s3.list_objects_v2(**self._bucket, Prefix=self._base, MaxKeys=1)
                self.marks = self._try_upload(s3, probe)
                head(s3, probe)
                delete(s3, probe, '"none"')  # without the condition, a bucket with versions would get a delete marker
        finally:
            s3.close()

    def files(
        self, prefix: str = "", *, after: str = "", hidden: bool = False, wanted: Callable[[str], bool] | None = None
    ) -> Iterator[PlacedFile]:
        begin = {"StartAfter": self._base + after} if after else {}
        with self._named("list", prefix):
            pages = self._s3.get_paginator("list_objects_v2").paginate(
                **self._bucket, **begin, Prefix=self._base + prefix, PaginationConfig={"PageSize": _PAGE}
            )
            for page in pages:
                for each in page.get("Contents", ()):
                    name = each["Key"].removeprefix(self._base)
                    shown = not name.endswith("/") and (hidden or not is_hidden(name))
                    if shown and (wanted is None or wanted(name)):
                        yield _placed(name, each["Size"], each)

    def find(self, name: str) -> PlacedFile | None:
        found = self._head(name)
        return None if found is None else _placed(name, found["ContentLength"], found)

    def read(self, file: PlacedFile) -> BinaryIO:
        etag = _etag(file)

        def fetch(start: int, end: int) -> bytes:
            with self._named("read", file.name):
                return self._fetch(**self._key(file.name), Range=f"bytes={start}-{end - 1}", IfMatch=etag)

        return cast("BinaryIO", RangeReader(fetch, file.size))

    def stage(self, name: str, part_bytes: int = 8 * 1024 * 1024) -> Staging:
        return S3Staging(self, name, max(part_bytes, PART_BYTES_MIN))

    def publish(self, staged: StagedFile) -> None:
        parts = [{"PartNumber": number, **part} for number, part in enumerate(staged.facts["parts"], 1)]
        whole = {"UploadId": staged.facts["upload"], "MultipartUpload": {"Parts": parts}}
        with self._named("write", staged.name):
            done = self._is_open(staged) and unless_gone(
                lambda: self._s3.complete_multipart_upload(**self._key(staged.name), **whole)
            )
        if not done and not self._is_published(staged):
            with contextlib.suppress(ConnectError):
                self.discard(staged)  # an upload that was begun after its marker was removed
            raise self._fenced(staged.name)
        self._unmark(staged)

    def staged(self, prefix: str = "") -> Iterator[StagedFile]:
        """Those with markers, too, whether there are new ones or not: the store may have changed."""
        with self._named("list", prefix):
            for each in uploads(self._s3, self._bucket, self._base + prefix):
                if (name := each["Key"].removeprefix(self._base)) != names.PROBE:
                    yield StagedFile(name, 0, {"upload": each["UploadId"], "parts": []})
        for marker in self.files(names.FOLDER + prefix, hidden=True):
            if found := names.parsed(marker.name):
                yield StagedFile(found[0], 0, {"id": found[1], "marked": True})

    def copy(self, source: Place, file: PlacedFile, name: str) -> bool:
        """The store copies it by itself, if it is not too large for that."""
        if not isinstance(source, S3Place) or file.size > _COPY_MAX:
            return super().copy(source, file, name)
        wanted = {"CopySource": source._key(file.name), "CopySourceIfMatch": _etag(file)}
        with self._named("write", name):
            return unless_gone(
                lambda: self._s3.copy_object(**self._key(name), **wanted, **self._settings.upload), CHANGED
            )

    def remove(self, file: PlacedFile) -> bool:
        """An object with the same bytes has the same ETag: it is not told from the one that it replaces."""

        def ask() -> bool:
            with self._named("remove", file.name):
                return delete(self._s3_once, self._key(file.name), _etag(file))

        return self._ask_to_remove(file, ask)

    def _head(self, name: str) -> Mapping[str, Any] | None:
        with self._named("look at", name):
            return head(self._s3, self._key(name))

    def _is_published(self, staged: StagedFile) -> bool:
        found = self._head(staged.name)
        return found is not None and found["Metadata"].get(WRITER) == staged.facts.get("id")

    def _fetch(self, **wanted: str) -> bytes:
        """boto3 repeats requests, but not once their answers have begun."""
        from botocore.exceptions import IncompleteReadError, ReadTimeoutError, ResponseStreamingError

        for attempt in range(1, _READS):
            try:
                return bytes(self._s3.get_object(**wanted)["Body"].read())
            except (IncompleteReadError, ReadTimeoutError, ResponseStreamingError):
                time.sleep(0.1 * 2**attempt)
        return bytes(self._s3.get_object(**wanted)["Body"].read())


def _placed(name: str, size: int, found: Mapping[str, Any]) -> PlacedFile:
    # MinIO and Ceph list milliseconds, and say seconds where one object is asked for: it would not be as it was seen.
    changed_ms = int(found["LastModified"].timestamp()) * 1000
    return PlacedFile(name, size, changed_ms, f"{found['ETag']}@{changed_ms}")


def _etag(file: PlacedFile) -> str:
    return file.version.rpartition("@")[0]
