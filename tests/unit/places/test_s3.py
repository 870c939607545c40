"""Stores that speak S3's protocol, but not as Amazon's does."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Self

from airflow_kconnect.places.address import address
from airflow_kconnect.places.s3 import S3Place
from airflow_kconnect.places.s3_client import S3Settings

_CHANGED = datetime(2026, 11, 26, 12, 0, 0, 123_000, UTC)


class MillisecondStore:
    """Lists milliseconds, as MinIO does; the header of an answer about one object has seconds."""

    def __init__(self) -> None:
        self.keys = ["raw/t/a"]

    def get_paginator(self, _operation: str) -> Self:
        return self

    def paginate(self, **_: Any) -> Iterator[dict[str, Any]]:
        listed = {"Size": 1, "ETag": '"e"', "LastModified": _CHANGED}
        yield {"Contents": [{"Key": key, **listed} for key in self.keys]}

    def head_object(self, **_: str) -> dict[str, Any]:
        return {"ContentLength": 1, "ETag": '"e"', "LastModified": _CHANGED.replace(microsecond=0)}

    def delete_object(self, Key: str, **_: str) -> None:
        self.keys.remove(Key)


def place_in(store: object) -> S3Place:
    place = S3Place(address("s3://lake/raw"), S3Settings())
    vars(place)["_s3"] = store
    return place


def test_a_file_is_removed_as_it_was_listed_though_its_time_is_told_in_seconds() -> None:
    place = place_in(MillisecondStore())
    (file,) = place.files()
    assert place.find("t/a") == file
    assert place.remove(file)
    assert list(place.files()) == []
