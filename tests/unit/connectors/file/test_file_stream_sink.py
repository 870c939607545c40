"""FileStreamSink: segments, and how they get into the file."""

from __future__ import annotations

import errno
import fcntl
import os
import pickle
import stat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.errors import ConfigError, DataError, FencedError, RetriableError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.file import sink
from airflow_kconnect.connectors.file.sink import FileStreamSinkConnector


def connector(file: Path | None, name: str = "out") -> FileStreamSinkConnector:
    return FileStreamSinkConnector({"name": name, **({"file": str(file)} if file else {})})


def written(to: FileStreamSinkConnector, split: SinkSplit, *texts: str) -> tuple[SinkSplit, dict[str, Any]]:
    writer = pickle.loads(pickle.dumps(to.writer()))  # noqa: S301
    writer.open(split)
    for first in range(0, len(texts), 2):
        lines = pa.array(["skipped", *texts], pa.string()).slice(1 + first, 2)
        writer.write(pa.record_batch({"line": lines}))
    return split, writer.close(split.end)


def two_splits(to: FileStreamSinkConnector) -> list[tuple[SinkSplit, dict[str, Any]]]:
    later = written(to, SinkSplit("t", 0, 3, 5), "d\n", "e\n")
    return [later, written(to, SinkSplit("t", 0, 0, 3), "a\n", "ü\n", "c\n")]


@pytest.mark.parametrize("scheme", ["s3", "s3a", "gs", "abfss", "hdfs"])
def test_an_object_of_a_store_is_refused(scheme: str) -> None:
    (problem,) = FileStreamSinkConnector.validate({"file": f"{scheme}://bucket/out.txt"})["file"]
    assert problem.endswith("nothing can be appended to an object of a store: use DirectorySink")


@pytest.mark.parametrize("file", [None, "/data/out.txt", "out.txt"])
def test_a_file_of_this_machine_is_none_of_a_store(file: str | None) -> None:
    assert FileStreamSinkConnector.validate({"file": file} if file else {}) == {}


class TestCommit:
    def test_appends_in_order_and_cleans_up(self, tmp_path: Path) -> None:
        target = tmp_path / "out.txt"
        target.write_text("before\n")
        to = connector(target)
        results = [written(to, SinkSplit("u", 0, 0, 1), "last\n"), *two_splits(to)]
        assert target.read_text() == "before\n"
        assert to.commit(results) == {"file": str(target), "records": 6}
        assert target.read_text() == "before\na\nü\nc\nd\ne\nlast\n"
        assert list(tmp_path.iterdir()) == [target]

    def test_a_run_whose_segments_were_removed_by_a_newer_one_appends_nothing(self, tmp_path: Path) -> None:
        older, newer = connector(tmp_path / "out.txt"), connector(tmp_path / "out.txt")
        results = [written(older, SinkSplit("s", 0, 0, 1), "first\n"), *two_splits(older)]
        newer.prepare({TopicPartition("t", 0): 0})
        with pytest.raises(FencedError, match="another run of this connector has removed it"):
            older.commit(results)
        assert (tmp_path / "out.txt").read_text() == ""

    def test_no_one_else_appends_meanwhile(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sink, "_LOCK_PATIENCE_S", 0.2)
        target = tmp_path / "out.txt"
        to = connector(target)
        results = two_splits(to)
        with sink._appending(target) as other, pytest.raises(RetriableError, match=r"appending to .*out\.txt"):
            other.write(b"of another run\n")
            to.commit(results)
        to.commit(results)
        assert target.read_text() == "of another run\na\nü\nc\nd\ne\n"

    def test_an_error_leaves_no_half_line(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        target = tmp_path / "out.txt"
        target.write_text("before\n")
        to = connector(target)
        results = two_splits(to)

        def broken(handle: int) -> None:
            raise OSError(27, "File too large")

        with monkeypatch.context() as patched:
            patched.setattr(os, "fsync", broken)
            with pytest.raises(DataError, match=r"cannot write .*out\.txt: File too large"):
                to.commit(results)
        assert target.read_text() == "before\n"
        to.commit(results)
        assert target.read_text() == "before\na\nü\nc\nd\ne\n"

    def test_where_files_have_no_locks_a_run_that_fails_cuts_no_lines_of_another_off(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(fcntl, "flock", _without_locks)
        target = tmp_path / "out.txt"
        newer, older = connector(target), sink._appending(target)
        with pytest.raises(FencedError), older:  # which was stopped there
            newer.commit(two_splits(newer))
            raise FencedError("a segment is gone")
        assert target.read_text() == "a\nü\nc\nd\ne\n"

    def test_without_a_file_the_lines_are_printed(self, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
        to = connector(None)
        to.commit(two_splits(to))
        assert capfdbinary.readouterr().out == "a\nü\nc\nd\ne\n".encode()

    def test_a_relative_name_is_the_drivers(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        _, facts = written(connector(Path("out.txt")), SinkSplit("t", 0, 0, 1), "a\n")
        assert Path(facts["segment"]).parent == tmp_path


def _without_locks(*_: object) -> None:
    raise OSError(errno.ENOLCK, "No locks available")


class TestPrepare:
    def test_removes_segments_of_its_partitions_only(self, tmp_path: Path) -> None:
        to = connector(tmp_path / "out.txt")
        two_splits(to)
        _, other = written(to, SinkSplit("t", 1, 0, 3), "a\n")
        (tmp_path / ".out.txt.t+0+0.tmp").write_text("")
        to.prepare({TopicPartition("t", 0): 0})
        assert {path.name for path in tmp_path.iterdir()} == {Path(other["segment"]).name, ".out.txt.t+0+0.tmp"}

    @pytest.mark.parametrize(
        ("file", "name", "topic"),
        [("a.b", "out", "c"), ("a.b", "other", "b.c"), ("a", "other", "b.c")],
        ids=["a name that begins likewise", "another target", "another connector"],
    )
    def test_segments_of_other_sinks_stay(self, tmp_path: Path, file: str, name: str, topic: str) -> None:
        to = connector(tmp_path / "a")
        results = [written(to, SinkSplit("b.c", 0, 0, 1), "a\n")]
        connector(tmp_path / file, name).prepare({TopicPartition(topic, 0): 0})
        to.commit(results)
        assert (tmp_path / "a").read_text() == "a\n"


class TestStandardOutput:
    @pytest.fixture(autouse=True)
    def _temporary(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def test_segments_lie_in_a_folder_that_others_may_not_enter(self, tmp_path: Path) -> None:
        to = connector(None)
        _, facts = written(to, SinkSplit("t", 0, 0, 1), "a\n")
        folder = Path(facts["segment"]).parent
        assert (folder.parent, stat.S_IMODE(folder.stat().st_mode)) == (tmp_path, 0o700)

    @pytest.mark.parametrize("name", ["a/b", "../../x", ".."])
    def test_the_name_of_the_connector_does_not_lead_out_of_the_temporary_folder(
        self, tmp_path: Path, name: str
    ) -> None:
        _, facts = written(connector(None, name), SinkSplit("t", 0, 0, 1), "a\n")
        assert Path(facts["segment"]).resolve().parents[1] == tmp_path

    def test_what_a_killed_run_left_goes(self, tmp_path: Path) -> None:
        killed, other = connector(None), connector(None, "other")
        two_splits(killed)
        _, kept = written(other, SinkSplit("t", 0, 0, 1), "a\n")
        connector(None).prepare({TopicPartition("t", 0): 0})
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == [Path(kept["segment"])]


class TestWriter:
    def test_abort_leaves_nothing(self, tmp_path: Path) -> None:
        writer = connector(tmp_path / "out.txt").writer()
        writer.open(SinkSplit("t", 0, 0, 1))
        writer.abort()
        assert list(tmp_path.iterdir()) == []


class TestCheck:
    def test_a_new_file_is_fine(self, tmp_path: Path) -> None:
        connector(tmp_path / "out.txt").check()
        connector(None).check()

    @pytest.mark.parametrize(
        ("name", "problem"),
        [
            ("missing/out.txt", "there is no folder"),
            ("file/out.txt", "there is no folder"),
            ("folder", "is not a regular file"),
            ("pipe", "is not a regular file"),
        ],
    )
    def test_what_cannot_work_is_named(self, tmp_path: Path, name: str, problem: str) -> None:
        (tmp_path / "file").write_text("")
        (tmp_path / "folder").mkdir()
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ConfigError, match=rf"`file`: .*{name} .*{problem}"):
            connector(tmp_path / name).check()

    @pytest.mark.parametrize("exists", [True, False])
    def test_missing_permission_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exists: bool) -> None:
        if exists:
            (tmp_path / "out.txt").write_text("")
        monkeypatch.setattr(os, "access", lambda *_: False)
        with pytest.raises(ConfigError, match="the user of this job"):
            connector(tmp_path / "out.txt").check()
