"""Renamed files, young ones, and the order of files."""

from __future__ import annotations

import os
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.connectors.record_files.selection import Rules, select
from airflow_kconnect.connectors.record_files.source import FilesSourceConnector
from airflow_kconnect.java_text.json import partition_identity
from airflow_kconnect.places.address import Address
from airflow_kconnect.places.base import Place, PlacedFile, StagedFile
from airflow_kconnect.places.local import LocalPlace
from tests.support.connectors.plans import plan_context
from tests.unit.connectors.record_files.conftest import Runs, names_below


class TestRenamedFiles:
    def test_are_not_read_twice(self, runs: Runs) -> None:
        path = runs.put("a.csv", "a\n1\n")
        runs.read()
        path.rename(runs.folder / "b.csv")
        assert runs.read() == []
        assert runs.read() == []

    @pytest.mark.parametrize("name", ["b.csv", "a.csv"])
    def test_are_not_others_with_their_inode_and_time(self, runs: Runs, name: str) -> None:
        """Inodes are used again, and programs like rsync set times."""
        path, other = runs.put("a.csv", "a\n1\n"), runs.folder / name
        runs.read()
        before = path.stat()
        path.rename(other)
        other.write_text("a\n22\n")
        os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert (other.stat().st_ino, other.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
        assert runs.read(on_changed="restart") == [{"a": 22}]

    def test_are_continued_where_they_were_left(self, runs: Runs) -> None:
        path = runs.put("a.csv", "a\n1\n2\n3\n")
        runs.read(most=1)
        path.rename(runs.folder / "b.csv")
        assert runs.read() == [{"a": 2}, {"a": 3}]

    def test_leave_their_names_to_new_files(self, runs: Runs) -> None:
        for n in range(4):
            for old in range(n, 0, -1):
                (runs.folder / f"{'a' * old}.csv").rename(runs.folder / f"{'a' * (old + 1)}.csv")
            runs.put("a.csv", f"a\n{n}\n")
            assert runs.read() == [{"a": n}]
            assert runs.read() == []

    def test_may_have_taken_the_name_of_another_one(self, runs: Runs) -> None:
        runs.put("a.csv", "a\n1\n")
        path = runs.put("b.csv", "a\n2\n")
        runs.read()
        path.rename(runs.folder / "a.csv")
        assert runs.read() == []

    def test_that_get_their_old_names_back_are_not_read_from_where_they_had_lost_them(self, runs: Runs) -> None:
        path, other = runs.put("a.csv", "a\n1\n2\n"), runs.folder / "b.csv"
        runs.read(most=1)
        path.rename(other)
        assert runs.read() == [{"a": 2}]
        other.rename(path)
        assert runs.read() == []

    def test_that_get_their_old_names_back_after_a_kill_are_not_either(self, runs: Runs) -> None:
        path, other = runs.put("a.csv", "a\n1\n2\n"), runs.folder / "b.csv"
        runs.read(most=1)
        path.rename(other)
        assert runs.read(tidied=False) == [{"a": 2}]
        other.rename(path)
        assert runs.read() == []

    def test_are_known_under_one_name(self, runs: Runs) -> None:
        runs.put("a.csv", "a\n1\n")
        runs.read()
        (runs.folder / "a.csv").rename(runs.folder / "b.csv")
        runs.read()
        assert list(runs.offsets) == ['{"file":"b.csv"}']

    @pytest.mark.parametrize("tidied", [True, False])
    def test_that_were_moved_leave_their_names_to_new_files(self, runs: Runs, tidied: bool) -> None:
        keys: dict[str, Any] = {"cleanup_policy": "MOVE", "finished_path": str(runs.folder / "done")}
        path = runs.put("a.csv", "a\n1\n2\n")
        runs.read(most=1, **keys)
        path.rename(runs.folder / "b.csv")
        runs.read(tidied=tidied, **keys)
        runs.read(**keys)
        runs.put("a.csv", "a\n5\n")
        assert runs.read(**keys) == [{"a": 5}]

    def test_are_new_ones_if_the_configuration_says_so(self, runs: Runs) -> None:
        path = runs.put("a.csv", "a\n1\n")
        runs.read()
        path.rename(runs.folder / "b.csv")
        assert runs.read(on_renamed="read") == [{"a": 1}]

    def test_are_not_those_that_have_a_second_name(self, runs: Runs) -> None:
        path = runs.put("a.csv", "a\n1\n")
        runs.read()
        os.link(path, runs.folder / "b.csv")
        assert runs.read() == [{"a": 1}]

    def test_are_read_under_their_new_names_by_an_unfinished_plan(self, runs: Runs) -> None:
        path = runs.put("a.csv", "a\n1\n")
        connector = runs.connector()
        [split] = runs.plan(connector).splits
        path.rename(runs.folder / "b.csv")
        assert connector.recheck([(0, split)]) == set()
        frame = connector.batches([(0, split, split.start)])
        assert [row for batch in frame.read(0) for row in batch.column("value_0").to_pylist()] == [{"a": 1}]

    def test_are_found_by_one_listing_for_all_of_an_unfinished_plan(
        self, runs: Runs, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        paths = [runs.put(f"{n}.csv", "a\n1\n") for n in range(5)]
        connector = runs.connector()
        splits = runs.plan(connector).splits
        for path in paths:
            path.rename(f"{path}.new.csv")
        listed = Counter[str]()
        files = LocalPlace.files

        def counted(self: LocalPlace, *args: Any, **keys: Any) -> Iterator[PlacedFile]:
            listed["times"] += 1
            return files(self, *args, **keys)

        monkeypatch.setattr(LocalPlace, "files", counted)
        assert (connector.recheck(list(enumerate(splits))), listed["times"]) == (set(), 1)

    def test_are_moved_under_their_new_names(self, runs: Runs) -> None:
        path = runs.put("a.csv", "a\n1\n")
        runs.read()
        path.rename(runs.folder / "b.csv")
        runs.read(cleanup_policy="MOVE", finished_path=str(runs.folder / "done"))
        assert (runs.folder / "done/b.csv").exists()


@pytest.mark.parametrize(("on_renamed", "read"), [("auto", 1), ("read", 1), ("skip", 0)])
def test_in_a_store_the_same_content_is_a_renamed_file_if_the_configuration_says_so(on_renamed: str, read: int) -> None:
    place = ListedPlace(Address("s3", "bucket", ""), [PlacedFile("b.csv", 3, 2000, '"etag"@2000')])
    offsets = {partition_identity({"file": "a.csv"}): {"version": '"etag"@1000', "done": True}}
    selected = select(place, Rules(on_renamed=on_renamed), plan_context(offsets))
    assert len([start for start in selected.to_read if start.begin is not None]) == read


def test_a_hundred_thousand_offsets_are_searched_within_seconds() -> None:
    files = [PlacedFile(f"{n:06}.csv", 3, n, f"{n}-{n}") for n in range(100_001)]
    offsets = {partition_identity({"file": file.name}): {"version": file.version, "done": True} for file in files[1:]}
    began = time.process_time()
    selected = select(ListedPlace(Address("file", "", "/in"), files), Rules(), plan_context(offsets))
    assert ([start.file for start in selected.to_read], len(selected.read)) == ([files[0]], 100_000)
    assert time.process_time() - began < 20


class TestYoungFiles:
    def test_wait_until_they_have_the_minimum_age(self, runs: Runs) -> None:
        runs.put("a.csv", "a\n1\n")
        connector = runs.connector(**{"file.minimum.age.ms": "3600000"})
        plan = runs.plan(connector)
        assert (plan.splits, plan.notes) == ((), {"young_files": 1})
        hour_ago = time.time() - 3601
        os.utime(runs.folder / "a.csv", (hour_ago, hour_ago))
        assert runs.read(file_minimum_age_ms=3600000) == [{"a": 1}]

    def test_that_were_read_before_are_changed_ones(self, runs: Runs) -> None:
        runs.put("a.csv", "a\n1\n")
        runs.read()
        runs.put("a.csv", "a\n1\n2\n")
        with pytest.raises(DataError, match="was changed or replaced after it was read"):
            runs.read(file_minimum_age_ms=3600000)
        assert runs.read(file_minimum_age_ms=3600000, on_changed="restart") == []


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ("NameAsc", "abcd"),
        ("NameDesc", "dcba"),
        ("LastModifiedAsc", "cabd"),
        ("LengthDesc,NameDesc", "dbca"),
        ("LengthAsc,LastModifiedDesc", "acdb"),
    ],
)
def test_files_are_begun_in_the_order_of_their_attributes(runs: Runs, attributes: str, expected: str) -> None:
    for name, lines, changed in (("a", 1, 20), ("b", 2, 30), ("c", 1, 10), ("d", 2, 40)):
        os.utime(runs.put(f"{name}.txt", "x\n" * lines), (changed, changed))
    splits = runs.plan(runs.connector(**{"files.sort.attributes": attributes})).splits
    assert "".join(split.source_partition["file"][0] for split in splits) == expected


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(ConfigError) as error:
        FilesSourceConnector.config().parse({"directory": "/in", "topic": "t", "files.sort.attributes": "Name"})
    assert list(error.value.errors) == ["files.sort.attributes"]


_STEPS = st.sampled_from(["put", "rename", "run", "stopped", "killed"])


@pytest.mark.parametrize("moves", [False, True])
@settings(deadline=None, max_examples=60)
@given(steps=st.lists(st.tuples(_STEPS, st.integers(0, 3), st.integers(0, 3))))
def test_each_row_is_read_once_whatever_is_renamed_between_runs(moves: bool, steps: list[tuple[str, int, int]]) -> None:
    """A killed run has committed, and not moved what it has read."""
    with tempfile.TemporaryDirectory() as folder:
        runs, written, read = Runs(Path(folder)), 0, []
        keys: dict[str, Any] = {"cleanup_policy": "MOVE", "finished_path": f"{folder}/done"} if moves else {}
        for step, one, other in [*steps, ("run", 0, 0), ("run", 0, 0)]:
            old, new = runs.folder / f"{one}.csv", runs.folder / f"{other}.csv"
            if step == "put" and not old.exists():
                runs.put(old.name, f"a\n{written}\n{written + 1}\n")
                written += 2
            elif step == "rename" and old.exists() and not new.exists():
                old.rename(new)
            elif step in ("run", "stopped", "killed"):
                most = 1 if step == "stopped" else None
                read += [row["a"] for row in runs.read(most=most, tidied=step != "killed", **keys)]
        assert sorted(read) == list(range(written))
        assert len(names_below(runs.folder)) == written // 2
        assert not moves or runs.offsets == {}


class ListedPlace(Place):
    """One that only lists files."""

    def __init__(self, at: Address, files: Sequence[PlacedFile]) -> None:
        super().__init__(at)
        self._files = {file.name: file for file in files}

    def files(
        self, prefix: str = "", *, after: str = "", hidden: bool = False, wanted: Callable[[str], bool] | None = None
    ) -> Iterator[PlacedFile]:
        return (file for file in self._files.values() if wanted is None or wanted(file.name))

    def find(self, name: str) -> PlacedFile | None:
        return self._files.get(name)

    def read(self, file: PlacedFile) -> NoReturn:
        raise AssertionError

    def stage(self, name: str, part_bytes: int = 0) -> NoReturn:
        raise AssertionError

    def check(self) -> None:
        """It is there."""

    def publish(self, staged: StagedFile) -> None:
        raise AssertionError

    def discard(self, staged: StagedFile) -> None:
        raise AssertionError

    def staged(self, prefix: str = "") -> Iterator[StagedFile]:
        return iter(())

    def remove(self, file: PlacedFile) -> bool:
        raise AssertionError
