"""Records of runs: what is written can be read, is never too large, and garbage does no harm."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.warnings import Kind, RunWarning
from airflow_kconnect.stores.status_topic.run_records import (
    MOST_BYTES,
    MOST_RUNS,
    ConnectorRuns,
    Progress,
    RunRecord,
    RunState,
)

NUMBERS = st.integers(0, 2**62)
TEXTS = st.text(max_size=20)
PROGRESS = st.builds(Progress, NUMBERS, st.none() | NUMBERS, st.floats(0, 1e12), NUMBERS)
RUNS = st.builds(
    RunRecord,
    TEXTS,
    st.sampled_from(RunState),
    NUMBERS,
    st.none() | NUMBERS,
    st.dictionaries(TEXTS, NUMBERS, max_size=5),
    st.lists(TEXTS, max_size=5).map(tuple),
    st.lists(st.sampled_from([kind.value for kind in Kind]), max_size=5, unique=True).map(tuple),
    st.booleans(),
    st.lists(TEXTS, max_size=5).map(tuple),
    st.none() | TEXTS,
    st.none() | TEXTS,
    st.none() | PROGRESS,
    st.dictionaries(TEXTS, TEXTS | NUMBERS, max_size=5),
)
RECORDS = st.builds(
    ConnectorRuns,
    st.dictionaries(TEXTS, TEXTS, max_size=5),
    TEXTS,
    TEXTS,
    st.lists(TEXTS, max_size=5).map(tuple),
    st.none() | TEXTS,
    st.none() | TEXTS,
    st.lists(RUNS, max_size=3).map(tuple),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
)
MEMBERS = st.sampled_from(["config", "class", "kind", "topics", "group", "dead_letter_topic", "runs", "later"])
RUN_MEMBERS = st.sampled_from([*RunRecord.__dataclass_fields__, "later"])


def run(run_id: str, start_ms: int, state: RunState = RunState.SUCCESS) -> RunRecord:
    return RunRecord(run_id, state, start_ms, None if state is RunState.RUNNING else start_ms + 1)


class TestFormat:
    @given(RECORDS)
    def test_what_is_encoded_can_be_decoded(self, runs: ConnectorRuns) -> None:
        assert ConnectorRuns.decode(runs.encode()) == runs

    @pytest.mark.parametrize("value", [None, b"null"])
    def test_a_tombstone_is_none(self, value: bytes | None) -> None:
        assert ConnectorRuns.decode(value) is None

    @pytest.mark.parametrize("value", [b"", b"[]", b"7", b"no JSON", b"\xff", b"[" * 100_000])
    def test_anything_else_is_no_record(self, value: bytes) -> None:
        with pytest.raises(ValueError, match=r"Expecting|JSON|nested|utf-8"):
            ConnectorRuns.decode(value)

    @given(st.dictionaries(MEMBERS, JSON), st.lists(JSON | st.dictionaries(RUN_MEMBERS, JSON), max_size=3))
    def test_members_that_are_not_as_expected_are_skipped(self, members: dict[str, object], runs: list[object]) -> None:
        decoded = ConnectorRuns.decode(json.dumps({"runs": runs, **members}).encode())
        assert decoded is not None
        assert ConnectorRuns.decode(decoded.encode()) == decoded

    @given(RECORDS.filter(lambda runs: bool(runs.runs)))
    def test_members_of_a_later_version_are_skipped(self, runs: ConnectorRuns) -> None:
        members = runs.as_dict()
        later = {**members, "later": 1, "runs": [{**members["runs"][0], "later": {}}, *members["runs"][1:], {}]}
        assert ConnectorRuns.decode(json.dumps(later).encode()) == runs


class TestSize:
    HUGE = ConnectorRuns(
        config={f"key.{n}": "\u00e4" * 5_000 for n in range(200)},
        topics=tuple(f"topic-{n}" * 20 for n in range(5_000)),
        runs=tuple(
            replace(run(f"{n}" * 900, n, RunState.FAILED), warnings=("w" * 9_000,) * 40, error="e" * 9_000)
            for n in range(MOST_RUNS)
        ),
    )

    def test_it_is_bounded_whatever_is_in_it(self) -> None:
        assert len(self.HUGE.encode()) <= MOST_BYTES

    def test_the_newest_run_stays(self) -> None:
        decoded = ConnectorRuns.decode(self.HUGE.encode())
        assert decoded is not None
        assert decoded.runs[0].id == self.HUGE.runs[0].id
        assert decoded.runs[0].warnings

    def test_values_are_cut_before_runs_are_dropped(self) -> None:
        many = ConnectorRuns(
            config={f"key.{n}": "v" * 3_000 for n in range(60)},
            runs=tuple(run(f"{n}", MOST_RUNS - n) for n in range(MOST_RUNS)),
        )
        decoded = ConnectorRuns.decode(many.encode())
        assert decoded is not None
        assert [run.id for run in decoded.runs] == [run.id for run in many.runs]
        assert set(decoded.config) == set(many.config)

    def test_what_was_cut_off_once_stays_as_it_is(self) -> None:
        once = ConnectorRuns.decode(self.HUGE.encode())
        assert once is not None
        assert ConnectorRuns.decode(once.encode()) == once

    def test_a_configuration_with_thousands_of_keys_gives_way_to_the_runs(self) -> None:
        many = ConnectorRuns(config={f"key.{n}": "v" for n in range(20_000)}, runs=(run("a", 1), run("b", 0)))
        decoded = ConnectorRuns.decode(many.encode())
        assert decoded is not None
        assert len(decoded.runs) == 2


class TestRuns:
    def test_the_newest_comes_first(self) -> None:
        runs = ConnectorRuns().with_runs([run("a", 1), run("c", 3), run("b", 2)])
        assert [of.id for of in runs.runs] == ["c", "b", "a"]

    def test_the_oldest_is_dropped(self) -> None:
        runs = ConnectorRuns().with_runs(run(f"{n}", n) for n in range(MOST_RUNS + 1))
        assert len(runs.runs) == MOST_RUNS
        assert runs.run("0") is None

    def test_many_replays_and_failures_leave_the_last_live_run_and_the_last_that_moved_everything(self) -> None:
        fresh, failed = replace(run("fresh", 0), complete=True), run("failed", 1, RunState.FAILED)
        later = [replace(run(f"{n}", n), replay="dead letters", complete=True) for n in range(2, 2 * MOST_RUNS)]
        runs = ConnectorRuns().with_runs([fresh, failed]).with_runs(later)
        assert len(runs.runs) == MOST_RUNS
        assert [of.id for of in runs.live] == ["failed", "fresh"]

    def test_a_run_that_has_ended_does_not_run_again(self) -> None:
        ended = ConnectorRuns().with_runs([run("a", 1)])
        assert ended.with_runs([run("a", 1, RunState.RUNNING)]) == ended

    def test_replays_are_not_live(self) -> None:
        runs = ConnectorRuns().with_runs([run("a", 1), replace(run("b", 2), replay="dead letters")])
        assert [of.id for of in runs.live] == ["a"]


class TestReport:
    def test_a_run_has_what_its_report_says(self) -> None:
        report = RunReport("c", "sink", "x.Sink", "r", records={"read": 3, "written": 2}, incomplete=["bound"])
        report.warn(RunWarning(Kind.LOST, "gone"))
        ended = run("r", 1, RunState.RUNNING).with_report(report).ended(9)
        assert (ended.state, ended.end_ms) == (RunState.SUCCESS, 9)
        assert (ended.complete, ended.incomplete) == (False, ("bound",))
        assert (ended.records, ended.warnings, ended.warning_kinds) == (report.records, ("gone",), ("lost",))

    def test_of_many_warnings_the_rest_is_a_number(self) -> None:
        report = RunReport("c", "sink", "x.Sink", "r", warnings=[f"w{n}" for n in range(1_010)])
        assert run("r", 1).with_report(report).warnings[-1] == "... and 1,000 more: see the log of the run"
