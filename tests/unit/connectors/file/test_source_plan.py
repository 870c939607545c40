"""What a run of the file source reads: byte ranges that begin and end at lines."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from airflow_kconnect.connect.connector.source import Offset, SourcePlan, Split
from airflow_kconnect.connect.errors import ConfigError, DataError
from airflow_kconnect.connectors.file.inputs import fingerprint
from airflow_kconnect.connectors.file.lines import read_lines
from airflow_kconnect.connectors.file.source import FileStreamSourceConnector
from airflow_kconnect.java_text.json import partition_identity
from tests.support.connectors.plans import plan_context

Ranges = list[tuple[int, int]]
IndexedSplits = list[tuple[int, Split]]


class Source:
    """A file and a connector that reads it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.partition = {"filename": str(path)}

    def write(self, data: bytes) -> Source:
        self.path.write_bytes(data)
        return self

    def connector(self, **props: str) -> FileStreamSourceConnector:
        keys = {key.replace("_", "."): value for key, value in props.items()}
        return FileStreamSourceConnector({"file": str(self.path), "topic": "t", **keys})

    def plan(
        self,
        position: Any = None,
        *,
        facts: Mapping[str, Any] | None = None,
        max_records: int | None = None,
        splits_max: int | None = None,
        **props: str,
    ) -> SourcePlan:
        """A plan from a committed position, or from no offset at all."""
        offset = None if position is None else {"position": position}
        identity = partition_identity(self.partition)
        return self.connector(**props).plan(
            plan_context(
                {identity: offset} if offset else {},
                {identity: facts} if facts else {},
                max_records=max_records,
                splits_max=splits_max,
            )
        )


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(tmp_path / "in.txt")


def ranges(plan: SourcePlan) -> Ranges:
    return [(int(split.start), int(split.end)) for split in plan.splits]


class TestRange:
    @pytest.mark.parametrize(
        ("data", "position", "expected"),
        [
            pytest.param(b"", None, [], id="empty file"),
            pytest.param(b"abc", None, [], id="no line ends"),
            pytest.param(b"abc\n", None, [(0, 4)], id="one line"),
            pytest.param(b"abc\nde", None, [(0, 4)], id="the tail is held back"),
            pytest.param(b"abc\r\nde\r", None, [(0, 5)], id="a carriage return at the end may get its line feed"),
            pytest.param(b"abc\nde\n", 4, [(4, 7)], id="from the offset"),
            pytest.param(b"abc\nde\n", 7, [], id="nothing new"),
            pytest.param(b"abc\nde\n", 0, [(0, 7)], id="from offset 0"),
            pytest.param(b"abc\nde", 4, [], id="nothing but a tail is new"),
        ],
    )
    def test_table(self, source: Source, data: bytes, position: int | None, expected: Ranges) -> None:
        assert ranges(source.write(data).plan(position)) == expected

    @pytest.mark.parametrize(
        ("data", "notes"),
        [(b"abc\n", {}), (b"abc\nde", {"held_back_bytes": 2}), (b"abc", {"held_back_bytes": 3})],
        ids=["nothing", "a tail", "everything"],
    )
    def test_what_is_held_back_is_noted(self, source: Source, data: bytes, notes: dict[str, int]) -> None:
        assert source.write(data).plan().notes == notes

    def test_the_source_partition_is_the_file_as_configured(self, source: Source) -> None:
        assert source.write(b"abc\n").plan().splits[0].source_partition == {"filename": str(source.path)}

    @pytest.mark.parametrize(
        "position", ["4", 4.0, True, -1, {}, [4]], ids=["text", "float", "boolean", "negative", "map", "list"]
    )
    def test_an_offset_that_is_not_a_position_is_an_error(self, source: Source, position: Any) -> None:
        with pytest.raises(DataError, match=r"the committed offset of file .*in\.txt is .*expected"):
            source.write(b"abc\nde\n").plan(position)

    def test_an_offset_of_another_connector_is_an_error(self, source: Source) -> None:
        source.write(b"abc\n")
        context = plan_context({partition_identity(source.partition): {"seqno": 5}})
        with pytest.raises(DataError, match="alter or reset the connector's offset"):
            source.connector().plan(context)


class TestCut:
    DATA = b"".join(b"line %d\n" % n for n in range(1000))

    @pytest.mark.parametrize(
        ("splits_max", "split_bytes", "pieces"),
        [
            pytest.param(None, "100000000", 1, id="a small file is one piece"),
            pytest.param(None, "2000", 4, id="pieces of about that size"),
            pytest.param(1, "2000", 1, id="one piece keeps the order"),
            pytest.param(2, "2000", 2, id="at most two"),
            pytest.param(None, "1", 32, id="not more than are useful"),
        ],
    )
    def test_number_of_pieces(self, source: Source, splits_max: int | None, split_bytes: str, pieces: int) -> None:
        plan = source.write(self.DATA).plan(splits_max=splits_max, split_bytes=split_bytes)
        assert len(plan.splits) == pieces

    def test_pieces_begin_at_lines(self, source: Source) -> None:
        plan = source.write(self.DATA).plan(split_bytes="100")
        assert all(start == 0 or self.DATA[start - 1 : start] == b"\n" for start, _ in ranges(plan))

    def test_pieces_have_about_the_same_size(self, source: Source) -> None:
        sizes = [end - start for start, end in ranges(source.write(self.DATA).plan(split_bytes="1000"))]
        assert max(sizes) - min(sizes) <= 2 * len(b"line 999\n")

    def test_lines_longer_than_a_piece_are_not_cut(self, source: Source) -> None:
        data = b"x" * 1000 + b"\n" + b"y" * 1000 + b"\n"
        assert ranges(source.write(data).plan(split_bytes="10")) == [(0, 1001), (1001, 2002)]

    def test_every_piece_recognises_the_file(self, source: Source) -> None:
        plan = source.write(self.DATA).plan(split_bytes="2000")
        assert {str(split.detail) for split in plan.splits} == {str(fingerprint(str(source.path), len(self.DATA)))}

    @settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.lists(st.text("ab\r\n", max_size=6), max_size=30).map(lambda parts: "\n".join(parts).encode()),
        st.integers(1, 20),
        st.none() | st.integers(1, 40),
    )
    def test_adjacent_pieces_cover_every_line_once(
        self, source: Source, data: bytes, split_bytes: int, splits_max: int | None
    ) -> None:
        whole = ranges(source.write(data).plan())
        pieces = ranges(source.plan(split_bytes=str(split_bytes), splits_max=splits_max))
        assert all(one[1] == other[0] for one, other in pairwise(pieces))
        assert self.lines(source.path, pieces) == self.lines(source.path, whole)

    @staticmethod
    def lines(path: Path, pieces: Ranges) -> list[Any]:
        return [row for start, end in pieces for batch in read_lines(path, start, end) for row in batch.to_pylist()]


class TestReplaced:
    """The file is not the one that the offset is about."""

    def facts(self, source: Source) -> dict[str, Any]:
        """What a run over the file as it is now remembers of it."""
        (split,) = source.plan().splits
        return source.connector().facts(split)

    def test_a_truncated_file_is_an_error_with_both_numbers(self, source: Source) -> None:
        with pytest.raises(DataError, match="its offset is 900, its size is 4 bytes: it was truncated or replaced"):
            source.write(b"abc\n").plan(900)

    def test_a_file_that_begins_differently_is_an_error(self, source: Source) -> None:
        facts = self.facts(source.write(b"abc\n"))
        with pytest.raises(DataError, match="it no longer begins as it did when offset 4 was committed"):
            source.write(b"xyz\nmore\n").plan(4, facts=facts)

    def test_the_error_names_the_ways_out(self, source: Source) -> None:
        with pytest.raises(DataError, match=r"Set `on\.replaced=restart` .* or reset the connector's offset"):
            source.write(b"abc\n").plan(900)

    @pytest.mark.parametrize("position", [4, 900], ids=["begins differently", "truncated"])
    def test_restart_reads_it_from_the_beginning(self, source: Source, position: int) -> None:
        facts = self.facts(source.write(b"abc\n"))
        plan = source.write(b"xyz\nmore\n").plan(position, facts=facts, on_replaced="restart")
        assert ranges(plan) == [(0, 9)]

    def test_restart_does_not_read_a_file_again_that_only_grew(self, source: Source) -> None:
        facts = self.facts(source.write(b"abc\n"))
        plan = source.write(b"abc\nde\n").plan(4, facts=facts, on_replaced="restart")
        assert ranges(plan) == [(4, 7)]

    @pytest.mark.parametrize("on_replaced", ["fail", "restart"])
    def test_an_offset_of_connect_within_a_line_is_an_error(self, source: Source, on_replaced: str) -> None:
        """In a file with other characters than ASCII; to read it from the beginning would double all lines."""
        with pytest.raises(DataError, match=r"no line ends at its offset 4\. Set the offset to the first byte"):
            source.write("äbc\nde\n".encode()).plan(4, on_replaced=on_replaced)

    def test_a_file_whose_first_4096_bytes_are_the_same_is_replaced_nevertheless(self, source: Source) -> None:
        """Even if it has lines of the same lengths."""
        head = b"".join(b"line %04d\n" % n for n in range(500))
        facts = self.facts(source.write(head + b"old 1\nold 2\n"))
        with pytest.raises(DataError, match="the lines before offset 5012 are no longer those that were read"):
            source.write(head + b"new 1\nnew 2\nnew 3\n").plan(5012, facts=facts)

    def test_what_was_not_read_yet_may_not_change_either(self, source: Source) -> None:
        """A run that was stopped before the end of its split: the bytes after the offset were there as well."""
        facts = self.facts(source.write(b"line\n" * 2000))
        with pytest.raises(DataError, match=r"no longer those that were read"):
            source.write(b"line\n" * 1500).plan(5000, facts=facts)

    def test_facts_of_an_older_version_still_count(self, source: Source) -> None:
        facts = self.facts(source.write(b"abc\n"))
        old = {key: facts[key] for key in ("head_bytes", "head_sha256")}
        assert ranges(source.write(b"abc\nde\n").plan(4, facts=old)) == [(4, 7)]
        with pytest.raises(DataError, match="no line ends at its offset 5"):
            source.plan(5, facts=old)

    def test_an_offset_of_connect_has_no_facts_and_is_believed(self, source: Source) -> None:
        assert ranges(source.write(b"abc\nde\n").plan(4)) == [(4, 7)]

    def test_a_file_that_was_deleted_after_it_was_read_is_not_an_error(self, source: Source) -> None:
        (split,) = source.write(b"abc\n").plan().splits
        expected = fingerprint(str(source.path), 4)
        source.path.unlink()
        assert source.connector().facts(split) == expected


class TestMaxRecords:
    DATA = b"a\nbb\nccc\ntail"

    @pytest.mark.parametrize(
        ("most", "expected"),
        [(0, []), (1, [(0, 2)]), (2, [(0, 5)]), (3, [(0, 9)]), (4, [(0, 9)]), (None, [(0, 9)])],
        ids=str,
    )
    def test_the_range_ends_after_so_many_lines(self, source: Source, most: int | None, expected: Ranges) -> None:
        assert ranges(source.write(self.DATA).plan(max_records=most)) == expected

    @pytest.mark.parametrize(("most", "more"), [(0, True), (2, True), (3, None), (4, None), (None, None)], ids=str)
    def test_it_is_noted_that_there_is_more(self, source: Source, most: int | None, more: bool | None) -> None:
        assert source.write(self.DATA).plan(max_records=most).notes.get("more") is more

    def test_lines_are_counted_from_the_offset(self, source: Source) -> None:
        assert ranges(source.write(self.DATA).plan(2, max_records=1)) == [(2, 5)]

    @pytest.mark.parametrize("most", [1, 7, 500])
    def test_pieces_together_have_so_many_lines(self, source: Source, most: int) -> None:
        data = b"".join(b"%d\n" % n for n in range(1000))
        plan = source.write(data).plan(max_records=most, split_bytes="100")
        assert data[: ranges(plan)[-1][1]].count(b"\n") == most


class TestSeveralFiles:
    @pytest.fixture
    def plan(self, tmp_path: Path) -> Callable[..., list[tuple[str, int, int]]]:
        """`plan(offsets, max_records)` of a.txt and b.txt: (file, start, end) of each split."""
        (tmp_path / "a.txt").write_bytes(b"a1\na2\n")
        (tmp_path / "b.txt").write_bytes(b"b1\nb2\ntail")

        def make(offsets: Mapping[str, Offset] | None = None, most: int | None = None) -> list[tuple[str, int, int]]:
            connector = FileStreamSourceConnector({"files": f"{tmp_path}/*.txt", "topic": "t"})
            known = {
                partition_identity({"filename": str(tmp_path / name)}): offset
                for name, offset in (offsets or {}).items()
            }
            splits: Sequence[Split] = connector.plan(plan_context(known, max_records=most)).splits
            return [(Path(s.source_partition["filename"]).name, int(s.start), int(s.end)) for s in splits]

        return make

    def test_each_file_is_a_source_partition(self, plan: Callable[..., Any]) -> None:
        assert plan() == [("a.txt", 0, 6), ("b.txt", 0, 6)]

    def test_each_file_has_its_own_offset(self, plan: Callable[..., Any]) -> None:
        assert plan({"a.txt": {"position": 3}, "b.txt": {"position": 6}}) == [("a.txt", 3, 6)]

    @pytest.mark.parametrize(
        ("most", "expected"),
        [(1, [("a.txt", 0, 3)]), (2, [("a.txt", 0, 6)]), (3, [("a.txt", 0, 6), ("b.txt", 0, 3)])],
        ids=str,
    )
    def test_the_bound_counts_for_all_files_together(
        self, plan: Callable[..., Any], most: int, expected: list[tuple[str, int, int]]
    ) -> None:
        assert plan(most=most) == expected


class TestRecheck:
    """A plan that was not finished is taken up again."""

    @pytest.fixture
    def splits(self, source: Source) -> IndexedSplits:
        return list(enumerate(source.write(b"abc\nde\n").plan().splits))

    @pytest.mark.parametrize("now", [b"abc\nde\n", b"abc\nde\nmore\n"], ids=["unchanged", "appended"])
    def test_the_same_file_is_fine(self, source: Source, splits: IndexedSplits, now: bytes) -> None:
        assert source.write(now).connector().recheck(splits) == set()

    @pytest.mark.parametrize("now", [b"abc\n", b"", b"xyz\nde\n"], ids=["truncated", "empty", "replaced"])
    def test_another_file_can_be_planned_again(self, source: Source, splits: IndexedSplits, now: bytes) -> None:
        assert source.write(now).connector(on_replaced="restart").recheck(splits) == {0}

    def test_only_what_is_left_of_the_other_file_is_given_up(self, source: Source, tmp_path: Path) -> None:
        same = Source(tmp_path / "same.txt").write(b"abc\n").plan().splits
        replaced = source.write(b"abc\n" * 4).plan(split_bytes="4").splits
        splits = list(enumerate([*replaced, *same]))
        assert len(splits) == 5
        source.write(b"xyz\n" * 4)
        assert source.connector(on_replaced="restart").recheck(splits[2:]) == {2, 3}

    @pytest.mark.parametrize("now", [b"abc\n", b"", b"xyz\nde\n"], ids=["truncated", "empty", "replaced"])
    def test_another_file_is_an_error(self, source: Source, splits: IndexedSplits, now: bytes) -> None:
        with pytest.raises(
            DataError, match="was truncated or replaced while a run over its bytes 0 to 7 was unfinished"
        ):
            source.write(now).connector().recheck(splits)

    def test_a_file_that_is_gone_is_named(self, source: Source, splits: IndexedSplits) -> None:
        source.path.unlink()
        with pytest.raises(DataError, match=r"in\.txt is gone .*; put it back, or set `on\.replaced=restart`"):
            source.connector().recheck(splits)

    def test_a_file_that_is_gone_is_given_up_where_files_may_be_replaced(
        self, source: Source, splits: IndexedSplits
    ) -> None:
        source.path.unlink()
        assert source.connector(on_replaced="restart").recheck(splits) == {0}

    def test_a_file_that_was_renamed_is_read_under_its_new_name(self, source: Source, splits: IndexedSplits) -> None:
        source.path.rename(source.path.with_name("in.txt.1"))
        assert source.write(b"new\n").connector().recheck(splits) == set()

    def test_a_plan_without_splits_is_fine(self, source: Source) -> None:
        assert source.connector().recheck([]) == set()


class TestOffset:
    def test_it_has_connects_form(self, source: Source) -> None:
        assert source.connector().offset(Split(source.partition, 0, 7), 7) == {"position": 7}

    def test_a_file_is_recognised_by_what_was_read_of_it(self, source: Source) -> None:
        (split,) = source.write(b"abc\nde\ntail").plan().splits
        assert source.connector().facts(split) == fingerprint(str(source.path), 7)


class TestCheck:
    def test_a_file_that_can_be_read_passes(self, source: Source) -> None:
        source.write(b"").connector().check()

    def test_a_file_that_cannot_be_read_is_a_config_error(self, source: Source) -> None:
        os.mkfifo(source.path)
        with pytest.raises(ConfigError, match=r"`file`: .* is not a regular file"):
            source.connector().check()

    @pytest.mark.parametrize(
        ("props", "errors"),
        [
            ({"file": "/a"}, []),
            ({"files": "/a"}, []),
            ({}, ["file"]),
            ({"file": "/a", "files": "/b"}, ["file"]),
            ({"file": "", "files": "/b"}, []),
        ],
        ids=["file", "files", "neither", "both", "an empty one"],
    )
    def test_exactly_one_of_file_and_files(self, props: dict[str, str], errors: list[str]) -> None:
        assert list(FileStreamSourceConnector.validate(props)) == errors

    @pytest.mark.parametrize(("key", "errors"), [("file", ["on.replaced"]), ("files", [])])
    def test_copies_of_truncated_logs_are_only_found_by_a_pattern(self, key: str, errors: list[str]) -> None:
        assert list(FileStreamSourceConnector.validate({key: "/a", "on.replaced": "copytruncate"})) == errors


class TestFolder:
    def test_what_is_skipped_is_in_the_report(self, tmp_path: Path) -> None:
        (tmp_path / "own.txt").write_text("a\n")
        (tmp_path / "link.txt").symlink_to("/etc/passwd")
        os.mkfifo(tmp_path / "pipe")
        source = Source(tmp_path)
        plan = source.plan(file="", files=str(tmp_path))
        assert [split.source_partition["filename"] for split in plan.splits] == [str(tmp_path / "own.txt")]
        assert [text.split()[0] for text in plan.notes["warnings"]] == [f"{tmp_path}/link.txt", f"{tmp_path}/pipe"]

    def test_any_number_of_skipped_entries_is_a_few_warnings(self, tmp_path: Path) -> None:
        for n in range(30):
            (tmp_path / f"link-{n}").symlink_to("/etc/passwd")
        warnings = Source(tmp_path).plan(file="", files=str(tmp_path)).notes["warnings"]
        assert (len(warnings), warnings[-1]) == (21, "10 more are skipped likewise")
