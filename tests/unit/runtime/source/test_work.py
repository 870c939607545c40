"""A plan being carried out: what is done, what is to do, where a split resumes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from airflow_kconnect.connect.connector.source import ResumePoint, Split
from airflow_kconnect.runtime.source.split_report import SplitReport
from airflow_kconnect.runtime.source.work import Work
from airflow_kconnect.stores.offset_topic.records import Marker, PlanRecord
from airflow_kconnect.stores.offset_topic.view import OffsetView

SPLITS = tuple(Split({"filename": "/a"}, start, start + 10) for start in (0, 10, 20))
PLAN = PlanRecord("plan", "run", 3, SPLITS)


def work(markers: dict[int, Marker] | None = None, plan: PlanRecord = PLAN) -> Work:
    view = OffsetView("fs")
    view.markers = markers or {}
    return Work(plan, view)


DONE = Marker("plan", 20, True, 5)
HALF = Marker("plan", 14, False, 2)
OTHERS = Marker("another plan", 20, True, 5)
BEGUN = Marker("plan", None, False, 0)


class TestToDo:
    @pytest.mark.parametrize(
        ("markers", "expected"),
        [
            ({}, (0, 1, 2)),
            ({1: DONE}, (0, 2)),
            ({1: HALF}, (0, 1, 2)),
            ({1: OTHERS}, (0, 1, 2)),
            ({0: DONE, 1: DONE, 2: DONE}, ()),
            ({7: DONE}, (0, 1, 2)),
        ],
        ids=["no marker", "done", "half done", "of another plan", "all done", "of no split"],
    )
    def test_splits(self, markers: dict[int, Marker], expected: tuple[int, ...]) -> None:
        assert work(markers).to_do == expected

    def test_tasks_of_a_poll_source_have_no_splits(self) -> None:
        assert work(plan=PlanRecord("plan", "run", 2)).to_do == (0, 1)


@pytest.mark.parametrize(
    ("markers", "expected"),
    [({}, False), ({1: OTHERS}, False), ({1: HALF}, True), ({1: BEGUN}, True)],
    ids=["no marker", "of another plan", "half done", "no row yet"],
)
def test_a_plan_is_begun_when_something_of_it_is_committed(markers: dict[int, Marker], expected: bool) -> None:
    assert work(markers).begun is expected


def test_topics_of_earlier_runs_are_those_of_this_plan() -> None:
    markers = {n: replace(marker, topics=(topic,)) for n, (marker, topic) in enumerate([(DONE, "a"), (HALF, "b")])}
    assert work({**markers, 2: replace(OTHERS, topics=("c",))}).topics_before == {"a", "b"}


@pytest.mark.parametrize(
    ("marker", "expected"),
    [(None, 10), (HALF, 14), (OTHERS, 10), (BEGUN, 10), (Marker("plan", "", False, 1), "")],
    ids=["no marker", "half done", "of another plan", "no row yet", "an empty text is a position"],
)
def test_resume_point(marker: Marker | None, expected: ResumePoint) -> None:
    assert work({1: marker} if marker else {}).resume_point(1) == expected


@pytest.mark.parametrize(
    ("reports", "expected"),
    [
        ([], (20, True)),
        ([SplitReport(1, done=True, resume_point=17)], (20, True)),
        ([SplitReport(1, done=False, resume_point=17)], (17, False)),
        ([SplitReport(1, done=False, resume_point=None)], (None, False)),
        ([SplitReport(0, done=False, resume_point=3)], (20, True)),
    ],
    ids=["not run: done before", "done", "stopped", "stopped before its first row", "another split's report"],
)
def test_reached(reports: list[SplitReport], expected: tuple[ResumePoint | None, bool]) -> None:
    assert work().reached(1, reports) == expected


class TestNeedsPlan:
    """A run was stopped: can offsets say what is done?"""

    @staticmethod
    def reports(*progress: tuple[int, ResumePoint | None, bool]) -> list[SplitReport]:
        return [SplitReport(split, resume_point=resume_point, done=done) for split, resume_point, done in progress]

    @pytest.mark.parametrize(
        ("progress", "expected"),
        [
            ([(0, 10, True), (1, 20, True), (2, 30, True)], False),
            ([(0, 10, True), (1, 15, False), (2, None, False)], False),
            ([(0, 5, False), (1, 20, True), (2, None, False)], True),
            ([(0, 5, False), (1, 15, False), (2, None, False)], True),
            ([(0, None, False), (1, None, False), (2, 21, False)], True),
        ],
        ids=["all done", "the others not begun", "a further one done", "a further one begun", "only the last begun"],
    )
    def test_splits_of_one_source_partition(
        self, progress: list[tuple[int, ResumePoint | None, bool]], expected: bool
    ) -> None:
        assert work().needs_plan(self.reports(*progress)) is expected

    def test_one_that_an_earlier_run_has_done_counts(self) -> None:
        assert work({1: DONE}).needs_plan(self.reports((0, 5, False), (2, None, False)))

    def test_other_source_partitions_do_not(self) -> None:
        splits = (SPLITS[0], Split({"filename": "/b"}, 0, 10))
        plan = PlanRecord("plan", "run", 2, splits)
        assert not work(plan=plan).needs_plan(self.reports((0, 5, False), (1, 10, True)))
