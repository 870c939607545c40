"""Which plans a Delta table has, as its history tells it."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.connector.planned import SinkPlan
from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.table.formats.delta.history import (
    Commit,
    Mark,
    in_effect,
    last_plan,
    lost_starts,
    marked,
)

OURS = "shop-1"


def create(version: int, operation: str = "CREATE TABLE") -> Commit:
    return Commit(version, operation, version * 10)


def foreign(version: int) -> Commit:
    return Commit(version, "OPTIMIZE", version * 10)


def plan(version: int, number: int, application: str = OURS) -> Commit:
    starts = {TopicPartition("t", number % 2): number * 100}
    return Commit(version, "WRITE", version * 10, Mark(application, number, f"attempt-{version}", starts))


def restore(version: int, **to: Any) -> Commit:
    return Commit(version, "RESTORE", version * 10, **to)


def newest_first(*commits: Commit) -> list[Commit]:
    return sorted(commits, key=lambda commit: -commit.version)


@pytest.mark.parametrize(
    ("commits", "accepted", "found"),
    [
        pytest.param([create(0), plan(1, 1), plan(2, 2)], 2, (2, True), id="nothing else"),
        pytest.param([create(0), plan(1, 1), foreign(2)], 1, (1, True), id="foreign writes after it"),
        pytest.param([create(0), plan(1, 7, "other"), foreign(2)], None, (None, True), id="none of ours"),
        pytest.param([create(0), plan(1, 1), plan(2, 2), restore(3, restores=1)], 2, (1, True), id="restored"),
        pytest.param([create(0), plan(1, 1), restore(2, restores=0)], 1, (None, True), id="restored to before all"),
        pytest.param([create(0), plan(1, 1), plan(2, 2), restore(3, restores_ms=15)], 2, (1, True), id="by time"),
        pytest.param(
            [create(0), plan(1, 1), plan(2, 2), restore(3, restores=1), plan(4, 3)], 3, (3, True), id="resumed since"
        ),
        pytest.param(
            [create(0), plan(1, 1), restore(2, restores=0), plan(3, 2), restore(4, restores=2)],
            2,
            (None, True),
            id="restored to a restored state",
        ),
        pytest.param([plan(1, 1), create(2, "CREATE OR REPLACE TABLE AS SELECT")], 1, (None, True), id="replaced"),
        pytest.param([foreign(8), foreign(9)], 3, (3, True), id="its commit was cleaned up"),
        pytest.param([foreign(8), restore(9, restores=4)], 3, (None, False), id="restored to what was cleaned up"),
        pytest.param([foreign(8), foreign(9)], None, (None, False), id="forgotten and cleaned up"),
        pytest.param([], None, (None, True), id="empty"),
    ],
)
def test_the_last_plan_is_that_of_the_newest_commit_that_has_an_effect(
    commits: list[Commit], accepted: int | None, found: tuple[int | None, bool]
) -> None:
    assert last_plan(newest_first(*commits), OURS, accepted) == found


def test_commits_between_a_restoration_and_its_version_have_no_effect() -> None:
    commits = newest_first(create(0), plan(1, 1), plan(2, 2), restore(3, restores=1), plan(4, 3))
    assert [commit.version for commit in in_effect(commits)] == [4, 3, 1, 0]


def test_a_mark_is_read_from_what_a_commit_carries() -> None:
    written = marked(SinkPlan("a:b", 12, (SinkSplit("t", 0, 5, 9),)), "x")
    assert Mark.read(written) == Mark("a:b", 12, "x")
    assert '["t", 0, 5, 9]' in written


@pytest.mark.parametrize("text", [None, "", "nightly", "[]", "{}", '{"kconnect.plan": 7}', '{"kconnect.plan": "a:b"}'])
def test_what_others_write_is_no_mark(text: str | None) -> None:
    assert Mark.read(text) is None


@pytest.mark.parametrize(
    ("metrics", "facts"),
    [
        ({"numFiles": "3", "numOutputBytes": "1000", "numOutputRows": "7"}, {"files": 3, "bytes": 1000}),
        ({"numTargetFilesAdded": "2", "numTargetBytesAdded": "50"}, {"files": 2, "bytes": 50}),
        ({}, {"files": 0, "bytes": 0}),
    ],
)
def test_the_report_has_files_and_bytes(metrics: dict[str, str], facts: dict[str, Any]) -> None:
    assert Commit(1, "WRITE", 0, metrics=metrics).written() == facts


def test_a_restored_table_knows_where_its_lost_plans_begin() -> None:
    commits = newest_first(
        create(0),
        plan(1, 1),
        plan(2, 2),
        foreign(3),
        plan(4, 3),
        plan(5, 4),
        plan(6, 9, "other"),
        restore(7, restores=1),
    )
    assert lost_starts(commits, OURS, 4) == {TopicPartition("t", 0): 200, TopicPartition("t", 1): 300}


def test_it_does_not_if_its_history_lacks_the_last_of_them() -> None:
    assert lost_starts(newest_first(create(0), plan(1, 1), restore(2, restores=0)), OURS, 2) is None


@pytest.mark.parametrize(
    ("operation", "metrics", "rows"),
    [
        ("WRITE", {"numOutputRows": "5"}, 5),
        ("WRITE", {}, None),
        ("MERGE", {"numOutputRows": "9", "numTargetRowsInserted": "2", "numTargetRowsUpdated": "3"}, 5),
        ("MERGE", {"numOutputRows": "9"}, None),
    ],
)
def test_rows_that_were_only_copied_do_not_count(operation: str, metrics: dict[str, str], rows: int | None) -> None:
    assert Commit(1, operation, 10, metrics=metrics).rows == rows
