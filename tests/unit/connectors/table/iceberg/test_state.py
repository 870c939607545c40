"""Which plans an Iceberg table has, by its metadata."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.table.formats.iceberg.state import Snapshot, TableState, plan_property

APPLICATION = "orders-0123456789ab"


def snapshot(number: int, parent: int | None, **summary: str) -> dict[str, Any]:
    found: dict[str, Any] = {"snapshot-id": number, "summary": {"operation": "append", **summary}}
    return found if parent is None else {**found, "parent-snapshot-id": parent}


def staged(plan: int) -> dict[str, str]:
    return {"wap.id": f"{APPLICATION}:{plan}"}


def merged(copied: int, inserted: int, updated: int) -> dict[str, str]:
    counts = {"copied": copied, "inserted": inserted, "updated": updated}
    return {f"spark.merge-into.num-target-rows-{name}": str(count) for name, count in counts.items()}


def state(*snapshots: dict[str, Any], current: int | None, properties: Mapping[str, str] | None = None) -> TableState:
    metadata = {
        "table-uuid": "u",
        "format-version": 2,
        "snapshots": snapshots,
        "properties": properties or {},
        **({} if current is None else {"current-snapshot-id": current}),
    }
    return TableState.parse(json.dumps(metadata))


def test_a_new_table_has_no_plan() -> None:
    assert state(current=None).last_plan(APPLICATION) is None


def test_a_snapshot_that_is_only_staged_is_no_plan_of_the_table() -> None:
    assert state(snapshot(1, None), snapshot(2, 1, **staged(7)), current=1).last_plan(APPLICATION) is None


def test_a_staged_snapshot_that_became_the_current_one_shows_its_plan() -> None:
    assert state(snapshot(1, None), snapshot(2, 1, **staged(7)), current=2).last_plan(APPLICATION) == 7


def test_a_copy_of_a_staged_snapshot_shows_the_plan() -> None:
    copy = snapshot(3, 1, **{"published-wap-id": f"{APPLICATION}:7", "source-snapshot-id": "2"})
    found = state(snapshot(1, None), snapshot(2, None, **staged(7)), copy, current=3)
    assert found.last_plan(APPLICATION) == 7
    published = found.published(2)
    assert published is not None and published.id == 3


def test_later_snapshots_of_others_do_not_hide_a_plan() -> None:
    others = (snapshot(2, 1), snapshot(3, 2, **{"wap.id": "audit"}), snapshot(4, 3, **{"wap.id": "another-0:9"}))
    assert state(snapshot(1, None, **staged(7)), *others, current=4).last_plan(APPLICATION) == 7


def test_a_table_that_was_rolled_back_has_only_what_it_was_rolled_back_to() -> None:
    snapshots = (snapshot(1, None, **staged(6)), snapshot(2, 1, **staged(7)))
    found = state(*snapshots, current=1, properties={plan_property(APPLICATION): "7"})
    assert found.last_plan(APPLICATION) == 6


def test_the_property_knows_plans_whose_snapshots_have_expired() -> None:
    found = state(snapshot(5, 4), current=5, properties={plan_property(APPLICATION): "7"})
    assert found.last_plan(APPLICATION) == 7


def test_without_the_property_expired_snapshots_had_no_plan_of_the_application() -> None:
    assert state(snapshot(5, 4), current=5).last_plan(APPLICATION) is None


def test_the_property_says_nothing_of_a_table_that_was_replaced() -> None:
    found = state(snapshot(5, None), current=5, properties={plan_property(APPLICATION): "7"})
    assert found.last_plan(APPLICATION) is None


def test_the_name_of_the_property_is_not_longer_than_catalogs_allow() -> None:
    assert len(plan_property("c" * 249 + "-0123456789ab")) <= 255
    assert plan_property("c" * 249 + "-0123456789ab").endswith("-0123456789ab")


@pytest.mark.parametrize(
    "snapshots, current, is_empty",
    [
        ((), None, True),
        ((snapshot(1, None, **{"total-records": "0"}),), 1, True),
        ((snapshot(1, None, **{"total-records": "3"}),), 1, False),
        ((snapshot(1, None),), 1, False),
    ],
)
def test_a_table_is_empty_if_its_snapshot_says_so(
    snapshots: tuple[dict[str, Any], ...], current: int | None, is_empty: bool
) -> None:
    assert state(*snapshots, current=current).is_empty is is_empty


def test_a_snapshot_says_what_it_has_added() -> None:
    summary = {"added-data-files": "2", "added-files-size": "900", "added-records": "30"}
    found = state(snapshot(1, None, **summary), snapshot(2, 1), current=2).snapshots
    assert found[1].facts() == {"files": 2, "bytes": 900, "records": 30}
    assert found[2].facts() == {"files": 0, "bytes": 0, "records": 0}


def test_partitions_are_known_if_the_table_keeps_them_in_its_snapshots() -> None:
    summary = {"partitions.day=2026-11-26": "added-data-files=1", "partitions.day=2026-11-25": "added-data-files=2"}
    found = state(snapshot(1, None, **summary), current=1).snapshots[1].facts()
    assert found["partitions"] == ["day=2026-11-25", "day=2026-11-26"]


def ranges(topic: str, partition: int, start: int) -> dict[str, str]:
    return {"kconnect.ranges": json.dumps({topic: {str(partition): [start, start + 10]}})}


LOST = (
    snapshot(1, None, **staged(1), **ranges("a", 0, 0)),
    snapshot(2, 1, **staged(2), **ranges("a", 0, 10)),
    snapshot(3, 2),  # of another writer
    snapshot(4, 3, **staged(3), **ranges("b", 1, 0)),
)


def test_a_table_that_was_rolled_back_knows_where_its_lost_plans_begin() -> None:
    found = state(*LOST, current=1).lost_starts(APPLICATION, 3)
    assert found == {TopicPartition("a", 0): 10, TopicPartition("b", 1): 0}


def test_offsets_of_a_copy_are_those_of_what_it_has_copied() -> None:
    copy = snapshot(5, 4, **{"published-wap-id": f"{APPLICATION}:4", "source-snapshot-id": "6"})
    source = snapshot(6, 3, **staged(4), **ranges("a", 0, 20))
    found = state(*LOST, source, copy, current=4).lost_starts(APPLICATION, 4)
    assert found == {TopicPartition("a", 0): 20}


@pytest.mark.parametrize("gone", [1, 2, 3], ids=["the plan between", "another's", "the last plan"])
def test_it_does_not_know_them_if_snapshots_have_expired(gone: int) -> None:
    left = [each for n, each in enumerate(LOST) if n != gone]
    assert state(*left, current=1).lost_starts(APPLICATION, 3) is None


def test_a_table_that_was_created_again_knows_nothing() -> None:
    assert state(snapshot(7, None), current=7).lost_starts(APPLICATION, 3) is None


@pytest.mark.parametrize(
    ("summary", "rows"),
    [
        ({"added-records": "5"}, 5),
        ({}, 0),
        ({"added-records": "9", **merged(4, 2, 3)}, 5),
        ({"added-records": "4", **merged(0, 2, 3)}, 4),
        ({"added-records": "9", **merged(-1, -1, -1)}, 9),
    ],
)
def test_rows_that_a_merge_has_only_copied_do_not_count(summary: dict[str, str], rows: int) -> None:
    assert Snapshot(1, None, summary).rows == rows
