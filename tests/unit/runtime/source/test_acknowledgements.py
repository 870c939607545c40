"""The small file by which a polling task learns what was committed."""

from __future__ import annotations

import os
import stat
import tempfile
import threading
import time
from pathlib import Path

import pytest

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.runtime.source.acknowledgements import AckReader, AckWriter


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def finish_seen_by(reader: AckReader, writer: AckWriter) -> tuple[int, bool]:
    """What a reader sees at the end, which it confirms."""
    finishing = threading.Thread(target=writer.finished)
    finishing.start()
    deadline = time.monotonic() + 30
    seen = reader.read()
    while not seen[1] and time.monotonic() < deadline:
        time.sleep(0.002)
        seen = reader.read()
    reader.stopped()
    finishing.join(30)
    return seen


class TestCommitted:
    def test_before_the_first_commit_nothing_is_committed(self) -> None:
        assert AckReader("plan", 2).read() == (0, False)

    @pytest.mark.parametrize("first", ["reader", "writer"], ids=str)
    def test_a_commit_is_seen_in_any_order(self, first: str) -> None:
        if first == "reader":
            AckReader("plan", 2)
        AckWriter("plan", 2).committed(10)
        assert AckReader("plan", 2).read() == (10, False)

    def test_the_last_commit_counts(self) -> None:
        writer = AckWriter("plan", 2)
        writer.committed(10)
        writer.committed(25)
        assert AckReader("plan", 2).read() == (25, False)

    @pytest.mark.parametrize(("plan", "split"), [("plan", 3), ("another", 2)], ids=["another split", "another plan"])
    def test_others_do_not_see_it(self, plan: str, split: int) -> None:
        AckWriter("plan", 2).committed(10)
        assert AckReader(plan, split).read() == (0, False)


class TestEnd:
    def test_it_keeps_the_number(self) -> None:
        writer = AckWriter("plan", 2)
        writer.committed(10)
        assert finish_seen_by(AckReader("plan", 2), writer) == (10, True)

    def test_without_a_commit(self) -> None:
        assert finish_seen_by(AckReader("plan", 2), AckWriter("plan", 2)) == (0, True)

    def test_it_does_not_wait_for_a_task_that_is_stopped(self) -> None:
        AckReader("plan", 2).stopped()
        started = time.monotonic()
        AckWriter("plan", 2, patience_s=30).finished()
        assert time.monotonic() - started < 25

    def test_it_does_not_wait_forever(self) -> None:
        started = time.monotonic()
        AckWriter("plan", 2, patience_s=0.1).finished()
        assert 0.1 <= time.monotonic() - started < 25

    def test_a_task_that_stops_later_is_not_an_error(self) -> None:
        reader = AckReader("plan", 2)
        AckWriter("plan", 2, patience_s=0).finished()
        reader.stopped()

    def test_nothing_is_left_behind(self, tmp_path: Path) -> None:
        reader, writer = AckReader("plan", 2), AckWriter("plan", 2)
        writer.committed(10)
        finish_seen_by(reader, writer)
        assert list(tmp_path.iterdir()) == []


def test_other_users_cannot_look_into_it(tmp_path: Path) -> None:
    AckWriter("plan", 2)
    (folder,) = tmp_path.iterdir()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


class TestStrangers:
    """The folder of temporary files is everybody's."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        return tmp_path / "kconnect-acks-plan-2"

    def test_a_folder_that_others_can_write_to_is_refused(self, folder: Path) -> None:
        folder.mkdir()
        folder.chmod(0o777)
        with pytest.raises(RetriableError, match="was created by another user"):
            AckWriter("plan", 2)

    def test_a_link_to_another_folder_is_refused(self, folder: Path, tmp_path: Path) -> None:
        (tmp_path / "victim").mkdir(mode=0o700)
        folder.symlink_to(tmp_path / "victim")
        with pytest.raises(RetriableError, match="was created by another user"):
            AckReader("plan", 2)

    def test_another_users_folder_is_refused(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        folder.mkdir(mode=0o700)
        monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
        with pytest.raises(RetriableError, match="was created by another user"):
            AckReader("plan", 2)
