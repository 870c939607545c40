"""Rotated logs: what was read under another name is not read again, and nothing of it is missed."""

from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connectors.file.source import FileStreamSourceConnector
from airflow_kconnect.java_text.json import partition_identity
from airflow_kconnect.runs.warnings import Kind, kind_of
from tests.support.connectors.plans import plan_context

Lines = list[str]


class Runs:
    """Runs of a connector: each plan counts as carried out."""

    def __init__(self, folder: Path, **props: str) -> None:
        self.props = {"topic": "t", **{key.replace("_", "."): text for key, text in props.items()}}
        self.folder = folder
        self.notes: dict[str, Any] = {}
        self._offsets: dict[str, Any] = {}
        self._facts: dict[str, Any] = {}

    def run(self, plan_splits: int | None = None) -> Lines:
        """The lines that the run reads. :param plan_splits: of its one plan, which then may not hold everything."""
        connector, lines = FileStreamSourceConnector(self.props), []
        plan = connector.plan(plan_context(self._offsets, self._facts, splits_max=1, plan_splits=plan_splits))
        self.notes = plan.notes
        for split in plan.splits:
            data = Path(split.source_partition["filename"]).read_bytes()[int(split.start) : int(split.end)]
            lines += data.decode().splitlines()
            identity = partition_identity(split.source_partition)
            self._offsets[identity] = connector.offset(split, split.end)
            self._facts[identity] = connector.facts(split)
        return lines

    def write(self, text: str, name: str = "app.log") -> None:
        with (self.folder / name).open("a") as file:
            file.write(text)

    def rotate(self) -> None:
        """As logrotate does: app.log.1 becomes app.log.2, app.log becomes app.log.1, and there is a new app.log."""
        for number in range(3, -1, -1):
            old = self.folder / ("app.log" + (f".{number}" if number else ""))
            if old.exists():
                old.rename(self.folder / f"app.log.{number + 1}")
        (self.folder / "app.log").touch()

    def copy_and_truncate(self, name: str = "app.log") -> None:
        """As logrotate does with `copytruncate`."""
        for number in range(3, 0, -1):
            if (old := self.folder / f"{name}.{number}").exists():
                old.rename(self.folder / f"{name}.{number + 1}")
        log = self.folder / name
        if log.exists():
            (self.folder / f"{name}.1").write_bytes(log.read_bytes())
            os.truncate(log, 0)

    def compress(self, name: str) -> None:
        """As gzip does."""
        if (plain := self.folder / name).exists():
            (self.folder / f"{name}.gz").write_bytes(gzip.compress(plain.read_bytes()))
            plain.unlink()


@pytest.fixture
def all_logs(tmp_path: Path) -> Runs:
    return Runs(tmp_path, files=f"{tmp_path}/app.log*")


def test_renamed_file_is_continued_and_the_new_one_is_read_from_its_beginning(all_logs: Runs) -> None:
    all_logs.write("a\nb\n")
    first = all_logs.run()
    all_logs.write("c\n")
    all_logs.rotate()
    all_logs.write("d\ne\nf\ng\n")
    assert (first, sorted(all_logs.run()), all_logs.run()) == (["a", "b"], ["c", "d", "e", "f", "g"], [])


def test_several_rotations_between_runs_with_lines_or_without(tmp_path: Path) -> None:
    """The oldest files are removed, and leave their names to others."""
    logs = Runs(tmp_path, files=f"{tmp_path}/app.log*", on_replaced="restart")
    written, read = [], []
    for turn in range(24):
        for _ in range(turn % 3):
            logs.rotate()
        if turn % 4:
            written.append(f"line {turn}")
            logs.write(f"line {turn}\n")
        read += logs.run()
    assert sorted(read) == sorted(written)


def test_new_file_with_a_reused_inode_is_not_taken_for_a_renamed_one(all_logs: Runs) -> None:
    all_logs.write("a\nb\n")
    all_logs.run()
    (all_logs.folder / "app.log").rename(all_logs.folder / "app.log.1")
    (all_logs.folder / "app.log.1").write_text("c\nd\n")
    assert all_logs.run() == ["c", "d"]


def test_new_file_that_begins_as_the_renamed_one_did_is_read_from_its_beginning(all_logs: Runs) -> None:
    all_logs.write("started\n")
    all_logs.run()
    all_logs.rotate()
    all_logs.write("started\nready\n")
    assert all_logs.run() == ["started", "ready"]


def test_new_file_with_the_inode_and_the_contents_of_a_removed_one_is_read(all_logs: Runs) -> None:
    all_logs.write("fine\n")
    all_logs.run()
    (all_logs.folder / "app.log").rename(all_logs.folder / "app.log.1")
    (all_logs.folder / "app.log.1").write_text("fine\n")
    os.utime(all_logs.folder / "app.log.1", (0, 0))
    assert all_logs.run() == ["fine"]


def test_second_name_of_a_file_is_a_file_of_its_own(all_logs: Runs) -> None:
    all_logs.write("a\n")
    all_logs.run()
    os.link(all_logs.folder / "app.log", all_logs.folder / "app.log.copy")
    assert all_logs.run() == ["a"]


def test_replaced_file_that_is_nowhere_else_is_an_error(all_logs: Runs) -> None:
    all_logs.write("a\nb\n")
    all_logs.run()
    (all_logs.folder / "app.log").write_text("c\n")
    with pytest.raises(DataError, match="it was truncated or replaced"):
        all_logs.run()


@pytest.mark.parametrize(("late", "kinds"), [("c\n", [Kind.LOST]), ("", [])], ids=["unread lines", "none"])
def test_single_file_that_was_rotated_is_found_in_its_folder(
    tmp_path: Path, late: str, kinds: list[Kind], all_logs: Runs
) -> None:
    runs: Callable[..., Runs] = lambda policy: Runs(tmp_path, file=f"{tmp_path}/app.log", on_replaced=policy)  # noqa: E731
    strict, lenient = runs("fail"), runs("restart")
    all_logs.write("a\nb\n")
    assert strict.run() == lenient.run() == ["a", "b"]
    all_logs.write(late)
    all_logs.rotate()
    all_logs.write("d\n")
    with pytest.raises(DataError, match=r"replaced; it is \S+/app\.log\.1 now\. Set `on\.replaced=restart`"):
        strict.run()
    assert (lenient.run(), [kind_of(warning) for warning in lenient.notes.get("warnings", [])]) == (["d"], kinds)


class TestCopiedAndTruncatedLogs:
    @pytest.fixture
    def logs(self, tmp_path: Path) -> Runs:
        return Runs(tmp_path, files=f"{tmp_path}/app.log*", on_replaced="copytruncate")

    def test_are_continued_in_their_copies(self, logs: Runs) -> None:
        logs.write("a\nb\n")
        first = logs.run()
        logs.write("c\n")
        logs.copy_and_truncate()
        logs.write("d\n")
        assert (first, logs.run(), logs.run()) == (["a", "b"], ["c", "d"], [])

    def test_may_be_empty_afterwards(self, logs: Runs) -> None:
        logs.write("a\nb\n")
        logs.run()
        logs.copy_and_truncate()
        assert (logs.run(), logs.run()) == ([], [])
        logs.write("c\n")
        assert logs.run() == ["c"]

    @pytest.mark.parametrize("name", ["app.log.1", "app.log.2"])
    def test_may_have_copies_with_the_inodes_of_removed_ones(self, logs: Runs, name: str) -> None:
        logs.write("a\n")
        logs.copy_and_truncate()
        logs.copy_and_truncate()
        logs.write("b\n")
        first = logs.run()
        (logs.folder / name).unlink()
        logs.copy_and_truncate()
        assert (sorted(first), logs.run(), logs.run()) == (["a", "b"], [], [])

    @pytest.mark.parametrize("is_empty", [False, True])
    def test_may_have_a_copy_with_the_inode_of_a_removed_one(self, logs: Runs, is_empty: bool) -> None:
        logs.write("a\n")
        logs.run()
        logs.copy_and_truncate()
        logs.run()
        if is_empty:
            logs.copy_and_truncate()
            logs.run()
        logs.write("b\n")
        logs.run()
        logs.write("c\n")
        (logs.folder / "app.log.1").write_bytes((logs.folder / "app.log").read_bytes())
        os.truncate(logs.folder / "app.log", 0)
        assert (logs.run(), logs.run()) == (["c"], [])

    def test_may_be_copied_several_times_between_runs(self, logs: Runs) -> None:
        logs.write("a\n")
        logs.run()
        for text in ("b\n", "c\n", "d\n"):
            logs.write(text)
            logs.copy_and_truncate()
        assert sorted(logs.run()) == ["b", "c", "d"]

    def test_may_be_more_than_a_plan_holds(self, logs: Runs) -> None:
        names = [f"app.log.{name}" for name in "abc"]
        for name in names:
            logs.write(f"{name} 1\n", name)
        logs.run()
        for name in names:
            logs.write(f"{name} 2\n", name)
            logs.copy_and_truncate(name)
            logs.write(f"{name} 3\n", name)
        read = [line for _ in range(6) for line in logs.run(plan_splits=1)]
        assert sorted(read) == [f"{name} {number}" for name in names for number in (2, 3)]

    @pytest.mark.parametrize("first", ["started\n", "started\nready\n"])
    def test_may_begin_alike(self, logs: Runs, first: str) -> None:
        logs.write(first, "app.log.a")
        logs.write("started\n", "app.log.b")
        logs.run()
        for name in ("app.log.b", "app.log.a"):
            logs.write("ready\ndone\n", name)
            logs.copy_and_truncate(name)
        assert (sorted(logs.run()), logs.run()) == (["done", "done", "ready", "ready"], [])

    def test_without_a_copy_are_an_error(self, logs: Runs) -> None:
        logs.write("a\nb\n")
        logs.run()
        os.truncate(logs.folder / "app.log", 0)
        with pytest.raises(DataError, match="it was truncated or replaced"):
            logs.run()

    def test_are_read_in_their_copies_by_an_unfinished_plan(self, logs: Runs) -> None:
        logs.write("a\nb\n")
        connector = FileStreamSourceConnector(logs.props)
        nothing = plan_context(splits_max=1)
        [split] = connector.plan(nothing).splits
        logs.copy_and_truncate()
        assert connector.recheck([(0, split)]) == set()
        assert connector._renamed == {f"{logs.folder}/app.log": f"{logs.folder}/app.log.1"}


def test_compressed_logs_are_left_out_without_a_warning(all_logs: Runs) -> None:
    all_logs.write("a\n")
    all_logs.run()
    all_logs.rotate()
    all_logs.run()
    all_logs.compress("app.log.1")
    (all_logs.folder / "app.log-20261126.gz").write_bytes(b"\x1f\x8b")
    assert (all_logs.run(), all_logs.notes) == ([], {})


def test_other_compressed_files_have_a_warning(all_logs: Runs) -> None:
    all_logs.write("a\n")
    all_logs.compress("app.log")
    assert all_logs.run() == []
    assert "app.log.gz is compressed: decompress it" in all_logs.notes["warnings"][0]


def test_hidden_compressed_files_and_folders_with_such_names_have_no_warning(all_logs: Runs) -> None:
    (all_logs.folder / "app.log.d.gz").mkdir()
    (all_logs.folder / ".app.log.gz").write_bytes(b"\x1f\x8b")
    folder = Runs(all_logs.folder, files=str(all_logs.folder))
    assert (folder.run(), folder.notes) == ([], {})


_STEPS = st.lists(st.sampled_from(["write", "write", "open", "rotate", "compress", "run"]), max_size=25)


@pytest.mark.parametrize("how", ["renamed", "copied"])
@settings(deadline=None, max_examples=80)
@given(steps=_STEPS)
def test_each_line_is_read_once_whatever_logrotate_does_between_runs(how: str, steps: list[str]) -> None:
    """Logs are compressed once a run has read them since they were rotated, and removed when there are five."""
    with tempfile.TemporaryDirectory() as folder:
        logs = Runs(
            Path(folder), files=f"{folder}/app.log*", on_replaced="copytruncate" if how == "copied" else "restart"
        )
        written: Lines = []
        read: Lines = []
        unread, opened = 0, ""  # rotations since the last run
        for step in [*steps, "run", "run"]:
            if step == "write":
                logs.write(f"line {len(written)}\n")
                written.append(f"{opened}line {len(written)}")
                opened = ""
            elif step == "open":  # a line that has not ended
                logs.write("open ")
                opened += "open "
            elif step == "rotate" and unread < 3 and not opened:
                logs.rotate() if how == "renamed" else logs.copy_and_truncate()
                unread += 1
            elif step == "compress" and not unread:
                logs.compress("app.log.2")
            elif step == "run":
                read += logs.run()
                unread = 0
        assert sorted(read) == sorted(written)
