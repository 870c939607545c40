"""A store of S3 that fails: what is tried again, what ends a run and with which words; nothing half is ever visible."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError, FencedError, RetriableError
from airflow_kconnect.places.base import Place
from airflow_kconnect.places.registry import open_place
from airflow_kconnect.places.s3 import objects
from airflow_kconnect.places.s3.client import Patience
from tests.support.certificates import self_signed
from tests.support.faults import (
    Exchange,
    Fault,
    FaultProxy,
    ca_file,
    cut_answer,
    cut_request,
    lose_answer,
    refuse,
    slow,
    truncate,
)
from tests.support.places import TEXT, read, stage, write
from tests.support.stores import Store


@pytest.fixture(scope="module")
def store(store_of: Callable[[str], Store]) -> Store:
    return store_of("s3")


SLOW_DOWN = refuse(503, "SlowDown")
OPERATIONS = ("CreateMultipartUpload", "UploadPart", "CompleteMultipartUpload")


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("fault", [SLOW_DOWN, slow(0.2), cut_request, cut_answer, lose_answer])
def test_what_passes_is_not_seen(place: Place, healthy: Place, proxy: FaultProxy, operation: str, fault: Fault) -> None:
    with proxy.fault(operation, fault):
        write(place)
    assert read(healthy) == TEXT
    assert [file.name for file in healthy.files()] == ["t/a"]


def test_a_second_upload_that_a_lost_answer_has_begun_is_found_and_ended_by_the_next_run(
    place: Place, healthy: Place, proxy: FaultProxy
) -> None:
    with proxy.fault("CreateMultipartUpload", lose_answer):
        write(place)
    (second,) = healthy.staged("t/")
    healthy.discard(second)
    assert list(healthy.staged("t/")) == []
    assert read(healthy) == TEXT


def test_a_part_in_the_middle_of_a_file_is_sent_again(place: Place, healthy: Place, proxy: FaultProxy) -> None:
    text = bytes(range(256)) * 4 * 1024 * 6
    with proxy.fault("UploadPart", cut_request, after=1):
        write(place, text=text)
    assert read(healthy) == text


@pytest.mark.parametrize("fault", [SLOW_DOWN, slow(0.2), cut_answer, lose_answer])
def test_a_range_is_read_again(place: Place, proxy: FaultProxy, fault: Fault) -> None:
    write(place)
    with proxy.fault("GetObject", fault):
        assert read(place) == TEXT


def test_a_body_that_is_too_short_is_not_taken_for_the_whole(place: Place, proxy: FaultProxy) -> None:
    write(place)
    with proxy.fault("GetObject", truncate), pytest.raises(RetriableError, match="sent 9 bytes of 10: run again"):
        read(place)


def test_an_error_within_a_success_is_tried_again(place: Place, healthy: Place, proxy: FaultProxy) -> None:
    with proxy.fault("CompleteMultipartUpload", refuse(200, "InternalError")):
        write(place)
    assert read(healthy) == TEXT


@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_store_that_stays_overloaded_ends_the_run_for_now(
    place: Place, healthy: Place, proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch, operation: str
) -> None:
    monkeypatch.setattr(objects, "Patience", lambda attempts=2: Patience(attempts=attempts))
    place.close()
    with proxy.fault(operation, SLOW_DOWN, 99), pytest.raises(RetriableError) as caught:
        write(place)
    assert str(caught.value) == (
        f"cannot write {place}/t/a: the store is unavailable or overloaded (SlowDown); run again later"
    )
    place.close()
    assert list(healthy.files()) == []


REFUSALS = [
    (403, "AccessDenied", "give its user or role the right `s3:PutObject`"),
    (403, "RequestTimeTooSkewed", "the clock of this machine is wrong: set it"),
    (400, "ExpiredToken", "the credentials have expired: renew them"),
    (403, "InvalidAccessKeyId", "does not know the access key"),
    (404, "NoSuchBucket", "has no such bucket: check its name"),
    (301, "PermanentRedirect", "is in another region: set `store.region`"),
]


@pytest.mark.parametrize(
    ("operation", "status", "code", "advice"),
    [
        pytest.param(operation, *refusal, marks=pytest.mark.exhaustive if all((number, index)) else ())
        for number, operation in enumerate(OPERATIONS)
        for index, refusal in enumerate(REFUSALS)
    ],
)
def test_what_a_store_refuses_names_the_address_and_what_to_do(
    place: Place, healthy: Place, proxy: FaultProxy, operation: str, status: int, code: str, advice: str
) -> None:
    with proxy.fault(operation, refuse(status, code), 99), pytest.raises(DataError) as caught:
        write(place)
    assert f"cannot write {place}/t/a: " in str(caught.value)
    assert advice in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(healthy.files()) == []


def test_a_task_whose_upload_was_ended_is_fenced(place: Place, proxy: FaultProxy) -> None:
    staging = place.stage("t/a")
    staging.write(b"text")
    # Amazon's answer to it; S3Proxy takes the part.
    gone = proxy.fault("UploadPart", refuse(404, "NoSuchUpload"))
    with gone, pytest.raises(FencedError, match="another run of this connector has ended it"):
        staging.finish()


def test_an_end_of_an_upload_that_arrives_after_a_newer_run_has_begun_shows_nothing(
    place: Place, healthy: Place, proxy: FaultProxy
) -> None:
    staged = stage(place)

    def arrive_late(exchange: Exchange) -> None:
        for each in list(healthy.staged()):
            healthy.discard(each)
        exchange.answer(*exchange.forward())

    late = proxy.fault("CompleteMultipartUpload", arrive_late)
    with late, pytest.raises(FencedError, match="another run of this connector has ended it"):
        place.publish(staged)
    assert list(healthy.files()) == []


def test_a_file_that_cannot_be_removed_stays_and_is_named(place: Place, proxy: FaultProxy) -> None:
    write(place)
    (file,) = place.files()
    with proxy.fault("DeleteObject", refuse(403, "AccessDenied"), 9), pytest.raises(DataError, match="s3:DeleteObject"):
        place.remove(file)
    assert list(place.files()) == [file]


def test_to_remove_a_file_when_the_answer_is_lost_removes_it(place: Place, proxy: FaultProxy) -> None:
    write(place)
    (file,) = place.files()
    with proxy.fault("DeleteObject", lose_answer):
        assert place.remove(file)
    assert list(place.files()) == []


def test_what_has_got_the_name_of_a_file_before_it_is_asked_for_again_stays(
    place: Place, healthy: Place, proxy: FaultProxy
) -> None:
    write(place)
    (file,) = place.files()

    def lose_answer_and_replace(exchange: Exchange) -> None:
        exchange.forward()
        write(healthy, text=b"newer")
        exchange.handler.cut()

    with proxy.fault("DeleteObject", lose_answer_and_replace):
        assert not place.remove(file)
    assert read(healthy) == b"newer"


class TestCheck:
    def test_leaves_nothing(self, place: Place, healthy: Place, proxy: FaultProxy) -> None:
        place.check()
        assert list(healthy.files()) == []
        assert list(healthy.staged()) == []

    def test_ends_what_one_that_was_killed_has_begun(
        self, place: Place, healthy: Place, proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(objects, "_PROBE_AGE", timedelta())
        with proxy.fault("AbortMultipartUpload", refuse(403, "AccessDenied"), 9), pytest.raises(ConfigError):
            place.check()
        place.check()
        seen = proxy.seen[-7:]
        assert seen.count("AbortMultipartUpload") == 2

    @pytest.mark.parametrize(
        ("operation", "right"),
        [
            ("ListObjectsV2", "s3:ListBucket"),
            ("ListMultipartUploads", "s3:ListBucketMultipartUploads"),
            ("CreateMultipartUpload", "s3:PutObject"),
            ("AbortMultipartUpload", "s3:AbortMultipartUpload"),
            ("HeadObject", "s3:GetObject"),
            ("DeleteObject", "s3:DeleteObject"),
        ],
    )
    def test_finds_each_right_that_is_missing(
        self, place: Place, proxy: FaultProxy, operation: str, right: str
    ) -> None:
        with proxy.fault(operation, refuse(403, "AccessDenied"), 9), pytest.raises(ConfigError) as caught:
            place.check()
        assert f"cannot use {place}: " in caught.value.errors["directory"][0]
        assert f"the right `{right}`" in caught.value.errors["directory"][0]

    def test_of_a_wrong_secret_key(self, store: Store) -> None:
        place = open_place(store.address, {**store.settings, "store.secret.access.key": "wrong"})
        with pytest.raises(ConfigError, match="check the credentials"):
            place.check()

    def test_of_a_bucket_that_is_missing(self, store: Store) -> None:
        with pytest.raises(ConfigError, match="has no such bucket"):
            open_place("s3://not-there", store.settings).check()

    def test_of_a_store_that_is_not_reachable(self, store: Store) -> None:
        place = open_place(store.address, {**store.settings, "store.endpoint": "http://127.0.0.1:9"})
        with pytest.raises(RetriableError, match="check that endpoint and region are right"):
            place.check()

    @pytest.mark.parametrize(
        ("settings", "key"),
        [
            ({"store.endpoint": "minio:9000"}, "store.endpoint"),
            ({"store.ca.file": "/not/there.pem"}, "store.ca.file"),
            ({"store.profile": "not-there"}, "store.profile"),
        ],
    )
    def test_of_settings_that_cannot_be_used(self, store: Store, settings: dict[str, str], key: str) -> None:
        with pytest.raises(ConfigError) as caught:
            open_place(store.address, {**store.settings, **settings}).check()
        assert list(caught.value.errors) == [key]


class TestNetwork:
    def test_a_certificate_of_an_own_ca_is_trusted(self, store: Store, tmp_path: Path) -> None:
        certificate, key = self_signed()
        with FaultProxy(store.settings["store.endpoint"], certificate, key) as tls:
            settings = {**store.settings, "store.endpoint": tls.url, "store.ca.file": ca_file(tmp_path, certificate)}
            place = open_place(f"{store.address}/tls", settings)
            place.check()
            write(place)
            assert read(place) == TEXT

    def test_a_certificate_of_an_unknown_ca_names_the_key(self, store: Store) -> None:
        certificate, key = self_signed()
        with FaultProxy(store.settings["store.endpoint"], certificate, key) as tls:
            place = open_place(f"{store.address}/tls", {**store.settings, "store.endpoint": tls.url})
            with pytest.raises(ConfigError, match="is not trusted: name the file of the CA") as caught:
                place.check()
        assert list(caught.value.errors) == ["store.ca.file"]

    def test_requests_go_through_an_http_proxy(self, store: Store, proxy: FaultProxy) -> None:
        place = open_place(f"{store.address}/proxied", {**store.settings, "store.proxy": proxy.url})
        place.check()
        before = len(proxy.seen)
        write(place)
        assert proxy.seen[before:] == list(OPERATIONS)

    def test_https_goes_through_a_tunnel_of_a_proxy(self, store: Store, proxy: FaultProxy, tmp_path: Path) -> None:
        certificate, key = self_signed()
        with FaultProxy(store.settings["store.endpoint"], certificate, key) as tls:
            settings = {"store.endpoint": tls.url, "store.ca.file": ca_file(tmp_path, certificate)}
            place = open_place(f"{store.address}/tunnel", {**store.settings, **settings, "store.proxy": proxy.url})
            write(place)
        assert "CONNECT" in proxy.seen

    def test_the_login_of_a_proxy_shows_in_no_error(self, store: Store) -> None:
        settings = {**store.settings, "store.proxy": "http://user:s3cret@127.0.0.1:9"}
        with pytest.raises(ConnectError) as caught:
            open_place(store.address, settings).check()
        assert "s3cret" not in f"{caught.value!r} {caught.value.__cause__!r}"
