"""The contract of places, which folders and object stores keep alike."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from airflow_kconnect.connect.errors import DataError, FencedError
from airflow_kconnect.places.base import Place, PlacedFile, StagedFile
from airflow_kconnect.places.moving import Move, Moved, move_all
from airflow_kconnect.places.registry import open_place
from airflow_kconnect.places.s3 import place as s3
from tests.support import unique
from tests.support.places import PART, begin_and_die, read, stage, write
from tests.support.stores import Store

Open = Callable[[], Place]

# What MinIO does otherwise is in the tests of its markers; moto is another S3.
_MORE = [pytest.param(kind, marks=pytest.mark.exhaustive) for kind in ("minio", "moto")]


@pytest.fixture(scope="module", params=["file", "s3", *_MORE, "azure", "gs", "hdfs"])
def store(
    request: pytest.FixtureRequest, store_of: Callable[[str], Store], tmp_path_factory: pytest.TempPathFactory
) -> Store:
    return Store(str(tmp_path_factory.mktemp("place")), {}) if request.param == "file" else store_of(request.param)


@pytest.fixture
def opened(store: Store) -> Open:
    """Another one of the same address each time, as in another process."""
    return partial(open_place, f"{store.address}/{unique('place')}", store.settings)


@pytest.fixture
def place(opened: Open) -> Place:
    return opened()


def skip_moto(store: Store) -> None:
    if store.address == "s3://moto":
        pytest.skip("moto answers with an error of its own where an upload is gone")


def names(place: Place, prefix: str = "") -> list[str]:
    return [file.name for file in place.files(prefix)]


class TestFiles:
    def test_are_in_the_order_of_their_names_with_those_in_folders(self, place: Place) -> None:
        for name in ("t/b", "t.x", "t/a+1", "t/a", "u", "t/c/d"):
            write(place, name)
        assert names(place) == ["t.x", "t/a", "t/a+1", "t/b", "t/c/d", "u"]

    def test_are_found_by_the_beginning_of_their_names(self, place: Place) -> None:
        for name in ("t/p=1/t+1+0", "t/p=1/t+10+0", "t/p=10/t+1+0", "t+1"):
            write(place, name)
        assert names(place, "t/p=1/t+1+") == ["t/p=1/t+1+0"]
        assert names(place, "t/p=1") == ["t/p=1/t+1+0", "t/p=1/t+10+0", "t/p=10/t+1+0"]

    def test_are_listed_from_a_name_on(self, place: Place) -> None:
        for name in ("t/p=1/t+1+08.json", "t/p=1/t+1+10.json", "t/p=1/t+1+9", "t/p=2/t+2+10"):
            write(place, name)
        begin = "t/p=1/t+1+"
        found = [file.name for file in place.files(begin, after=f"{begin}10")]
        assert found == ["t/p=1/t+1+10.json", "t/p=1/t+1+9"]
        assert not [*place.files(begin, after=f"{begin}9")]

    def test_hidden_ones_are_found_by_who_asks_for_them(self, place: Place) -> None:
        for name in (".t/p=1/.t+1+0", ".t/.p/a", "t"):
            write(place, name)
        assert names(place) == ["t"]
        assert [file.name for file in place.files(".t/p=1/.t+1+", hidden=True)] == [".t/p=1/.t+1+0"]
        assert [file.name for file in place.files(hidden=True)] == [".t/.p/a", ".t/p=1/.t+1+0", "t"]

    def test_of_a_place_without_any_there_are_none(self, place: Place) -> None:
        assert names(place) == []
        assert names(place, "a/b") == []

    def test_more_than_a_store_lists_at_once_are_all_found(self, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(s3, "_PAGE", 3)
        for number in range(5):
            write(place, f"{number:05d}")
        assert len(names(place)) == 5

    def test_have_their_size(self, place: Place) -> None:
        write(place, "t/a", b"12345")
        (file,) = place.files()
        assert file.size == 5
        assert place.find("t/a") == file

    def test_that_are_missing_are_not_found(self, place: Place) -> None:
        write(place, "t/a")
        assert place.find("t/b") is None
        assert place.find("t") is None


class TestStaging:
    def test_a_staged_file_is_hidden(self, place: Place) -> None:
        stage(place, "t/a")
        assert names(place) == []
        assert place.find("t/a") is None

    def test_it_is_published_by_another_process_from_json(self, place: Place, opened: Open) -> None:
        staged = stage(pickle.loads(pickle.dumps(place)), "t/a", b"content")  # noqa: S301
        opened().publish(StagedFile.from_json(staged.to_json()))
        assert read(place) == b"content"

    def test_a_large_one_is_complete(self, place: Place) -> None:
        text = bytes(range(256)) * 4096
        staging = place.stage("large", PART)
        for _ in range(6):
            staging.write(text)
        staged = staging.finish()
        assert staged.size == 6 * len(text)
        place.publish(staged)
        assert read(place, "large") == text * 6

    def test_an_empty_one_is_a_file(self, place: Place) -> None:
        place.publish(place.stage("empty").finish())
        (file,) = place.files()
        assert file.size == 0

    def test_it_replaces_a_file_of_its_name(self, place: Place) -> None:
        write(place, "t/a", b"old")
        write(place, "t/a", b"new")
        assert read(place) == b"new"

    def test_to_publish_again_changes_nothing(self, place: Place, opened: Open) -> None:
        staged = stage(place, "t/a")
        place.publish(staged)
        before = place.find("t/a")
        opened().publish(staged)
        assert place.find("t/a") == before

    def test_what_was_discarded_cannot_be_published(self, store: Store, place: Place, opened: Open) -> None:
        skip_moto(store)
        staged = stage(place, "t/a")
        opened().discard(staged)
        with pytest.raises(FencedError, match="another run of this connector"):
            place.publish(staged)
        assert names(place) == []

    def test_all_of_a_round_are_published_at_once(self, place: Place) -> None:
        place.publish_all([stage(place, f"t/{n:02d}") for n in range(10)])
        assert names(place) == [f"t/{n:02d}" for n in range(10)]

    def test_one_of_a_round_that_was_discarded_is_an_error(self, store: Store, place: Place, opened: Open) -> None:
        skip_moto(store)
        staged = [stage(place, f"t/{n}") for n in range(3)]
        opened().discard(staged[1])
        with pytest.raises(FencedError):
            place.publish_all(staged)

    def test_to_discard_again_does_nothing(self, place: Place) -> None:
        staged = stage(place, "t/a")
        place.discard(staged)
        place.discard(staged)

    def test_what_was_aborted_leaves_nothing(self, place: Place) -> None:
        staging = place.stage("t/a")
        staging.write(b"text")
        staging.abort()
        assert list(place.staged()) == []

    def test_what_others_have_left_is_found_by_the_beginning_of_its_name(self, place: Place, opened: Open) -> None:
        stage(place, "t/p=1/t+1+0")
        begin_and_die(place, "t/p=1/t+1+5")
        stage(place, "t/p=1/t+10+0")
        left = {each.name for each in opened().staged("t/p=1/t+1+")}
        assert left == {"t/p=1/t+1+0", "t/p=1/t+1+5"}

    def test_what_others_have_left_can_be_discarded(self, store: Store, place: Place, opened: Open) -> None:
        skip_moto(store)
        staged = stage(place, "t/a")
        for left in opened().staged():
            opened().discard(left)
        with pytest.raises(FencedError):
            place.publish(staged)
        assert list(place.staged()) == []


class TestRemove:
    def test_an_empty_folder_is_removed(self, place: Place) -> None:
        write(place, "t/a")
        (file,) = place.files()
        place.remove(file)
        place.remove_folder("t")
        write(place, "t")  # which is refused where a folder has the name
        assert names(place) == ["t"]

    def test_a_folder_with_a_file_stays(self, place: Place) -> None:
        write(place, "t/a")
        place.remove_folder("t")
        assert names(place) == ["t/a"]

    def test_a_file_as_it_was_seen(self, place: Place) -> None:
        write(place, "t/a")
        (file,) = place.files()
        assert place.remove(file)
        assert names(place) == []

    def test_not_one_that_has_replaced_it(self, place: Place) -> None:
        write(place, "t/a", b"old")
        (file,) = place.files()
        write(place, "t/a", b"new!")
        assert not place.remove(file)
        assert names(place) == ["t/a"]

    def test_one_that_is_gone_is_no_error(self, place: Place) -> None:
        write(place, "t/a")
        (file,) = place.files()
        place.remove(file)
        assert not place.remove(file)


class TestRead:
    def test_it_can_seek(self, place: Place) -> None:
        write(place, "t/a", b"0123456789")
        with place.read(next(place.files())) as reader:
            reader.seek(-3, 2)
            assert reader.read(2) == b"78"
            reader.seek(2)
            assert reader.read() == b"23456789"
            assert reader.read() == b""

    def test_a_file_that_was_replaced_is_an_error(self, place: Place) -> None:
        write(place, "t/a", b"old")
        (file,) = place.files()
        write(place, "t/a", b"new!")
        with pytest.raises(DataError, match="was replaced"), place.read(file) as reader:
            reader.read()

    def test_a_file_that_was_removed_is_an_error(self, place: Place) -> None:
        write(place, "t/a")
        (file,) = place.files()
        place.remove(file)
        with pytest.raises(DataError, match="removed after it was found"), place.read(file) as reader:
            reader.read()


class TestMoves:
    def test_a_file_has_its_content_at_the_other_place(self, store: Store, place: Place) -> None:
        write(place, "a/b.csv", b"text")
        file = placed(place, "a/b.csv")
        target = neighbour(store, place)
        assert move_all(place, [Move(file, target, "a/b.csv")]).files == (file,)
        assert (names(place), names(target)) == ([], ["a/b.csv"])
        assert read(target, "a/b.csv") == b"text"

    def test_another_version_is_not_moved(self, store: Store, place: Place) -> None:
        write(place, "a.csv", b"text")
        file = replace(placed(place, "a.csv"), version='"0123456789abcdef"@0')
        target = neighbour(store, place)
        assert move_all(place, [Move(file, target, "a.csv")]) == Moved((), ())
        assert move_all(place, [Move(file)]) == Moved((), ())
        assert (names(place), names(target)) == (["a.csv"], [])

    def test_nothing_is_overwritten(self, store: Store, place: Place) -> None:
        target = neighbour(store, place)
        write(target, "a.csv", b"other")
        write(place, "a.csv", b"text")
        move_all(place, [Move(placed(place, "a.csv"), target, "a.csv")])
        contents = {target.read(file).read() for file in target.files()}
        assert (names(place), contents) == ([], {b"other", b"text"})

    def test_two_files_of_one_name_are_both_there(self, store: Store, place: Place) -> None:
        target = neighbour(store, place)
        within = open_place(f"{target}/bad", store.settings)
        write(place, "bad/a.csv", b"one")
        write(place, "a.csv", b"other")
        moves = [Move(placed(place, "bad/a.csv"), target, "bad/a.csv"), Move(placed(place, "a.csv"), within, "a.csv")]
        move_all(place, moves)
        contents = {target.read(file).read() for file in target.files()}
        assert (names(place), contents) == ([], {b"one", b"other"})

    def test_a_copy_that_was_made_before_is_not_made_twice(self, store: Store, place: Place) -> None:
        target = neighbour(store, place)
        write(place, "a.csv", b"text")
        file = placed(place, "a.csv")
        assert target.copy(place, file, "a.csv")
        assert move_all(place, [Move(file, target, "a.csv")]).files == (file,)
        assert (names(place), names(target)) == ([], ["a.csv"])


def placed(place: Place, name: str) -> PlacedFile:
    found = place.find(name)
    assert found is not None
    return found


def neighbour(store: Store, place: Place) -> Place:
    """Another place of the same store."""
    return open_place(f"{place}-done", store.settings)
