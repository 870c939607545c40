"""The end of a source split: transactions, progress, bad records."""

from __future__ import annotations

import json
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from airflow_kconnect.connect.connector.source import ResumePoint
from airflow_kconnect.connect.error_cells import DROPPED, END, PADDING, error_cell, stage_prefix
from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.connectors.file.reading import read_split
from airflow_kconnect.runtime.bad_records import ErrorHandling
from airflow_kconnect.runtime.source.acknowledgements import AckReader
from airflow_kconnect.runtime.source.split_report import SplitReport
from airflow_kconnect.stores.offset_topic.records import Marker, marker_key, offset_key, offset_value
from tests.support.connectors.split_writing import POINTER, FlushedProducer, NoCommit, Writing, lines


class TestTransactions:
    def test_rows_and_progress_are_one_transaction(self) -> None:
        writing = Writing().write(lines(1, 2))
        assert writing.producer.told == [
            "begin",
            ("t", b"line-1"),
            ("t", b"line-2"),
            ("connect-offsets", Marker("plan", 2, True, 2, ("t",)).encode(), marker_key("fs", 0)),
            "commit",
        ]

    def test_batches_are_one_transaction(self) -> None:
        writing = Writing().write(lines(1), lines(2))
        assert writing.told == ["begin", ("t", b"line-1"), ("t", b"line-2"), "commit"]

    def test_a_long_split_commits_in_chunks(self) -> None:
        writing = Writing(chunk_ms=0).write(lines(1), lines(2))
        assert writing.told == [
            "begin",
            ("t", b"line-1"),
            "commit",
            "begin",
            ("t", b"line-2"),
            "commit",
            "begin",
            "commit",
        ]

    def test_each_chunk_says_how_far_it_is(self) -> None:
        markers = Writing(chunk_ms=0).write(lines(1, 2), lines(3)).markers
        assert [(m.progress, m.done, m.records) for m in markers] == [(2, False, 2), (3, False, 3), (3, True, 3)]

    def test_a_split_without_rows_is_marked_as_done(self) -> None:
        assert Writing().write().markers == [Marker("plan", None, True, 0)]

    def test_an_empty_batch_begins_nothing(self) -> None:
        writing = Writing(chunk_ms=0).write(lines(), lines(), lines(1))
        assert writing.told[:3] == ["begin", ("t", b"line-1"), "commit"]

    def test_after_the_deadline_the_split_stops_at_a_commit(self) -> None:
        writing = Writing(deadline_epoch_s=0.0).write(lines(1), lines(2))
        assert (writing.values, writing.markers) == ([b"line-1"], [Marker("plan", 1, False, 1, ("t",))])

    def test_without_transactions_progress_follows_the_acknowledgement_of_its_records(self) -> None:
        writing = Writing(producer=FlushedProducer(), chunk_ms=0).write(lines(1), lines(2))
        steps = [what if isinstance(what, str) else what[0] for what in writing.producer.told]
        assert steps == [
            *["begin", "t", "flush", "connect-offsets", "commit"],
            *["begin", "t", "flush", "connect-offsets", "commit"],
            *["begin", "flush", "connect-offsets", "commit"],
        ]

    def test_a_chunk_is_committed_in_time_although_nothing_arrives(self) -> None:
        writing = Writing(chunk_ms=200)

        def slow() -> Iterator[pa.RecordBatch]:
            yield lines(1)
            deadline = time.monotonic() + 10
            while "commit" not in writing.producer.told and time.monotonic() < deadline:
                time.sleep(0.01)
            yield lines(2)

        writing.writer.write(slow())
        assert writing.told[:4] == ["begin", ("t", b"line-1"), "commit", "begin"]

    def test_padding_is_not_a_record(self) -> None:
        batch = lines(1, 2, error=PADDING)
        writing = Writing(poll=False).write(batch, batch.slice(1))
        assert (writing.values, writing.report.handled) == ([b"line-1"], 1)

    def test_the_last_padding_says_which_bound_has_ended_the_task(self) -> None:
        end = lines(2, 3, error=f"{END}max_records").slice(1, 1)
        writing = Writing().write(lines(1), end)
        assert (writing.values, writing.report.bound, writing.report.handled) == ([b"line-1"], "max_records", 1)

    def test_a_failed_commit_is_not_repeated(self) -> None:
        producer = NoCommit()
        with pytest.raises(RetriableError):
            Writing(producer=producer).write(lines(1))
        assert producer.told[-1] == "abort"

    def test_an_error_of_the_reader_aborts_the_transaction(self) -> None:
        def broken() -> Iterable[pa.RecordBatch]:
            yield lines(1)
            raise RuntimeError("the Python worker failed")

        writing = Writing()
        with pytest.raises(RuntimeError):
            writing.writer.write(iter(broken()))
        assert writing.told == ["begin", ("t", b"line-1"), "abort"]


class TestReport:
    @pytest.mark.parametrize(
        ("changed", "expected"),
        [
            pytest.param({}, (3, 3, True), id="done"),
            pytest.param({"chunk_ms": 0}, (3, 3, True), id="done in chunks"),
            pytest.param({"deadline_epoch_s": 0.0}, (2, 2, False), id="stopped"),
        ],
    )
    def test_it_says_what_is_committed(self, changed: dict[str, Any], expected: tuple[int, int, bool]) -> None:
        report = Writing(**changed).write(lines(1, 2), lines(3)).report
        assert (report.written, report.resume_point, report.done) == expected

    def test_what_is_not_committed_is_not_written(self) -> None:
        writing = Writing(producer=NoCommit())
        with pytest.raises(RetriableError):
            writing.write(lines(1))
        assert (writing.report.written, writing.report.resume_point, writing.report.done) == (0, None, False)

    def test_each_topic_is_named_once(self) -> None:
        batches = (lines(1, 2, topic=["a", "b"]), lines(3, topic=["a"]))
        assert Writing(constant_topic=None).write(*batches).report.topics == ["a", "b"]

    def test_topics_of_an_earlier_attempt_are_named_too(self) -> None:
        before = replace(half(2), topics=("a",))
        writing = Writing(before, constant_topic=None).write(lines(3, 4, topic=["a", "b"]))
        assert (writing.report.topics, writing.markers[0].topics) == (["a", "b"], ("a", "b"))

    def test_it_is_json(self) -> None:
        report = Writing().write(lines(1)).report
        assert SplitReport(**json.loads(json.dumps(vars(report)))) == report


def half(progress: ResumePoint) -> Marker:
    """An earlier attempt of the split got that far, with two records."""
    return Marker("plan", progress, False, 2)


class TestResume:
    @pytest.mark.parametrize(
        ("batches", "expected"),
        [
            pytest.param([[1, 2, 3, 4]], [b"line-3", b"line-4"], id="within a batch"),
            pytest.param([[1, 2], [3, 4]], [b"line-3", b"line-4"], id="at the end of a batch"),
            pytest.param([[1], [2, 3]], [b"line-3"], id="in the second batch"),
            pytest.param([[3, 4], [5]], [b"line-3", b"line-4", b"line-5"], id="the reader begins after it"),
            pytest.param([[1, 2]], [], id="nothing is left"),
            pytest.param([[], [1, 2], [], [3]], [b"line-3"], id="with empty batches"),
        ],
    )
    def test_after_a_number(self, batches: list[list[int]], expected: list[bytes]) -> None:
        assert Writing(half(2)).write(*(lines(*batch) for batch in batches)).values == expected

    @pytest.mark.parametrize(
        ("batches", "expected"),
        [
            pytest.param([["b", "a", "d", "c"]], [b"line-d", b"line-c"], id="within a batch"),
            pytest.param([["b"], ["a", "d"]], [b"line-d"], id="in the second batch"),
            pytest.param([["b", "a"], ["d", "c"]], [b"line-d", b"line-c"], id="at the end of a batch"),
            pytest.param([["b", "a"]], [], id="nothing is left"),
        ],
    )
    def test_after_a_text(self, batches: list[list[str]], expected: list[bytes]) -> None:
        assert Writing(half("a")).write(*(lines(*batch) for batch in batches)).values == expected

    def test_the_reader_begins_after_a_text_that_the_driver_knew(self) -> None:
        known = replace(POINTER, markers={0: half("a")})
        assert Writing(half("a"), pointer=known).write(lines("d"), lines("c")).values == [b"line-d", b"line-c"]

    @pytest.mark.parametrize(
        ("known", "committed", "batches", "expected"),
        [
            pytest.param(2, 4, [[3, 4], [5, 6]], [b"line-5", b"line-6"], id="numbers"),
            pytest.param("b", "c", [["a", "c"], ["d"]], [b"line-d"], id="texts"),
        ],
    )
    def test_what_was_committed_after_the_driver_looked_is_skipped(
        self, known: ResumePoint, committed: ResumePoint, batches: list[list[ResumePoint]], expected: list[bytes]
    ) -> None:
        pointer = replace(POINTER, markers={0: half(known)})
        assert Writing(half(committed), pointer=pointer).write(*(lines(*b) for b in batches)).values == expected

    @pytest.mark.parametrize("at", [0, 2], ids=["at the split's start", "at the resume point"])
    def test_an_error_at_the_resume_point_ends_the_run(self, at: int) -> None:
        """`read_split` answers with one row at the position where it began."""
        failed = error_cell(DataError("/a@2: the line is not valid UTF-8"))
        with pytest.raises(DataError, match="not valid UTF-8"):
            Writing(half(2)).write(lines(at, error=failed))

    def test_a_line_that_is_not_utf8_behind_the_resume_point_ends_the_run(self, tmp_path: Path) -> None:
        (tmp_path / "in.txt").write_bytes(b"a\n\xff\nb\n")
        rows = list(read_split(str(tmp_path / "in.txt"), 2, 6, 1000))
        with pytest.raises(DataError, match="not valid UTF-8"):
            Writing(half(2)).write(*(batch.set_column(1, "value", batch["value"].cast("binary")) for batch in rows))

    def test_rows_that_are_skipped_are_counted(self) -> None:
        report = Writing(half(2)).write(lines(1, 2, 3)).report
        assert (report.already_done, report.written) == (2, 1)

    def test_the_marker_counts_what_was_written_before(self) -> None:
        assert Writing(half(2)).write(lines(3, 4, 5)).markers == [Marker("plan", 5, True, 5, ("t",))]

    def test_a_split_with_nothing_left_keeps_its_resume_point(self) -> None:
        assert Writing(half(2)).write(lines(1, 2)).markers == [Marker("plan", 2, True, 2)]

    def test_no_row_was_committed_before(self) -> None:
        assert Writing(Marker("plan", None, False, 0)).write(lines(1)).values == [b"line-1"]


class TestBadRecords:
    def test_a_bad_record_ends_the_run_at_its_position(self) -> None:
        with pytest.raises(DataError, match="position 2: no number"):
            Writing().write(lines(1, 2, error="no number"))

    def test_an_error_of_the_reader_keeps_its_class(self) -> None:
        with pytest.raises(RetriableError, match="unavailable"):
            Writing().write(lines(1, error=error_cell(RetriableError("unavailable"))))

    def test_a_bad_record_of_a_task_is_named_by_source_partition_and_offset(self) -> None:
        rows = lines(1, error="bad", source_partition=['{"id":0}'], source_offset=['{"n":1}']).drop_columns("progress")
        with pytest.raises(DataError, match=r'bad record at source partition {"id":0} offset {"n":1}: bad'):
            Writing(poll=True).write(rows)

    def test_nothing_of_its_batch_is_written(self) -> None:
        writing = Writing()
        with pytest.raises(DataError):
            writing.write(lines(1, 2, error="bad"))
        assert writing.told == []

    def test_what_was_not_committed_before_it_is_aborted(self) -> None:
        writing = Writing()
        with pytest.raises(DataError):
            writing.write(lines(1), lines(2, error="bad"))
        assert writing.told == ["begin", ("t", b"line-1"), "abort"]

    def test_chunks_that_were_committed_before_it_stay(self) -> None:
        writing = Writing(chunk_ms=0)
        with pytest.raises(DataError):
            writing.write(lines(1), lines(2, error="bad"))
        assert (writing.report.written, writing.report.resume_point) == (1, 1)

    def test_a_failed_stage_ends_the_run_with_its_name(self) -> None:
        failed = stage_prefix("TRANSFORMATION", "x.Cast$Value") + "no number"
        with pytest.raises(DataError, match=r"position 2: TRANSFORMATION by x.Cast\$Value: no number"):
            Writing().write(lines(1, 2, error=failed))


class TestToleratedRecords:
    FAILED = stage_prefix("TRANSFORMATION", "x.Cast$Value") + "no number"

    def writing(self, **errors: Any) -> Writing:
        return Writing(errors=ErrorHandling("c", tolerant=True, **errors))

    def test_a_failed_record_is_skipped(self) -> None:
        assert self.writing().write(lines(1, 2, error=self.FAILED)).values == [b"line-1"]

    def test_a_dropped_record_is_skipped_without_tolerance(self) -> None:
        assert Writing().write(lines(1, 2, error=DROPPED)).values == [b"line-1"]

    @pytest.mark.parametrize(("cell", "counts"), [(FAILED, (1, 0, 1)), (DROPPED, (1, 1, 0))], ids=["failed", "dropped"])
    def test_it_is_counted(self, cell: str, counts: tuple[int, int, int]) -> None:
        report = self.writing().write(lines(1, 2, error=cell)).report
        assert (report.written, report.filtered, report.dead_lettered) == counts

    @pytest.mark.parametrize(("cell", "bad"), [(FAILED, 1), (DROPPED, 0)], ids=["failed", "dropped"])
    def test_the_position_moves_past_it(self, cell: str, bad: int) -> None:
        expected = Marker("plan", 2, True, 1, ("t",), bad=bad)
        assert self.writing().write(lines(1, 2, error=cell)).markers == [expected]

    def test_bad_records_of_earlier_attempts_count(self) -> None:
        writing = Writing(Marker("plan", 2, False, 2, bad=3), errors=ErrorHandling("c", tolerant=True))
        assert writing.write(lines(3, 4, error=self.FAILED)).markers == [Marker("plan", 4, True, 3, ("t",), bad=4)]
        assert writing.report.bad == 4

    def test_a_dead_letter_goes_into_the_transaction(self) -> None:
        writing = self.writing(topic="dead").write(lines(1, 2, error=self.FAILED))
        assert [what[0] if isinstance(what, tuple) else what for what in writing.producer.told] == [
            "begin",
            "dead",
            "t",
            "connect-offsets",
            "commit",
        ]

    def test_an_error_of_reading_is_never_skipped(self) -> None:
        with pytest.raises(RetriableError, match="unavailable"):
            self.writing().write(lines(1, error=error_cell(RetriableError("unavailable"))))


def polled(*offsets: tuple[str | None, str | None], error: str | None = None) -> pa.RecordBatch:
    """Rows of a polling task: (source partition, source offset) each; the last one has the error."""
    partitions, positions = [p for p, _ in offsets], [o for _, o in offsets]
    rows = lines(*range(len(offsets)), error=error, source_partition=partitions, source_offset=positions)
    return rows.drop_columns("progress")


class TestPolledRows:
    """Their source offsets are committed with them, instead of a marker."""

    P0, P1 = '{"id":0}', '{"id":1}'

    @pytest.fixture(autouse=True)
    def told(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[int, bool]]]:
        """A polling end, and what it is told."""
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        reader, told, over = AckReader("plan", 0), [(0, False)], threading.Event()

        def follow() -> None:
            while not told[-1][1] and not over.is_set():
                told.append(reader.read())
                time.sleep(0.002)
            reader.stopped()

        follower = threading.Thread(target=follow)
        follower.start()
        yield told
        over.set()
        follower.join()

    def offsets(self, *batches: pa.RecordBatch, **changed: Any) -> list[Any]:
        return [what[1:] for what in Writing(poll=True, **changed).write(*batches).ours]

    def test_the_last_offset_of_each_source_partition_is_committed(self) -> None:
        rows = polled((self.P0, '{"n":1}'), (self.P1, '{"n":5}'), (self.P0, '{"n":2}'))
        assert self.offsets(rows) == [
            (offset_value({"n": 2}), offset_key("fs", {"id": 0})),
            (offset_value({"n": 5}), offset_key("fs", {"id": 1})),
        ]

    @pytest.mark.parametrize("row", [(None, '{"n":1}'), (P0, None), (None, None)], ids=str)
    def test_a_row_without_partition_or_offset_is_not_tracked(self, row: tuple[str | None, str | None]) -> None:
        assert self.offsets(polled(row)) == []

    def test_the_spelling_that_the_topic_has_is_used_again(self) -> None:
        rows = polled(('{"b":1,"a":2}', '{"n":1}'))
        known = {'{"a":2,"b":1}': b'["fs", {"a":2,"b":1}]'}
        assert self.offsets(rows, known_keys=known) == [(b'{"n":1}', b'["fs", {"a":2,"b":1}]')]

    def test_without_records_there_is_no_transaction(self) -> None:
        assert Writing(poll=True).write().producer.told == []

    def test_the_report_has_the_committed_offsets(self) -> None:
        report = Writing(poll=True).write(polled((self.P0, '{"n":1}'))).report
        assert report.offsets == [({"id": 0}, {"n": 1})]

    @pytest.mark.parametrize("batches", [[], [polled((P0, '{"n":1}'))]], ids=["nothing polled", "all committed"])
    def test_a_task_that_has_caught_up_is_done(self, batches: list[pa.RecordBatch]) -> None:
        assert Writing(poll=True, chunk_ms=0).write(*batches).report.done

    def test_the_polling_end_learns_what_is_committed(self, told: list[tuple[int, bool]]) -> None:
        Writing(poll=True, chunk_ms=0).write(polled((self.P0, '{"n":1}')), polled((self.P0, '{"n":2}')))
        assert told[-1] == (2, True)


class TestCommitsAtOffsets:
    """A task whose records belong together up to the next one with an offset."""

    P0, P1 = '{"id":0}', '{"id":1}'
    STEPS = ("begin", "commit", "abort")

    def told(self, *batches: pa.RecordBatch, chunk_ms: int = 0) -> list[Any]:
        """The number of records between the calls for transactions."""
        told = Writing(poll=True, commits_at_offsets=True, chunk_ms=chunk_ms).write(*batches).told
        return [what if what in self.STEPS else "record" for what in told]

    def test_nothing_is_committed_before_an_offset(self) -> None:
        rows = polled((self.P0, None)), polled((self.P0, None)), polled((self.P0, '{"n":1}'))
        assert self.told(*rows) == ["begin", "record", "record", "record", "commit"]

    def test_it_is_committed_at_an_offset_within_a_batch(self) -> None:
        rows = polled((self.P0, '{"n":1}'), (self.P0, None)), polled((self.P0, '{"n":2}'))
        assert self.told(*rows) == ["begin", "record", "commit", "begin", "record", "record", "commit"]

    def test_what_had_to_wait_is_committed_with_its_offset(self) -> None:
        rows = polled((self.P0, None)), polled((self.P0, '{"n":1}')), polled((self.P0, '{"n":2}'))
        expected = ["begin", "record", "record", "commit", "begin", "record", "commit"]
        assert self.told(*rows, chunk_ms=60_000) == expected

    def test_all_source_partitions_need_an_offset(self) -> None:
        rows = polled((self.P0, None), (self.P1, '{"n":1}')), polled((self.P0, '{"n":1}'))
        assert self.told(*rows) == ["begin", "record", "record", "record", "commit"]

    def test_records_without_a_source_partition_wait_for_nothing(self) -> None:
        assert self.told(polled((None, None))) == ["begin", "record", "commit"]

    def test_what_another_end_has_cut_off_is_left_to_the_next_task(self) -> None:
        writing = Writing(poll=True, commits_at_offsets=True)
        writing.write(polled((self.P0, None)), polled((self.P0, None), error=f"{END}new shapes: {{}}"))
        report = writing.report
        assert (writing.told[-1], report.read, report.dropped, report.done) == ("abort", 1, 1, True)

    def test_what_is_complete_does_not_wait_for_what_may_never_be(self) -> None:
        rows = polled((self.P0, '{"n":1}')), polled((self.P0, None)), polled((self.P0, '{"n":2}'))
        expected = ["begin", "record", "commit", "begin", "record", "record", "commit"]
        assert self.told(*rows, chunk_ms=60_000) == expected

    def test_what_is_complete_is_committed_before_the_error_of_a_task(self) -> None:
        writing = Writing(poll=True, commits_at_offsets=True, chunk_ms=60_000)
        with pytest.raises(RetriableError, match="unavailable"):
            writing.write(
                polled((self.P0, '{"n":1}')), polled((None, None), error=error_cell(RetriableError("unavailable")))
            )
        assert [what for what in writing.told if what in self.STEPS] == ["begin", "commit"]

    def test_so_is_what_comes_in_one_batch_with_the_error(self) -> None:
        writing = Writing(poll=True, commits_at_offsets=True, chunk_ms=60_000)
        rows = (self.P0, '{"n":1}'), (self.P0, None), (None, None)
        with pytest.raises(RetriableError, match="unavailable"):
            writing.write(polled(*rows, error=error_cell(RetriableError("unavailable"))))
        steps = [what if what in self.STEPS else "record" for what in writing.told]
        assert steps == ["begin", "record", "commit", "begin", "record", "abort"]

    def test_what_is_not_complete_is_not(self) -> None:
        writing = Writing(poll=True, commits_at_offsets=True, chunk_ms=60_000)
        with pytest.raises(RetriableError, match="unavailable"):
            writing.write(
                polled((self.P0, None)), polled((None, None), error=error_cell(RetriableError("unavailable")))
            )
        assert [what for what in writing.told if what in self.STEPS] == ["begin", "abort"]

    def test_a_task_that_ends_without_an_offset_is_an_error(self) -> None:
        with pytest.raises(DataError, match="an error of the task"):
            Writing(poll=True, commits_at_offsets=True).write(polled((self.P0, None)))


class TestTransactionsOfTasks:
    """What a task has said to be one transaction may arrive in several batches."""

    P0, P1 = '{"id": 0}', '{"id": 1}'

    @pytest.mark.parametrize("others", [(P0, P1), (P0, None), (None, None)], ids=str)
    def test_one_ends_with_its_last_row_wherever_the_rows_are_from(self, others: tuple[str | None, str | None]) -> None:
        end = json.dumps({self.P0: {"n": 1}, self.P1: {"n": 5}})
        writing = Writing(poll=True, commits_at_offsets=True, own_transactions=True, chunk_ms=0)
        writing.write(polled((others[0], None)), polled((others[1], None), (self.P1, end)), polled((self.P0, "{}")))
        steps = [what if isinstance(what, str) else "record" for what in writing.told]
        assert steps == ["begin", "record", "record", "record", "commit", "begin", "record", "commit"]
        assert writing.report.offsets == [({"id": 0}, {"n": 1}), ({"id": 1}, {"n": 5})]

    def test_an_error_names_the_offset_of_its_row_only(self) -> None:
        end = json.dumps({self.P0: {"n": 1}, self.P1: {"n": 5}})
        rows = polled((self.P0, None), (self.P1, end), error=f"{stage_prefix('TASK_POLL', 'T')}bad")
        with pytest.raises(DataError, match=r'source partition {"id": 1} offset {"n": 5}'):
            Writing(poll=True, commits_at_offsets=True, own_transactions=True).write(rows)
