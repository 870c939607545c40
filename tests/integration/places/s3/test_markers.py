"""A store of S3 that finds uploads by their whole names only, as MinIO: what its markers are for."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from airflow_kconnect.connect.errors import FencedError
from airflow_kconnect.places import hidden
from airflow_kconnect.places.registry import open_place
from airflow_kconnect.places.s3.place import S3Place
from airflow_kconnect.places.s3.uploads import uploads
from tests.support import unique
from tests.support.faults import FaultProxy, lose_answer
from tests.support.places import begin_and_die, stage, write
from tests.support.stores import Store


@pytest.fixture(scope="module")
def store(store_of: Callable[[str], Store]) -> Store:
    return store_of("minio")


@pytest.fixture
def place(store: Store) -> S3Place:
    return opened(f"{store.address}/{unique('place')}", store)


def opened(address: str, store: Store, *, marks: bool = True) -> S3Place:
    place = open_place(address, store.settings)
    assert isinstance(place, S3Place)
    place.marks = marks
    return place


def left(place: S3Place, name: str = "t/a") -> list[str]:
    """Objects, and uploads of a name."""
    begun = uploads(place._s3, place._bucket, place._key(name)["Key"])
    return [*(file.name for file in place.files(hidden=True)), *(str(each["UploadId"]) for each in begun)]


def test_the_check_finds_out_and_leaves_nothing(place: S3Place) -> None:
    place.marks = False
    place.check()
    assert place.marks
    assert left(place, hidden.PROBE) == []


def test_a_check_of_what_is_not_known_yet_is_made_by_who_stages(store: Store) -> None:
    place = open_place(f"{store.address}/{unique('place')}", store.settings)
    assert place.stage("t/a").finish().facts["marked"]


def test_nothing_is_left_of_a_published_file(place: S3Place) -> None:
    write(place)
    assert left(place) == ["t/a"]


def test_nothing_is_left_of_an_upload_that_was_begun_twice_because_an_answer_was_lost(
    place: S3Place, store: Store
) -> None:
    with FaultProxy(store.settings["store.endpoint"]) as proxy:
        faulty = opened(str(place), store.through(proxy.url))
        with proxy.fault("CreateMultipartUpload", lose_answer):
            file = stage(faulty)
        faulty.publish(file)
    assert left(place) == ["t/a"]


def test_nothing_is_left_of_what_killed_runs_have_begun(place: S3Place) -> None:
    begin_and_die(place, "t/a")
    stage(place)
    for each in list(place.staged("t/")):
        place.discard(each)
    assert left(place) == []


def test_an_upload_that_was_begun_after_its_marker_was_removed_cannot_be_published(place: S3Place) -> None:
    """A newer run has looked for uploads in between."""
    file = stage(place)
    place._unmark(file)
    with pytest.raises(FencedError, match="another run of this connector has ended it"):
        place.publish(file)
    assert left(place) == []


def test_a_run_that_was_killed_before_it_removed_the_marker_has_published(place: S3Place) -> None:
    file = stage(place)
    again = place._marker(file)
    place.publish(file)
    place._s3.put_object(**again, Body=b"")
    (found,) = place.staged()
    place.discard(found)
    assert left(place) == ["t/a"]
    place.publish(file)


@pytest.mark.parametrize("marks", [True, False])
def test_what_was_staged_with_or_without_a_marker_is_published_either_way(
    place: S3Place, store: Store, marks: bool
) -> None:
    """A store may be changed while a run lasts."""
    file = stage(opened(str(place), store, marks=marks))
    opened(str(place), store, marks=not marks).publish(file)
    assert left(place) == ["t/a"]


def test_an_upload_whose_name_begins_as_another_ones_stays(place: S3Place) -> None:
    other = stage(place, "t/ab")
    stage(place)
    for each in list(place.staged()):
        if each.name == "t/a":
            place.discard(each)
    place.publish(other)
    assert left(place) == ["t/ab"]
