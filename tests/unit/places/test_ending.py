"""Files that wait for their store while others are being written."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.places.address import address
from airflow_kconnect.places.base import StagedFile, Staging
from airflow_kconnect.places.ending import EndingFiles
from airflow_kconnect.places.local import LocalPlace

_PATIENCE_S = 30


class SlowEnd:
    """A file whose store answers when it is allowed to."""

    def __init__(self, staging: Staging, answers: threading.Event) -> None:
        self._staging, self._answers = staging, answers
        self.write, self.abort = staging.write, staging.abort

    def finish(self) -> StagedFile:
        assert self._answers.wait(_PATIENCE_S)
        return self._staging.finish()


class FailingEnd(SlowEnd):
    def finish(self) -> StagedFile:
        raise RetriableError("the store is overloaded")


@pytest.fixture
def place(tmp_path: Path) -> LocalPlace:
    return LocalPlace(address(str(tmp_path)))


def written(place: LocalPlace, name: str) -> Staging:
    staging = place.stage(name)
    staging.write(name.encode())
    return staging


def left(place: LocalPlace) -> list[str]:
    return [path.name for path in Path(place.at.path).iterdir()]


def test_others_are_written_while_one_waits_and_all_are_in_their_order(place: LocalPlace) -> None:
    files, answers = EndingFiles(), threading.Event()
    files.add(SlowEnd(written(place, "a"), answers))
    for name in "bcd":
        files.add(written(place, name))
    answers.set()
    assert [staged.name for staged in files.staged()] == [*"abcd"]


def test_only_some_wait_at_a_time(place: LocalPlace) -> None:
    files, answers = EndingFiles(), threading.Event()
    for name in "abcd":
        files.add(SlowEnd(written(place, name), answers))
    fifth = threading.Thread(target=files.add, args=(written(place, "e"),))
    fifth.start()
    fifth.join(0.2)
    assert fifth.is_alive()
    answers.set()
    fifth.join(_PATIENCE_S)
    assert len(files.staged()) == 5


def test_one_that_fails_is_the_error_of_all(place: LocalPlace) -> None:
    files = EndingFiles()
    files.add(written(place, "a"))
    files.add(FailingEnd(written(place, "b"), threading.Event()))
    files.add(written(place, "c"))
    with pytest.raises(RetriableError, match="overloaded"):
        files.staged()


def test_nothing_is_left_once_they_are_aborted(place: LocalPlace) -> None:
    files = EndingFiles()
    files.add(written(place, "a"))
    files.add(FailingEnd(written(place, "b"), threading.Event()))
    files.abort(place)
    assert left(place) == []


def test_files_that_are_not_removed_within_seconds_are_left_to_the_next_run(
    place: LocalPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airflow_kconnect.places.ending._REMOVE_S", 0.05)
    answers = threading.Event()
    monkeypatch.setattr(LocalPlace, "discard", lambda *_: answers.wait(_PATIENCE_S))
    files = EndingFiles()
    for number in range(50):
        files.add(written(place, f"{number}"))
    began_s = time.monotonic()
    files.abort(place)
    assert time.monotonic() - began_s < _PATIENCE_S
    answers.set()


def test_one_whose_store_does_not_answer_is_removed_nevertheless(
    place: LocalPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("airflow_kconnect.places.ending._ABORT_S", 0.01)
    files, answers = EndingFiles(), threading.Event()
    files.add(SlowEnd(written(place, "a"), answers))
    files.abort(place)
    assert left(place) == []
    answers.set()
