"""The directory sink in the driver: validation, what it cleans up, and how files become visible."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.errors import ConfigError, FencedError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.directory.sink import DirectorySinkConnector
from airflow_kconnect.places.address import address
from airflow_kconnect.places.base import PlacedFile
from airflow_kconnect.places.local import LocalPlace


def connector(folder: Path, **props: str) -> DirectorySinkConnector:
    return DirectorySinkConnector({"directory": str(folder), **props})


def prepared(folder: Path, start: int) -> DirectorySinkConnector:
    """The sink of a run that begins at an offset, before its first round is committed."""
    made = connector(folder)
    made.prepare({TopicPartition("t", 3): start})
    made.before_commit()
    return made


def folder_of(root: Path) -> Path:
    folder = root / "t" / "partition=3"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def closed(root: Path, start: int, end: int, *offsets: int, text: str = "new") -> tuple[SinkSplit, dict[str, Any]]:
    """A split whose writer has closed; its files begin at the offsets."""
    files = []
    for offset in offsets:
        staging = LocalPlace(address(str(root))).stage(f"t/partition=3/t+3+{offset:010d}.json")
        staging.write(text.encode())
        files.append({**staging.finish().to_json(), "records": 1})
    return SinkSplit("t", 3, start, end), {"end": end, "files": files}


def seen(root: Path) -> list[str]:
    return sorted(path.name for path in folder_of(root).iterdir())


class TestConfig:
    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("directory", "relative/folder"),
            ("directory", "s3://bucket/../folder"),
            ("directory", "ftp://bucket/folder"),
            ("format", "orc"),
            ("flush.size", "0"),
            ("compression", "bzip2"),
        ],
    )
    def test_a_wrong_value_is_refused(self, tmp_path: Path, key: str, value: str) -> None:
        with pytest.raises(ConfigError) as raised:
            connector(tmp_path, **{key: value})
        assert list(raised.value.errors) == [key]

    def test_the_directory_is_required(self) -> None:
        with pytest.raises(ConfigError, match="directory"):
            DirectorySinkConnector({})

    @pytest.mark.parametrize(
        ("props", "valid"),
        [
            ({}, True),
            ({"compression": "gzip"}, True),
            ({"compression": "deflate"}, False),
            ({"format": "parquet", "compression": "zstd"}, True),
            ({"format": "avro", "compression": "zstd"}, True),
            ({"format": "avro", "compression": "gzip"}, False),
            ({"format": "bytes", "compression": "lz4"}, True),
        ],
    )
    def test_compression_must_fit_the_format(self, props: dict[str, str], valid: bool) -> None:
        assert (DirectorySinkConnector.validate(props) == {}) is valid

    def test_files_without_fields_take_no_policy_for_fields(self) -> None:
        problems = DirectorySinkConnector.validate({"format": "text", "kconnect.schema.change": "fail"})
        assert problems == {
            "kconnect.schema.change": ["is fail, but files of this `format` have no fields: remove the key"]
        }

    @pytest.mark.parametrize(
        ("props", "name"),
        [
            ({}, "t+3+0000000007.json"),
            ({"compression": "gzip"}, "t+3+0000000007.json.gz"),
            ({"format": "parquet"}, "t+3+0000000007.parquet"),
            ({"format": "parquet", "compression": "gzip"}, "t+3+0000000007.parquet"),
            ({"compression": "zstd"}, "t+3+0000000007.json.zst"),
            ({"format": "text", "compression": "lz4"}, "t+3+0000000007.txt.lz4"),
            ({"format": "bytes", "compression": "snappy"}, "t+3+0000000007.bin.snappy"),
            ({"format": "avro"}, "t+3+0000000007.avro"),
        ],
    )
    def test_file_names(self, tmp_path: Path, props: dict[str, str], name: str) -> None:
        layout = connector(tmp_path, **props)._layout
        assert layout.file(TopicPartition("t", 3), 7) == f"t/partition=3/{name}"
        assert layout.file(TopicPartition("t", 3), 12345678901).startswith("t/partition=3/t+3+12345678901.")


class TestCheck:
    def test_the_directory_is_not_made_before_a_file_is_written(self, tmp_path: Path) -> None:
        made = connector(tmp_path / "a" / "b")
        made.check()
        made.prepare({TopicPartition("t", 3): 0})
        assert not (tmp_path / "a").exists()

    @pytest.mark.parametrize("below", ["", "folder"])
    def test_a_file_in_the_way_is_named(self, tmp_path: Path, below: str) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(ConfigError, match=r"`directory`: cannot create the folder .*/file"):
            connector(tmp_path / "file" / below).check()

    def test_a_directory_that_may_not_be_written_is_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("os.access", lambda *_: False)
        with pytest.raises(ConfigError, match=r"`directory`: the user of this job may not write to"):
            connector(tmp_path).check()

    def test_one_below_a_directory_that_may_not_be_entered_is_named(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise PermissionError(errno.EACCES, "Permission denied")

        sink = connector(tmp_path / "folder")
        monkeypatch.setattr("os.stat", refuse)
        with pytest.raises(ConfigError, match=r"`directory`: cannot create the folder .*/folder: Permission denied"):
            sink.check()


class TestPrepare:
    def test_removes_own_temporary_files_and_nothing_else(self, tmp_path: Path) -> None:
        closed(tmp_path, 0, 9, 0, 5)
        keep = [
            ".t+3+0000000000.json.tmp",
            ".t+4+0000000000.json." + "0" * 32 + ".tmp",
            "notes.txt",
            "t+3+0000000007.json",
        ]
        for name in keep:
            (folder_of(tmp_path) / name).write_text("")
        connector(tmp_path).prepare({TopicPartition("t", 3): 0, TopicPartition("t", 9): 0})
        assert seen(tmp_path) == sorted(keep)


class TestCommit:
    def test_makes_files_visible(self, tmp_path: Path) -> None:
        results = [closed(tmp_path, 0, 10, 0, 5), closed(tmp_path, 10, 20), closed(tmp_path, 20, 30, 21)]
        facts = connector(tmp_path).commit(results)
        assert facts == {"files": 3, "records": 3, "replaced_files": 0}
        assert seen(tmp_path) == ["t+3+0000000000.json", "t+3+0000000005.json", "t+3+0000000021.json"]

    def test_replaces_what_a_killed_run_left_at_the_same_offsets(self, tmp_path: Path) -> None:
        folder = folder_of(tmp_path)
        before = ["t+3+0000000008.json", "t+3+0000000010.json", "t+3+0000000013.json.gz", "t+3+0000000019.parquet"]
        before += ["t+3+0000000014.json.zst", "t+3+0000000016.avro", "t+3+0000000017.bin.lz4"]
        after = [
            "t+3+0000000020.json",
            "u+3+0000000012.json",
            "t+30+0000000012.json",
            "t+3+12.json",
            "t+3+0000000012.csv",
        ]
        for name in before + after:
            (folder / name).write_text("old")
        facts = prepared(tmp_path, 10).commit([closed(tmp_path, 10, 20, 10, 15)])
        assert facts["replaced_files"] == 5
        assert seen(tmp_path) == sorted([before[0], "t+3+0000000010.json", "t+3+0000000015.json", *after])
        assert (folder / "t+3+0000000010.json").read_text() == "new"

    def test_looks_only_at_files_from_its_offsets_on(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        looked: list[str] = []
        look = LocalPlace._seen

        def noted(place: LocalPlace, name: str, path: Path) -> PlacedFile | None:
            looked.append(name)
            return look(place, name, path)

        monkeypatch.setattr(LocalPlace, "_seen", noted)
        for offset in (0, 5, 10):
            (folder_of(tmp_path) / f"t+3+{offset:010d}.json").write_text("old")
        prepared(tmp_path, 5)
        assert looked == [f"t/partition=3/t+3+{offset:010d}.json" for offset in (5, 10)]

    @pytest.mark.parametrize("start", [0, 999_999_999, 1_000_000_000, 9_999_999_990, 10_000_000_000])
    def test_it_finds_offsets_that_have_more_digits_than_others(self, tmp_path: Path, start: int) -> None:
        offsets = [start, start + 5, 9_999_999_999, 10_000_000_000, 99_999_999_999, 100_000_000_000]
        for offset in offsets:
            (folder_of(tmp_path) / f"t+3+{offset:010d}.json").write_text("old")
        found = connector(tmp_path)._layout.visible(TopicPartition("t", 3), start)
        assert [file.offset for file in found] == sorted({offset for offset in offsets if offset >= start})

    def test_so_it_does_for_a_topic_whose_name_begins_with_a_dot(self, tmp_path: Path) -> None:
        folder = tmp_path / ".t" / "partition=3"
        folder.mkdir(parents=True)
        (folder / ".t+3+0000000005.json").write_text("left")
        sink = connector(tmp_path)
        sink.prepare({TopicPartition(".t", 3): 0})
        sink.before_commit()
        facts = sink.commit([(SinkSplit(".t", 3, 0, 10), {"end": 10, "files": []})])
        assert facts["replaced_files"] == 1
        assert list(folder.iterdir()) == []

    def test_offsets_that_were_filtered_replace_files_too(self, tmp_path: Path) -> None:
        (folder_of(tmp_path) / "t+3+0000000010.json").write_text("old")
        assert prepared(tmp_path, 10).commit([closed(tmp_path, 10, 20)])["replaced_files"] == 1
        assert seen(tmp_path) == []

    def test_a_run_whose_files_were_removed_by_a_newer_one_stops(self, tmp_path: Path) -> None:
        older = prepared(tmp_path, 0)
        results = [closed(tmp_path, 0, 10, 0, 5)]
        prepared(tmp_path, 0).commit([closed(tmp_path, 0, 10, 0, 3)])
        with pytest.raises(FencedError, match="another run of this connector"):
            older.commit(results)
        assert seen(tmp_path) == ["t+3+0000000000.json", "t+3+0000000003.json"]

    @pytest.mark.parametrize("name", ["t+3+0000000004.json", "t+3+0000000007.json"], ids=["replaced", "new"])
    def test_files_of_a_newer_run_stay(self, tmp_path: Path, name: str) -> None:
        path = folder_of(tmp_path) / name
        (folder_of(tmp_path) / "t+3+0000000004.json").write_text("of a run that was killed")
        older = prepared(tmp_path, 0)
        newer = path.with_name("new")
        newer.write_text("of the newer run")
        newer.replace(path)
        older.commit([closed(tmp_path, 0, 10, 0)])
        assert path.read_text() == "of the newer run"


class TestStartProblems:
    """Files begin at 0, 100 and 200; the group has committed 300."""

    @pytest.fixture
    def archive(self, tmp_path: Path) -> Path:
        for offset in (0, 100, 200):
            (folder_of(tmp_path) / f"t+3+{offset:010d}.json").write_text("old")
        return tmp_path

    def problems(self, archive: Path, start: int, committed: int | None = 300) -> list[str]:
        topic_partition = TopicPartition("t", 3)
        props = {"directory": str(archive)}
        return DirectorySinkConnector.start_problems(
            props, {topic_partition: start}, {} if committed is None else {topic_partition: committed}
        )

    @pytest.mark.parametrize("start", [0, 100, 200, 300, 350])
    def test_where_a_file_begins_or_after_the_last_one_a_run_may_start(self, archive: Path, start: int) -> None:
        assert self.problems(archive, start) == []

    @pytest.mark.parametrize(("start", "possible"), [(1, "0 or 100"), (199, "100 or 200"), (201, "200 or 300")])
    def test_where_a_file_may_have_records_before_and_after_it_may_not(
        self, archive: Path, start: int, possible: str
    ) -> None:
        (problem,) = self.problems(archive, start)
        assert f"offset {start} may be in the middle of" in problem
        assert f"use {possible}, or move" in problem

    def test_after_the_last_file_of_a_forgotten_group_it_may(self, archive: Path) -> None:
        assert self.problems(archive, 250, None) == []

    def test_before_the_first_file_it_may(self, tmp_path: Path) -> None:
        (folder_of(tmp_path) / "t+3+0000000100.json").write_text("old")
        assert self.problems(tmp_path, 50) == []

    def test_of_a_store_that_cannot_be_reached_from_here_nothing_is_known(self) -> None:
        props = {"directory": "s3://lake/raw", "store.profile": "of-another-machine"}
        assert DirectorySinkConnector.start_problems(props, {TopicPartition("t", 3): 5}, {}) == []

    def test_without_the_folder_nothing_is_known(self, tmp_path: Path) -> None:
        assert self.problems(tmp_path / "none", 50) == []
