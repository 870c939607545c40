"""Stores that speak S3's protocol, but not as Amazon's does."""

from __future__ import annotations

import pickle
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any, Self

import pytest

from airflow_kconnect.connect.errors import ConfigError, FencedError, RetriableError
from airflow_kconnect.places import base
from airflow_kconnect.places.address import address
from airflow_kconnect.places.registry import open_place
from airflow_kconnect.places.s3 import client, objects
from airflow_kconnect.places.s3 import place as s3
from airflow_kconnect.places.s3.client import S3Settings
from airflow_kconnect.places.s3.place import S3Place

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

    def head_object(self, Key: str, **_: str) -> dict[str, Any]:
        if Key not in self.keys:
            raise _refused(404, "NotFound")
        return {"ContentLength": 1, "ETag": '"e"', "LastModified": _CHANGED.replace(microsecond=0)}

    def delete_object(self, Key: str, **_: str) -> None:
        self.keys.remove(Key)


class Refusing(MillisecondStore):
    """Refuses a condition, always or once. It is asked again without it, or later."""

    def __init__(self, status: int, code: str, *, once: bool) -> None:
        super().__init__()
        self._refusals = 1 if once else sys.maxsize
        self._refusal = _refused(status, code)

    def delete_object(self, Key: str, IfMatch: str = "", **_: str) -> None:
        if IfMatch and self._refusals:
            self._refusals -= 1
            raise self._refusal
        super().delete_object(Key)


class Finding:
    """Finds uploads: as Amazon does, by their whole names only, as MinIO does, or not at all."""

    def __init__(self, by: str = "beginnings", *, answer: Exception | None = None) -> None:
        self.uploads: dict[str, str] = {}
        self._by, self._answer = by, answer

    def list_objects_v2(self, **_: Any) -> dict[str, Any]:
        return {}

    def create_multipart_upload(self, Key: str, **_: Any) -> dict[str, Any]:
        self.uploads["u"] = Key
        return {"UploadId": "u", "ResponseMetadata": {"RetryAttempts": 0}}

    def get_paginator(self, _operation: str) -> Self:
        return self

    def paginate(self, Prefix: str, **_: Any) -> Iterator[dict[str, Any]]:
        found = {
            id: key
            for id, key in self.uploads.items()
            if (key == Prefix and self._by != "nothing") or (key.startswith(Prefix) and self._by == "beginnings")
        }
        yield {"Uploads": [{"Key": key, "UploadId": id, "Initiated": _CHANGED} for id, key in found.items()]}

    def abort_multipart_upload(self, UploadId: str, **_: str) -> None:
        del self.uploads[UploadId]

    def head_object(self, **_: str) -> None:
        raise _refused(404, "NotFound")

    def delete_object(self, IfMatch: str = "", **_: str) -> None:
        if IfMatch and self._answer:
            raise self._answer

    def close(self) -> None: ...


class Checking:
    """Refuses, as Amazon does, parts with checksums that were not announced, and an end that does not repeat them."""

    def __init__(self) -> None:
        self.announced, self.published = "", False

    def create_multipart_upload(self, ChecksumAlgorithm: str = "", **_: Any) -> dict[str, str]:
        self.announced = ChecksumAlgorithm
        return {"UploadId": "u"}

    def upload_part(self, PartNumber: int, ChecksumAlgorithm: str = "", **_: Any) -> dict[str, str]:
        if ChecksumAlgorithm != self.announced:
            raise _refused(400, "InvalidRequest")
        return {"ETag": f"e{PartNumber}"} | ({"ChecksumCRC32": f"c{PartNumber}"} if ChecksumAlgorithm else {})

    def complete_multipart_upload(self, MultipartUpload: dict[str, Any], **_: Any) -> None:
        sums = {"ChecksumCRC32": "c1"} if self.announced else {}
        if MultipartUpload["Parts"] != [{"PartNumber": 1, "ETag": "e1"} | sums]:
            raise _refused(400, "InvalidRequest")
        self.published = True


class Slow(Finding):
    """Begins an upload when it is allowed to."""

    def __init__(self) -> None:
        super().__init__()
        self.answers = threading.Event()

    def create_multipart_upload(self, Key: str, **about: Any) -> dict[str, Any]:
        assert self.answers.wait(30)
        return super().create_multipart_upload(Key, **about)

    def upload_part(self, UploadId: str, **_: Any) -> dict[str, str]:
        return {"ETag": f"e-{self.uploads[UploadId]}"}


class Overtaken(Finding):
    """A newer run removes the marker after it was written, and finds no upload: there is none yet."""

    def put_object(self, **_: Any) -> None: ...


def _refused(status: int, code: str) -> Exception:
    from botocore.exceptions import ClientError

    answer = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    error: Exception = ClientError(answer, "DeleteObject")
    return error


def place_in(store: object, endpoint: str | None = None) -> S3Place:
    place = S3Place(address("s3://lake/raw"), S3Settings(endpoint=endpoint))
    vars(place).update(_s3=store, _s3_once=store)
    return place


def test_a_file_is_removed_as_it_was_listed_though_its_time_is_told_in_seconds() -> None:
    place = place_in(MillisecondStore())
    (file,) = place.files()
    assert place.find("t/a") == file
    assert place.remove(file)
    assert list(place.files()) == []


def test_a_store_that_does_not_know_the_condition_removes_a_file_without_it() -> None:
    place = place_in(Refusing(501, "NotImplemented", once=False))
    (file,) = place.files()
    assert place.remove(file)
    assert list(place.files()) == []


def test_a_removal_at_the_moment_of_another_change_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "_PAUSES_S", (0,))
    place = place_in(Refusing(409, "ConditionalRequestConflict", once=True))
    (file,) = place.files()
    assert place.remove(file)
    assert list(place.files()) == []


def test_a_file_that_has_changed_when_the_store_is_asked_stays() -> None:
    place = place_in(Refusing(412, "PreconditionFailed", once=False))
    (file,) = place.files()
    assert not place.remove(file)
    assert list(place.files()) == [file]


def checked(store: object, monkeypatch: pytest.MonkeyPatch) -> S3Place:
    monkeypatch.setattr(s3, "s3_client", lambda _settings, _patience: store)
    place = place_in(store)
    place.check()
    return place


def test_a_store_that_does_not_find_what_older_runs_have_begun_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Finding("nothing")
    with pytest.raises(ConfigError, match="the store does not list uploads"):
        checked(store, monkeypatch)
    assert store.uploads == {}


@pytest.mark.parametrize(("by", "marks"), [("beginnings", False), ("whole names", True)])
def test_uploads_have_markers_where_they_are_found_by_their_whole_names_only(
    by: str, marks: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Finding(by)
    assert checked(store, monkeypatch).marks is marks
    assert store.uploads == {}


def test_tasks_know_what_the_check_has_found(monkeypatch: pytest.MonkeyPatch) -> None:
    place = checked(Finding("whole names"), monkeypatch)
    assert pickle.loads(pickle.dumps(place)).marks is True  # noqa: S301


@pytest.mark.parametrize(("status", "code"), [(404, "NoSuchKey"), (412, "PreconditionFailed"), (501, "NotImplemented")])
def test_whatever_it_answers_to_a_condition_on_what_is_not_there(
    monkeypatch: pytest.MonkeyPatch, status: int, code: str
) -> None:
    checked(Finding(answer=_refused(status, code)), monkeypatch)


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("store.region", "eu central 1", "doesn't match a supported format; expected one such as eu-central-1"),
        ("store.endpoint", "h:9000", "Invalid endpoint: h:9000; expected a URL like https://host:9000"),
    ],
)
def test_what_cannot_be_an_address_is_named_with_its_key(key: str, value: str, text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        open_place("s3://lake/raw", {key: value}).check()
    assert text in " ".join(caught.value.errors[key])


def test_a_token_that_cannot_be_sent_does_not_show() -> None:
    login = {"store.access.key.id": "k", "store.secret.access.key": "s", "store.session.token": "s3cret\ntoken"}
    with pytest.raises(RetriableError, match="check that endpoint, proxy and credentials are right") as caught:
        open_place("s3://lake/raw", {**login, "store.endpoint": "http://127.0.0.1:1"}).check()
    assert "s3cret" not in f"{caught.value} {caught.value.__cause__!r}"


@pytest.mark.parametrize(("endpoint", "announced"), [(None, "CRC32"), ("http://minio:9000", "")])
def test_checksums_of_parts_are_announced_and_repeated_where_the_store_is_amazons(
    endpoint: str | None, announced: str
) -> None:
    store = Checking()
    place = place_in(store, endpoint)
    place.marks = False
    staging = place.stage("t/a")
    staging.write(b"text")
    place.publish(staging.finish())
    assert store.published
    assert store.announced == announced


def test_an_upload_that_was_begun_after_a_newer_run_had_looked_for_it_is_ended_at_once() -> None:
    """A store that finds uploads by whole names would not find it without its marker."""
    store = Overtaken("whole names")
    place = place_in(store)
    place.marks = True
    with pytest.raises(FencedError, match="another run of this connector has ended it"):
        place.stage("t/a").finish()
    assert store.uploads == {}


def test_a_file_is_written_while_its_upload_is_being_begun() -> None:
    place = place_in(store := Slow())
    place.marks = False
    staging = place.stage("t/a")
    staging.write(b"text")
    store.answers.set()
    assert staging.finish().facts["parts"] == [{"ETag": "e-raw/t/a"}]


def test_an_upload_that_was_being_begun_is_ended_when_its_file_is_aborted() -> None:
    place = place_in(store := Slow())
    place.marks = False
    staging = place.stage("t/a")
    threading.Timer(0.05, store.answers.set).start()
    staging.abort()
    assert store.uploads == {}


def test_the_splits_of_a_process_share_a_client(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("airflow_kconnect.places.s3.client.time.monotonic", lambda: now)

    def client(key: str) -> Any:
        place = S3Place(address("s3://lake/raw"), S3Settings(endpoint="http://127.0.0.1:1", access_key_id=key))
        copy: S3Place = pickle.loads(pickle.dumps(place))  # noqa: S301
        return copy._s3

    first = client("k")
    assert client("k") is first
    assert client("other") is not first
    now += 60  # what is found in the environment may have been renewed
    assert client("k") is not first


@pytest.mark.parametrize("in_task", [False, True])
def test_threads_that_ask_for_a_client_at_once_get_the_same(in_task: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[object] = []

    def make(*_: object) -> object:
        time.sleep(0.05)
        made.append(object())
        return made[-1]

    monkeypatch.setattr(objects, "s3_client", make)
    monkeypatch.setattr(client, "s3_client", make)
    place = S3Place(address("s3://bucket/raw"), S3Settings(region="of this test"))
    if in_task:
        place = pickle.loads(pickle.dumps(place))  # noqa: S301
    with ThreadPoolExecutor(8) as pool:
        # From Python 3.12 on `cached_property` lets several threads do this.
        found = set(pool.map(vars(objects.S3Objects)["_s3"].func, [place] * 8))
    assert found == set(made) and len(made) == 1
