"""Uploads of S3 in parts: how they are found and ended."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from airflow_kconnect.places.s3.errors import GONE, code_of

CHANGED = {"PreconditionFailed", "412"}
"""What stores answer where an object is not the one that a condition names."""
WRITER = "kconnect-file"
"""In the metadata of an object: which staged file it was. An answer that was lost can be asked for so."""


def uploads(s3: Any, bucket: Mapping[str, str], prefix: str) -> Iterator[Mapping[str, Any]]:
    """Those whose names begin with a prefix; in some stores, those of which it is the whole name."""
    for page in s3.get_paginator("list_multipart_uploads").paginate(**bucket, Prefix=prefix):
        yield from page.get("Uploads", ())


def abort(s3: Any, key: Mapping[str, str], upload: str) -> None:
    """End an upload; if it is gone: nothing happens."""
    unless_gone(lambda: s3.abort_multipart_upload(**key, UploadId=upload))


def delete(s3: Any, key: Mapping[str, str], etag: str) -> bool:
    """Remove an object with an ETag; False: it is gone, or has another one.

    A store that does not know the condition removes whatever has the name.
    """
    from botocore.exceptions import ClientError

    try:
        return unless_gone(lambda: s3.delete_object(**key, IfMatch=etag), CHANGED)
    except ClientError as error:
        if code_of(error) != "NotImplemented":
            raise
    s3.delete_object(**key)
    return True


def head(s3: Any, key: Mapping[str, str]) -> Mapping[str, Any] | None:
    """What is known of an object."""
    found: list[Mapping[str, Any]] = []
    return found[0] if unless_gone(lambda: found.append(s3.head_object(**key))) else None


def unless_gone(request: Callable[[], Any], others: Collection[str] = ()) -> bool:
    """Whether what the request is about was there. :param others: further codes that say that it was not."""
    from botocore.exceptions import ClientError

    try:
        request()
    except ClientError as error:
        if code_of(error) not in GONE | set(others):
            raise
        return False
    return True
