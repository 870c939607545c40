"""S3 and stores that speak its protocol: multipart uploads, which are completed when a file becomes visible."""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from datetime import timedelta
from functools import cache, cached_property
from typing import Any, BinaryIO, cast

from airflow_kconnect.connect.errors import ConfigError, ConnectError, FencedError
from airflow_kconnect.places.address import Address
from airflow_kconnect.places.base import Place, PlacedFile, StagedFile, Staging, is_hidden
from airflow_kconnect.places.s3_client import Patience, S3Settings, s3_client
from airflow_kconnect.places.s3_errors import GONE, code_of, errors_named
from airflow_kconnect.places.spill import Part
from airflow_kconnect.places.streams import RangeReader

PART_BYTES_MIN = 5 * 1024 * 1024
"""S3 refuses smaller parts, but for the last one."""
_PARTS_MAX = 10_000
_PAGE = 1000
_WRITER = "kconnect-file"
"""In the metadata of an object: which staged file it was. An answer that was lost can be asked for so."""

_CHECK = Patience(connect_s=5, read_s=5, attempts=2)
_PROBE = ".kconnect-check"
"""Of this name an upload is begun and aborted, to see what may be done; there is never a file of it."""
_PROBE_AGE = timedelta(hours=1)
"""By the store's clock: a check takes seconds."""
_READS = 4
"""Attempts to read a range, if the connection is lost in the middle of it."""
_ABORT_S = 10


class S3Place(Place):
    """Objects below a prefix of a bucket."""

    def __init__(self, at: Address, settings: S3Settings) -> None:
        super().__init__(at)
        self._settings = settings
        self._base = f"{at.path}/" if at.path else ""

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_s3"}

    def check(self) -> None:
        """Tries each right that a run needs: an upload is begun and aborted, which no reader sees, and what is looked
        at and removed does not exist. Waits for seconds, not for minutes.
        """
        doing, probe = f"cannot use {self.at}", self._key(_PROBE)
        with errors_named(doing, key="directory"):
            s3 = s3_client(self._settings, _CHECK)
        try:
            with errors_named(doing, key="directory"):
                s3.list_objects_v2(**self._bucket, Prefix=self._base, MaxKeys=1)
                self._try_upload(s3, probe)
                _head(s3, probe)
                _try_delete(s3, probe)
        finally:
            s3.close()

    def _try_upload(self, s3: Any, probe: Mapping[str, str]) -> None:
        """An upload is begun, found by the beginning of its name, and aborted; so are those of checks that were killed.

        :raises ConfigError: the store does not find it, as MinIO does not: nothing would end what older runs write.
        """
        upload, begun = s3.create_multipart_upload(**probe, **self._settings.upload)["UploadId"], {}
        try:
            for each in _uploads(s3, self._bucket, probe["Key"][:-1]):
                if each["Key"] == probe["Key"]:
                    begun[each["UploadId"]] = each.get("Initiated")
        finally:
            _abort(s3, probe, upload)
        if upload not in begun:
            text = "the store lists uploads only by their whole names, so a run could not end what older ones write"
            raise ConfigError({"directory": [f"cannot use {self.at}: {text}: use another store"]})
        for other, at in begun.items():
            if other != upload and at and begun[upload] - at >= _PROBE_AGE:  # younger ones: of checks at the same time
                _abort(s3, probe, other)

    def files(
        self, prefix: str = "", *, hidden: bool = False, wanted: Callable[[str], bool] | None = None
    ) -> Iterator[PlacedFile]:
        with self._named("list", prefix):
            pages = self._s3.get_paginator("list_objects_v2").paginate(
                **self._bucket, Prefix=self._base + prefix, PaginationConfig={"PageSize": _PAGE}
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
        etag, _, _ = file.version.rpartition("@")

        def fetch(start: int, end: int) -> bytes:
            with self._named("read", file.name):
                return self._fetch(**self._key(file.name), Range=f"bytes={start}-{end - 1}", IfMatch=etag)

        return cast("BinaryIO", RangeReader(fetch, file.size))

    def stage(self, name: str, part_bytes: int = 8 * 1024 * 1024) -> Staging:
        return _S3Staging(self, name, max(part_bytes, PART_BYTES_MIN))

    def publish(self, staged: StagedFile) -> None:
        parts = [{"PartNumber": number, "ETag": etag} for number, etag in enumerate(staged.facts["parts"], 1)]
        whole = {"UploadId": staged.facts["upload"], "MultipartUpload": {"Parts": parts}}
        with self._named("write", staged.name):
            done = _unless_gone(lambda: self._s3.complete_multipart_upload(**self._key(staged.name), **whole))
        if not done and not self._is_published(staged):
            raise FencedError(
                f"the upload of {self.uri(staged.name)} is gone: another run of this connector has ended it"
            )

    def discard(self, staged: StagedFile) -> None:
        with self._named("remove", staged.name):
            _abort(self._s3, self._key(staged.name), staged.facts["upload"])

    def staged(self, prefix: str = "") -> Iterator[StagedFile]:
        with self._named("list", prefix):
            for each in _uploads(self._s3, self._bucket, self._base + prefix):
                if (name := each["Key"].removeprefix(self._base)) != _PROBE:
                    yield StagedFile(name, 0, {"upload": each["UploadId"], "parts": []})

    def _remove(self, name: str) -> None:
        with self._named("remove", name):
            self._s3.delete_object(**self._key(name))

    def close(self) -> None:
        if (client := vars(self).pop("_s3", None)) is not None:
            client.close()

    @cached_property
    def _s3(self) -> Any:
        return s3_client(self._settings, Patience())

    @property
    def _bucket(self) -> dict[str, str]:
        return {"Bucket": self.at.root}

    def _key(self, name: str) -> dict[str, str]:
        return {"Bucket": self.at.root, "Key": self._base + name}

    def _head(self, name: str) -> Mapping[str, Any] | None:
        with self._named("look at", name):
            return _head(self._s3, self._key(name))

    def _is_published(self, staged: StagedFile) -> bool:
        found = self._head(staged.name)
        return found is not None and found["Metadata"].get(_WRITER) == staged.facts.get("id")

    def _fetch(self, **wanted: str) -> bytes:
        """boto3 repeats requests, but not once their answers have begun."""
        from botocore.exceptions import IncompleteReadError, ReadTimeoutError, ResponseStreamingError

        for attempt in range(1, _READS):
            try:
                return bytes(self._s3.get_object(**wanted)["Body"].read())
            except (IncompleteReadError, ReadTimeoutError, ResponseStreamingError):
                time.sleep(0.1 * 2**attempt)
        return bytes(self._s3.get_object(**wanted)["Body"].read())

    def _named(self, verb: str, name: str) -> AbstractContextManager[None]:
        return errors_named(f"cannot {verb} {self.uri(name)}")


class _S3Staging:
    """Parts are sent by a thread while the next one is being filled; what is small stays in memory until then."""

    def __init__(self, place: S3Place, name: str, part_bytes: int) -> None:
        self._place, self._name, self._part_bytes = place, name, part_bytes
        self._id = uuid.uuid4().hex
        self._size = 0
        self._part = Part()
        self._parts: list[Future[str]] = []
        with place._named("write", name):
            begun = place._s3.create_multipart_upload(
                **place._key(name), **place._settings.upload, Metadata={_WRITER: self._id}
            )
        self._upload: str = begun["UploadId"]

    def write(self, data: Any, /) -> int:
        written = int(self._part.write(data))
        self._size += written
        if self._part.size >= self._part_bytes:
            self._send()
            # So that the number of parts has no end that a file could reach.
            if len(self._parts) % (_PARTS_MAX // 10) == 0:
                self._part_bytes *= 2
        return written

    def finish(self) -> StagedFile:
        if self._part.size or not self._parts:
            self._send()
        etags = [part.result() for part in self._parts]
        self._part.close()
        return StagedFile(self._name, self._size, {"upload": self._upload, "parts": etags, "id": self._id})

    def abort(self) -> None:
        # A part that arrives after the end of its upload could stay in the store.
        wait([part for part in self._parts if not part.cancel()], timeout=_ABORT_S)
        with contextlib.suppress(ConnectError):
            self._place.discard(StagedFile(self._name, 0, {"upload": self._upload}))
        self._part.close()

    def _send(self) -> None:
        part, self._part = self._part, Part()
        if len(self._parts) >= 2:
            self._parts[-2].result()  # at most two are on their way: a slow store slows the writer down
        self._parts.append(_senders(os.getpid()).submit(self._put, part, len(self._parts) + 1))

    def _put(self, part: Part, number: int) -> str:
        place = self._place
        with part, place._named("write", self._name):
            part.seek(0)
            sent = place._s3.upload_part(**place._key(self._name), UploadId=self._upload, PartNumber=number, Body=part)
        return str(sent["ETag"])


@cache
def _senders(process: int) -> ThreadPoolExecutor:
    """Of a process, for all its files: threads do not survive a fork."""
    return ThreadPoolExecutor(4, thread_name_prefix="kconnect-parts")


def _uploads(s3: Any, bucket: Mapping[str, str], prefix: str) -> Iterator[Mapping[str, Any]]:
    for page in s3.get_paginator("list_multipart_uploads").paginate(**bucket, Prefix=prefix):
        yield from page.get("Uploads", ())


def _abort(s3: Any, key: Mapping[str, str], upload: str) -> None:
    _unless_gone(lambda: s3.abort_multipart_upload(**key, UploadId=upload))


def _try_delete(s3: Any, key: Mapping[str, str]) -> None:
    """Remove what is not there. Where versions are kept, that leaves a mark; a condition prevents it."""
    from botocore.exceptions import ClientError

    try:
        _unless_gone(lambda: s3.delete_object(**key, IfMatch='"none"'))
    except ClientError as error:
        if code_of(error) == "NotImplemented":  # not every store knows the condition
            s3.delete_object(**key)
        elif code_of(error) not in ("PreconditionFailed", "412"):  # what some answer for what is not there
            raise


def _head(s3: Any, key: Mapping[str, str]) -> Mapping[str, Any] | None:
    found: list[Mapping[str, Any]] = []
    return found[0] if _unless_gone(lambda: found.append(s3.head_object(**key))) else None


def _unless_gone(request: Callable[[], Any]) -> bool:
    """Whether what the request is about was there."""
    from botocore.exceptions import ClientError

    try:
        request()
    except ClientError as error:
        if code_of(error) not in GONE:
            raise
        return False
    return True


def _placed(name: str, size: int, found: Mapping[str, Any]) -> PlacedFile:
    # MinIO and Ceph list milliseconds, and say seconds where one object is asked for: it would not be as it was seen.
    changed_ms = int(found["LastModified"].timestamp()) * 1000
    return PlacedFile(name, size, changed_ms, f"{found['ETag']}@{changed_ms}")
