"""What Google's and Azure's stores do beyond the contract of places."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.request import urlopen

import pytest

from airflow_kconnect.connect.errors import ConfigError, DataError, FencedError, RetriableError
from airflow_kconnect.local.ports import LOOPBACK, free_port
from airflow_kconnect.places.base import StagedFile
from airflow_kconnect.places.objects import place as objects
from airflow_kconnect.places.objects.place import ObjectsPlace
from airflow_kconnect.places.registry import open_place
from tests.support import unique
from tests.support.places import TEXT, read, stage, write
from tests.support.stores import Store


@pytest.fixture
def place(store: Store) -> ObjectsPlace:
    return opened(store)


def opened(store: Store, **settings: str) -> ObjectsPlace:
    place = open_place(f"{store.address}/{unique('place')}", {**store.settings, **settings})
    assert isinstance(place, ObjectsPlace)
    return place


def paths(place: ObjectsPlace) -> list[str]:
    """Of all objects, hidden ones too."""
    return [name for name, _ in place._objects("")]


def a_copy_without_an_answer(place: ObjectsPlace, file: StagedFile) -> None:
    _, content = place._hidden(file)
    place._store.copy(content, f"{place._base}{file.name}")


class TestFencing:
    def test_a_run_that_still_writes_what_another_has_discarded_cannot_publish_it(self, place: ObjectsPlace) -> None:
        staging = place.stage("t/a")
        staging.write(b"text")
        for left in place.staged():
            place.discard(left)
        with pytest.raises(FencedError):
            place.publish(staging.finish())
        assert paths(place) == []

    def test_what_it_has_left_is_found_without_its_marker(self, place: ObjectsPlace) -> None:
        file = stage(place)
        marker, _ = place._hidden(file)
        place._store.delete(marker)
        assert [each.name for each in place.staged()] == ["t/a"]

    def test_nothing_hidden_is_left_of_a_published_file(self, place: ObjectsPlace) -> None:
        write(place)
        assert paths(place) == ["t/a"]

    def test_a_copy_whose_answer_was_lost_is_completed(self, place: ObjectsPlace) -> None:
        a_copy_without_an_answer(place, file := stage(place))
        place.publish(file)
        assert paths(place) == ["t/a"]

    def test_what_was_published_and_half_discarded_is_published(self, place: ObjectsPlace) -> None:
        a_copy_without_an_answer(place, file := stage(place))
        marker, _ = place._hidden(file)
        place._store.delete(marker)
        place.publish(file)
        assert paths(place) == ["t/a"]

    def test_a_file_of_its_name_that_another_run_has_published_is_not_taken_for_it(self, place: ObjectsPlace) -> None:
        old = stage(place)
        place.discard(old)
        write(place)
        with pytest.raises(FencedError):
            place.publish(old)

    def test_a_shorter_file_is_not_taken_for_it(self, place: ObjectsPlace) -> None:
        place.publish(file := stage(place))
        assert not place._is_published(replace(file, size=100))


def test_parts_of_a_large_file_of_a_killed_run_stay_in_googles_store_and_are_never_visible(store: Store) -> None:
    """obstore cannot end what another process has begun. Azure ends it by itself, after a week."""
    if not store.address.startswith("gs:"):
        pytest.skip("Azure lists no parts")
    place = opened(store)
    staging = place.stage("t/a", objects.PART_BYTES_MIN)
    for _ in range(3):
        staging.write(bytes(objects.PART_BYTES_MIN))
    for left in list(place.staged()):
        place.discard(left)
    bucket = store.address.removeprefix("gs://")
    with urlopen(f"{store.settings['store.endpoint']}/{bucket}?uploads", timeout=60) as answer:
        uploads = answer.read().decode()
    assert uploads.count(f"<Key>{place._base}") == 1
    assert paths(place) == []


def test_a_file_of_more_parts_than_the_store_takes_says_what_to_do(
    place: ObjectsPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "_PARTS_MAX", {"gs": 1, "abfss": 1})
    staging = place.stage("t/a", objects.PART_BYTES_MIN)
    staging.write(bytes(objects.PART_BYTES_MIN))
    with pytest.raises(DataError, match=r"the store takes 1 parts, here of 5242880 bytes: lower `flush.size`"):
        staging.write(bytes(objects.PART_BYTES_MIN))
    staging.abort()
    assert paths(place) == []


class TestCheck:
    def test_leaves_nothing(self, place: ObjectsPlace) -> None:
        place.check()
        assert paths(place) == []

    def test_a_bucket_that_is_missing(self, store: Store) -> None:
        scheme, _, rest = store.address.partition("://")
        _, at, host = rest.partition("@")
        gone = replace(store, address=f"{scheme}://nosuchplace{at}{host}")
        with pytest.raises(ConfigError, match="no such bucket or container"):
            opened(gone).check()

    def test_an_endpoint_that_does_not_answer(self, store: Store) -> None:
        place = opened(store, **{"store.endpoint": f"http://{LOOPBACK}:{free_port()}/devstoreaccount1"})
        with pytest.raises(RetriableError, match="no answer; check that its endpoint is right"):
            place.check()

    def test_a_wrong_key_is_named_without_it(self, store: Store) -> None:
        if "store.account.key" not in store.settings:
            pytest.skip("moto checks no login")
        with pytest.raises(ConfigError, match="does not accept the login") as raised:
            opened(store, **{"store.account.key": "d3Jvbmc="}).check()
        assert "d3Jvbmc=" not in str(raised.value)

    def test_a_missing_file_of_certificates(self, store: Store) -> None:
        with pytest.raises(ConfigError, match=r"store.ca.file.*which cannot be read"):
            opened(store, **{"store.ca.file": "/no/such.pem"}).check()


class TestNames:
    @pytest.mark.parametrize("name", ["day=2026-01-01/a b", "p=a%2Fb/ü", "p={x}[y]~z/t+0+0000.json.gz"])
    def test_are_kept_as_they_are(self, place: ObjectsPlace, name: str) -> None:
        write(place, name)
        (file,) = place.files()
        assert file == place.find(name)
        assert read(place, name) == TEXT


def test_keys_are_in_no_text_of_a_place(place: ObjectsPlace, store: Store) -> None:
    texts: list[Any] = [str(place), repr(place), repr(place._settings)]
    assert not any(store.settings.get("store.account.key", "none") in text for text in texts)
