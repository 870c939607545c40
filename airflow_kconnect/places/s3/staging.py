"""Uploads of S3 in parts: how they are filled."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from typing import Any

from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.places.base import StagedFile
from airflow_kconnect.places.s3.objects import S3Objects
from airflow_kconnect.places.s3.uploads import WRITER, abort, uploads
from airflow_kconnect.places.spill import Part, PartStaging

_PARTS_MAX = 10_000
_ABORT_S = 10


class S3Staging(PartStaging):
    """Threads begin the upload and send the parts: who writes waits for them only where they are two parts late."""

    def __init__(self, place: S3Objects, name: str, part_bytes: int) -> None:
        super().__init__(part_bytes)
        self._place, self._name = place, name
        self._facts: dict[str, Any] = {"id": uuid.uuid4().hex, "marked": place.marks}
        self._parts: list[Future[dict[str, str]]] = []
        self._begun = _senders(os.getpid()).submit(self._begin)

    def _begin(self) -> str:
        """Begin the upload; returns its id.

        :raises FencedError: its marker was removed before it was begun. Who did that has not found it, and without its
            marker no one else would.
        """
        place, own = self._place, StagedFile(self._name, 0, self._facts)
        with place._named("write", self._name):
            if place.marks:
                place._s3.put_object(**place._marker(own), **place._settings.upload, Body=b"")
            about = {**place._settings.upload, **place._settings.checksums, "Metadata": {WRITER: self._facts["id"]}}
            begun = place._s3.create_multipart_upload(**place._key(self._name), **about)
            self._facts["upload"] = upload = str(begun["UploadId"])
            twins = self._twins(begun) if place.marks else []
            is_open = place._is_open(own)
            for twin in twins if is_open else ():
                abort(place._s3, place._key(self._name), twin)
        if not is_open:
            place.discard(own)
            raise place._fenced(self._name)
        return upload

    def _twins(self, begun: Mapping[str, Any]) -> list[str]:
        """Uploads of this name that a request has begun whose answer was lost, so that it was repeated.

        Without a marker no run would find them once the file is visible. As long as this one has its marker, no newer
        run has begun, whose upload it could be. Stores without markers list them to the next run.
        """
        if not begun["ResponseMetadata"]["RetryAttempts"]:
            return []
        place, key = self._place, self._place._key(self._name)["Key"]
        found = [str(each["UploadId"]) for each in uploads(place._s3, place._bucket, key) if each["Key"] == key]
        return [upload for upload in found if upload != begun["UploadId"]]

    def finish(self) -> StagedFile:
        if self._part.size or not self._parts:
            self._send()
        parts = [part.result() for part in self._parts]
        self._part.close()
        return StagedFile(self._name, self._size, {**self._facts, "parts": parts})

    def abort(self) -> None:
        # A part that arrives after the end of its upload could stay in the store.
        requests: list[Future[Any]] = [*self._parts, self._begun]
        wait([each for each in requests if not each.cancel()], timeout=_ABORT_S)
        own = StagedFile(self._name, 0, self._facts)
        with contextlib.suppress(ConnectError):
            if "upload" in self._facts:
                self._place.discard(own)
            else:
                self._place._unmark(own)
        self._part.close()

    def _send(self) -> None:
        part, self._part = self._part, Part()
        if len(self._parts) >= 2:
            self._parts[-2].result()  # at most two are on their way: a slow store slows the writer down
        self._parts.append(_senders(os.getpid()).submit(self._put, part, len(self._parts) + 1))
        # So that the number of parts has no end that a file could reach.
        if len(self._parts) % (_PARTS_MAX // 10) == 0:
            self._part_bytes *= 2

    def _put(self, part: Part, number: int) -> dict[str, str]:
        """What the end of the upload says of it."""
        place = self._place
        with part, place._named("write", self._name):
            about = {"UploadId": self._begun.result(), "PartNumber": number, **place._settings.checksums}
            part.seek(0)
            sent = place._s3.upload_part(**place._key(self._name), **about, Body=part)
        return {name: str(sent[name]) for name in ("ETag", "ChecksumCRC32") if sent.get(name)}


@cache
def _senders(process: int) -> ThreadPoolExecutor:
    """Of a process, for all its files: threads do not survive a fork.

    They take what is asked for in this order. So an upload has begun, or is being begun, when a thread takes a part.
    """
    return ThreadPoolExecutor(8, thread_name_prefix="kconnect-parts")
