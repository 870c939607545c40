"""Google's and Azure's stores that fail: what is tried again, and what ends a run. Nothing half is visible."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from airflow_kconnect.connect.errors import ConfigError, ConnectError, DataError, FencedError, RetriableError
from airflow_kconnect.places.base import Place
from airflow_kconnect.places.objects import place as objects
from airflow_kconnect.places.registry import open_place
from tests.support import unique
from tests.support.azurite import shared_access_signature
from tests.support.faults import (
    Exchange,
    Fault,
    FaultProxy,
    cut_answer,
    cut_request,
    delayed,
    lagging,
    lose_answer,
    refuse,
    slow,
    truncate,
)
from tests.support.places import TEXT, read, stage, write
from tests.support.stores import Store


@pytest.fixture(scope="module", params=["azure", pytest.param("gs", marks=pytest.mark.exhaustive)])
def store(request: pytest.FixtureRequest, store_of: Callable[[str], Store]) -> Store:
    """Both have the same client, and Azure has signatures besides."""
    return store_of(request.param)


OVERLOADED = refuse(503, "ServerBusy")


def nothing_is_left(place: Place) -> bool:
    return list(place.staged()) == []


OPERATIONS = ("PutObject", "HeadObject", "CopyObject", "GetObject", "DeleteObject")
PASSING = [OVERLOADED, cut_request, cut_answer, lose_answer, slow(0.2), refuse(500, "InternalError")]


@pytest.mark.parametrize(
    ("operation", "fault"),
    [
        # The last two are met by the client, whatever the request is.
        pytest.param(operation, fault, marks=pytest.mark.exhaustive if number and fault in PASSING[4:] else ())
        for number, operation in enumerate(OPERATIONS)
        for fault in PASSING
        if (operation, fault) != ("DeleteObject", cut_answer)  # Azure is asked to remove several; see below
    ],
)
def test_what_passes_is_not_seen(place: Place, healthy: Place, proxy: FaultProxy, operation: str, fault: Fault) -> None:
    """Each step of a small file: its marker, its content, the look at the marker, the copy, the look at it, the end."""
    with proxy.fault(operation, fault):
        write(place)
    assert read(healthy) == TEXT
    assert nothing_is_left(healthy)


@pytest.mark.parametrize("fault", [OVERLOADED, cut_request, lose_answer])
def test_the_content_is_sent_again(place: Place, healthy: Place, proxy: FaultProxy, fault: Fault) -> None:
    with proxy.fault("PutObject", fault, after=1):
        write(place)
    assert read(healthy) == TEXT


@pytest.mark.parametrize(
    ("operation", "after"), [("CreateMultipartUpload", 0), ("UploadPart", 1), ("CompleteMultipartUpload", 0)]
)
@pytest.mark.parametrize("fault", [OVERLOADED, pytest.param(cut_request, marks=pytest.mark.exhaustive), lose_answer])
def test_a_part_of_a_large_file_is_sent_again(
    place: Place, healthy: Place, proxy: FaultProxy, operation: str, after: int, fault: Fault
) -> None:
    text = bytes(range(256)) * 4 * 1024 * 6
    with proxy.fault(operation, fault, after=after):
        write(place, text=text)
    assert read(healthy) == text
    assert nothing_is_left(healthy)


def test_a_file_is_published_if_the_answer_to_the_last_request_is_lost(
    place: Place, healthy: Place, proxy: FaultProxy
) -> None:
    with proxy.fault("DeleteObject", lose_answer, after=1):
        write(place)
    assert read(healthy) == TEXT
    assert nothing_is_left(healthy)


def test_a_file_is_published_though_half_an_answer_to_its_end_ends_the_run(
    place: Place, healthy: Place, proxy: FaultProxy
) -> None:
    with proxy.fault("DeleteObject", cut_answer), contextlib.suppress(RetriableError):
        write(place)
    assert read(healthy) == TEXT


@pytest.mark.parametrize("fault", [OVERLOADED, slow(0.2), cut_answer, lose_answer])
def test_a_range_is_read_again(place: Place, proxy: FaultProxy, fault: Fault) -> None:
    write(place)
    with proxy.fault("GetObject", fault):
        assert read(place) == TEXT


def test_a_body_that_is_too_short_is_not_taken_for_the_whole(place: Place, proxy: FaultProxy) -> None:
    write(place)
    with proxy.fault("GetObject", truncate, 9), pytest.raises(RetriableError, match="run again"):
        read(place)


@pytest.mark.parametrize("fault", [OVERLOADED, cut_request, slow(0.2)])
def test_a_listing_is_asked_for_again(place: Place, proxy: FaultProxy, fault: Fault) -> None:
    write(place)
    with proxy.fault("ListObjectsV2", fault):
        assert [file.name for file in place.files()] == ["t/a"]


def test_half_a_listing_is_not_taken_for_the_whole(place: Place, proxy: FaultProxy) -> None:
    write(place)
    with proxy.fault("ListObjectsV2", cut_answer), pytest.raises(RetriableError, match="run again"):
        list(place.files())


@pytest.mark.parametrize("operation", ["PutObject", "CopyObject"])
def test_a_store_that_stays_overloaded_ends_the_run_for_now(
    place: Place, healthy: Place, proxy: FaultProxy, operation: str
) -> None:
    with proxy.fault(operation, OVERLOADED, 99), pytest.raises(RetriableError) as caught:
        write(place)
    assert str(caught.value) == (
        f"cannot write {place}/t/a: the store is unavailable or overloaded (ServerBusy); run again later"
    )
    assert list(healthy.files()) == []


TOO_LATE = "Signature not valid in the specified time frame: Start [] - Expiry [] - Current []"
REFUSALS = [
    (403, "AuthorizationPermissionMismatch", "give the login the right to read, write, list and delete there"),
    (403, "AuthenticationFailed", "check the credentials, and the clock of this machine"),
    (400, "ExpiredToken", "the login has expired: renew it"),
    (401, "Unauthorized", "does not accept the login"),
    (404, "NoSuchBucket", "has no such bucket or container: check its name"),
    (404, "ContainerNotFound", "has no such bucket or container: check its name"),
]


@pytest.mark.parametrize(
    ("operation", "status", "code", "advice"),
    [
        pytest.param(operation, *refusal, marks=pytest.mark.exhaustive if all((number, index)) else ())
        for number, operation in enumerate(("PutObject", "CopyObject", "DeleteObject"))
        for index, refusal in enumerate(REFUSALS)
        if not number or refusal[0] != 404  # one request cannot tell a bucket that is gone from an object that is gone
    ],
)
def test_what_a_store_refuses_names_the_address_and_what_to_do(
    place: Place, healthy: Place, proxy: FaultProxy, operation: str, status: int, code: str, advice: str
) -> None:
    with proxy.fault(operation, refuse(status, code), 99), pytest.raises(ConnectError) as caught:
        write(place)
    assert f" {place}/t/a: " in str(caught.value)
    assert advice in str(caught.value)
    assert "\n" not in str(caught.value)
    assert operation == "DeleteObject" or list(healthy.files()) == []


def test_a_file_that_cannot_be_removed_stays_and_is_named(place: Place, healthy: Place, proxy: FaultProxy) -> None:
    write(place)
    (file,) = place.files()
    refused = proxy.fault("DeleteObject", refuse(403, "AuthorizationPermissionMismatch"), 9)
    with refused, pytest.raises(DataError, match=r"cannot remove .*/t/a: .* delete there"):
        place.remove(file)
    assert list(healthy.files()) == [file]


def test_to_remove_a_file_when_the_answer_is_lost_removes_it(place: Place, healthy: Place, proxy: FaultProxy) -> None:
    write(place)
    (file,) = place.files()
    with proxy.fault("DeleteObject", lose_answer):
        assert place.remove(file)
    assert list(healthy.files()) == []


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


@pytest.mark.parametrize("text", [b"newer", TEXT])
def test_a_removal_that_comes_late_leaves_what_has_got_the_name_but_on_azure(
    place: Place, healthy: Place, proxy: FaultProxy, store: Store, text: bytes
) -> None:
    write(place)
    (file,) = place.files()
    with proxy.fault("DeleteObject", delayed(lambda: write(healthy, text=text))):
        is_removed = place.remove(file)
    assert is_removed == store.address.startswith("abfss:")
    assert len(list(healthy.files())) == (not is_removed)


def test_a_listing_that_lags_hides_no_file_for_ever(place: Place, healthy: Place, proxy: FaultProxy) -> None:
    """What it does not show is found by its name, and by the next listing."""
    with proxy.fault("ListObjectsV2", lagging(), 9):
        assert list(place.files()) == []
        write(place)
        assert list(place.files()) == []
        assert read(place) == TEXT
        write(place, text=b"again")
    assert [file.name for file in place.files()] == ["t/a"]
    assert read(place) == b"again"


def test_a_file_that_a_listing_still_shows_is_not_taken_for_another(place: Place, proxy: FaultProxy) -> None:
    write(place)
    with proxy.fault("ListObjectsV2", lagging(), 9):
        (old,) = place.files()
        write(place, text=b"new!")
        (listed,) = place.files()
        assert listed == old
        assert not place.remove(listed)
        with pytest.raises(DataError, match="replaced or removed after it was found: run again"):
            place.read(listed).read()


def test_azure_says_of_a_login_in_a_sentence_only_that_it_has_expired(place: Place, proxy: FaultProxy) -> None:
    expired = refuse(403, "AuthenticationFailed", TOO_LATE)
    with proxy.fault("PutObject", expired, 9), pytest.raises(DataError, match="the login has expired: renew it"):
        write(place)


class TestCheck:
    @pytest.mark.parametrize("operation", ["ListObjectsV2", "PutObject", "HeadObject", "DeleteObject"])
    def test_finds_each_right_that_is_missing(self, place: Place, proxy: FaultProxy, operation: str) -> None:
        with proxy.fault(operation, refuse(403, "Forbidden"), 9), pytest.raises(ConfigError) as caught:
            place.check()
        assert f"cannot use {place}" in caught.value.errors["directory"][0]
        assert "give the login the right" in caught.value.errors["directory"][0]

    def test_a_lost_answer_to_its_end_leaves_nothing(self, place: Place, healthy: Place, proxy: FaultProxy) -> None:
        with proxy.fault("DeleteObject", lose_answer):
            place.check()
        assert list(healthy.files(hidden=True)) == []


class TestFencing:
    def test_a_bucket_that_disappears_is_no_newer_run(self, place: Place, proxy: FaultProxy) -> None:
        staged = stage(place)
        gone = refuse(404, "NoSuchBucket")
        with proxy.fault("*", gone, 99), pytest.raises(ConfigError, match="no such bucket or container"):
            place.publish(staged)

    @pytest.mark.parametrize("operation", ["HeadObject", "CopyObject", "GetObject"])
    def test_a_run_that_is_overtaken_within_a_step_is_fenced(
        self, place: Place, healthy: Place, proxy: FaultProxy, operation: str
    ) -> None:
        """A newer run discards what is staged while a request of the older one is on its way."""
        staged = stage(place)

        def overtake(exchange: object) -> None:
            healthy.discard(staged)
            slow(0)(exchange)  # type: ignore[arg-type]

        published = operation == "GetObject"  # it was copied before
        with proxy.fault(operation, overtake):
            if published:
                place.publish(staged)
            else:
                with pytest.raises(FencedError, match="another run of this connector has removed it"):
                    place.publish(staged)
        assert len(list(healthy.files())) == published

    def test_a_run_whose_file_a_newer_one_has_replaced_is_fenced_at_once(
        self, place: Place, healthy: Place, proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It was stopped after the copy, and then waits for it."""
        monkeypatch.setattr(objects, "_COPY_SECONDS", 5)
        staged = stage(place)

        def overtake(exchange: Exchange) -> None:
            healthy.discard(staged)
            write(healthy, text=b"newer")
            exchange.answer(*exchange.forward())

        with proxy.fault("GetObject", overtake), pytest.raises(FencedError, match="another run of this connector"):
            place.publish(staged)
        assert read(healthy) == b"newer"


class TestSharedAccessSignatures:
    def test_that_allow_all_of_it(self, store: Store) -> None:
        place = signed(store, "racwdl", timedelta(hours=1))
        place.check()
        write(place)
        assert read(place) == TEXT

    def test_that_have_expired_say_so(self, store: Store) -> None:
        with pytest.raises(DataError, match="check the credentials, and that they have not expired") as caught:
            write(signed(store, "racwdl", timedelta(hours=-1)))
        assert "sig=" not in f"{caught.value} {caught.value.__cause__} {caught.value.__context__}"

    def test_that_do_not_allow_to_write(self, store: Store) -> None:
        with pytest.raises(ConfigError, match="give the login the right to read, write, list and delete") as caught:
            signed(store, "rl", timedelta(hours=1)).check()
        assert "sig=" not in f"{caught.value} {caught.value.__cause__}"


def signed(store: Store, rights: str, lasts: timedelta) -> Place:
    if "store.account.key" not in store.settings:
        pytest.skip("Azure has these")
    container = store.address.removeprefix("abfss://").partition("@")[0]
    token = shared_access_signature(container, rights, datetime.now(UTC) + lasts)
    return open_place(
        f"{store.address}/{unique('signed')}",
        {"store.endpoint": store.settings["store.endpoint"], "store.sas.token": token},
    )
