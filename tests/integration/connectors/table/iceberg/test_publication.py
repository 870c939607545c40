"""Plans of an Iceberg table: staged, published once, whatever other writers do in between.

Each test is a way in which tables get rows twice, or lose them: they are worth 40 CPU seconds.
"""

from __future__ import annotations

import threading
from typing import Any

import pytest

from airflow_kconnect.connect.errors import DataError, FencedError, RetriableError
from airflow_kconnect.connectors.table.formats.iceberg.table import IcebergTable
from tests.support.spark.iceberg import (
    APPLICATION,
    append,
    as_other,
    changes,
    found,
    merge,
    metadata,
    plan,
    rows,
    twin,
)


def test_what_is_staged_is_seen_by_no_one_until_it_is_published(table: IcebergTable) -> None:
    """Nor afterwards if it was discarded. The snapshot says which offsets it has. A plan without rows is a plan."""
    table.append(plan(1), rows(table, [(1, "a"), (2, "b")]))
    assert found(table) == [] and not table.has(plan(1)) and table.last_plan(APPLICATION) is None
    facts = table.publish(plan(1))
    assert found(table) == [(1, "a"), (2, "b")]
    assert facts["records"] == 2 and facts["files"] >= 1 and facts["bytes"] > 100 and facts["snapshots"] == 1
    assert table.has(plan(1)) and not table.has(plan(2)) and table.last_plan(APPLICATION) == 1
    summary = metadata(table).currentSnapshot().summary()
    assert summary.get("kconnect.ranges") == '{"orders":{"0":[10,20]}}'
    assert summary.get("wap.id") == f"{APPLICATION}:1"
    table.append(plan(2), rows(table, [(3, "c")]))
    table.discard(plan(2))
    assert table.publish(plan(2)) == {}
    assert append(table, 2)["records"] == 0 and table.has(plan(2))
    assert found(table) == [(1, "a"), (2, "b")]


def test_two_runs_that_publish_a_plan_at_once_leave_one_of_it(table: IcebergTable) -> None:
    """It is added to what others have written in between."""
    runs = [twin(table) for _ in range(2)]
    for run in runs:
        run.append(plan(1), rows(run, [(1, "a")]))
    as_other(table, "INSERT INTO {t} VALUES (9, 'z')")  # so that it has to be copied
    facts: list[dict[str, Any]] = []
    threads = [threading.Thread(target=lambda run=run: facts.append(run.publish(plan(1)))) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found(table) == [(1, "a"), (9, "z")]
    assert sorted(fact.get("records", 0) for fact in facts) == [0, 1]
    assert table.has(plan(1)) and twin(table).last_plan(APPLICATION) == 1


def test_a_run_that_wakes_up_after_its_successor_changes_nothing(table: IcebergTable) -> None:
    late = twin(table)
    late.append(plan(1), rows(late, [(1, "a")]))
    append(table, 1, (1, "a"))
    append(table, 2, (2, "b"))
    with pytest.raises(FencedError, match="a newer run has taken over"):
        late.publish(plan(1))
    assert found(table) == [(1, "a"), (2, "b")]


def test_a_late_merge_does_not_restore_what_its_successor_has_changed(keyed: IcebergTable) -> None:
    late = twin(keyed)
    merge(keyed, 1, (1, "first", False))
    merge(keyed, 2, (1, "second", False))
    late.merge(plan(1), changes(late, (1, "first", False)), ["id"], "gone")  # on the newest state
    with pytest.raises(FencedError):
        late.publish(plan(1))
    assert found(keyed) == [(1, "second")]


def test_a_merge_is_repeated_on_what_others_have_written_in_between(keyed: IcebergTable) -> None:
    append(keyed, 1, (1, "a"))
    keyed.merge(plan(2), changes(keyed, (1, "b", False), (9, "c", False)), ["id"], "gone")
    as_other(keyed, "INSERT INTO {t} VALUES (9, 'z')")
    keyed.publish(plan(2))
    assert found(keyed) == [(1, "b"), (9, "c")]


def test_a_first_merge_is_repeated_if_the_table_is_no_longer_empty(keyed: IcebergTable) -> None:
    keyed.merge(plan(1), changes(keyed, (1, "a", False)), ["id"], "gone")
    as_other(keyed, "INSERT INTO {t} VALUES (1, 'z')")
    keyed.publish(plan(1))
    assert found(keyed) == [(1, "a")]


@pytest.mark.exhaustive  # for a plan a commit of another writer, as the one before; in an append it is in `test_upkeep`
def test_compaction_in_between_loses_and_doubles_nothing(keyed: IcebergTable) -> None:
    append(keyed, 1, (1, "a"))
    append(keyed, 2, (2, "b"))
    keyed.merge(plan(3), changes(keyed, (2, "c", False)), ["id"], "gone")
    as_other(keyed, "CALL lake.system.rewrite_data_files(table => '{t}', options => map('rewrite-all', 'true'))")
    keyed.publish(plan(3))
    assert found(keyed) == [(1, "a"), (2, "c")]


def test_a_merge_whose_files_others_have_compacted_and_removed_meanwhile_is_repeated(
    keyed: IcebergTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(keyed, 1, (1, "a"))
    append(keyed, 2, (2, "b"))
    real, attempts = keyed._merge, iter(("first", "second"))

    def slow(*arguments: Any) -> None:
        if next(attempts) == "second":
            return real(*arguments)
        before = keyed.spark.table(keyed.name).rdd
        assert before.getNumPartitions()  # Spark has chosen the files
        as_other(keyed, "CALL lake.system.rewrite_data_files(table => '{t}', options => map('rewrite-all', 'true'))")
        everything = "older_than => TIMESTAMP '2100-01-01', retain_last => 1"
        as_other(keyed, f"CALL lake.system.expire_snapshots(table => '{{t}}', {everything})")
        before.collect()

    monkeypatch.setattr(keyed, "_merge", slow)
    merge(keyed, 3, (2, "c", False))
    assert found(keyed) == [(1, "a"), (2, "c")]
    assert next(attempts, None) is None


def test_expired_snapshots_do_not_hide_which_plans_a_table_has(table: IcebergTable) -> None:
    append(table, 1, (1, "a"))
    late = twin(table)
    late.append(plan(1), rows(late, [(1, "a")]))
    append(table, 1, (2, "b"), application="another-0")
    metadata(table).expireSnapshots().expireOlderThan(2**50).retainLast(1).commit()
    assert table.has(plan(1)) and table.last_plan(APPLICATION) == 1
    assert not table.has(plan(1, "third-0"))
    assert late.publish(plan(1)) == {}
    assert found(table) == [(1, "a"), (2, "b")]


def test_what_was_staged_is_staged_again_if_it_has_expired(table: IcebergTable) -> None:
    append(table, 1, (1, "a"))
    table.append(plan(2), rows(table, [(2, "b")]))
    metadata(table).expireSnapshots().expireOlderThan(2**50).retainLast(1).commit()
    table.publish(plan(2))
    assert found(table) == [(1, "a"), (2, "b")]


def test_a_table_that_was_rolled_back_says_what_it_has(table: IcebergTable) -> None:
    append(table, 1, (1, "a"))
    first = metadata(table).currentSnapshot().snapshotId()
    append(table, 2, (2, "b"))
    metadata(table).manageSnapshots().rollbackTo(first).commit()
    assert table.last_plan(APPLICATION) == 1 and not table.has(plan(2))


def test_a_merge_that_others_always_outrun_ends(keyed: IcebergTable, monkeypatch: pytest.MonkeyPatch) -> None:
    append(keyed, 1, (1, "a"))
    keyed.merge(plan(2), changes(keyed, (1, "b", False)), ["id"], "gone")
    read, number = keyed._access.read, iter(range(100))

    def read_late() -> object:
        as_other(keyed, f"INSERT INTO {{t}} VALUES ({1000 + next(number)}, 'z')")
        return read()

    monkeypatch.setattr(keyed._access, "read", read_late)
    with pytest.raises(RetriableError, match="other writers were faster each of 3 times"):
        keyed.publish(plan(2))
    monkeypatch.undo()
    assert (1, "a") in found(keyed) and not keyed.has(plan(2))


def test_a_table_that_was_dropped_or_created_again_does_not_get_a_part(table: IcebergTable) -> None:
    """The error has a remedy."""
    append(table, 1, (1, "a"))
    late = twin(table)
    for run in (table, late):
        run.append(plan(2), rows(run, [(2, "b")]))
    as_other(table, "DROP TABLE {t} PURGE")
    with pytest.raises(DataError, match="kconnect offsets alter"):
        table.publish(plan(2))
    assert not table.has(plan(2)) and table.last_plan(APPLICATION) is None and table.columns() is None
    as_other(table, "CREATE TABLE {t} (id bigint, name string) USING iceberg")
    with pytest.raises(DataError, match="it was restored, replaced or created again"):
        late.publish(plan(2))
    assert found(table) == []
    assert table.last_plan(APPLICATION) is None


def test_a_newer_format_version_in_between_changes_nothing(keyed: IcebergTable) -> None:
    append(keyed, 1, (1, "a"), (2, "b"))
    keyed.merge(plan(2), changes(keyed, (1, "c", False), (2, None, True)), ["id"], "gone")
    as_other(keyed, "ALTER TABLE {t} SET TBLPROPERTIES ('format-version' = '3')")
    keyed.publish(plan(2))
    merge(keyed, 3, (1, "d", False))
    assert found(keyed) == [(1, "d")]
