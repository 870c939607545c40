"""What is said about the tables of a run."""

from __future__ import annotations

from airflow_kconnect.connectors.table.report import TablesReport
from airflow_kconnect.runs.warnings import Kind, kind_of

MB = 1_000_000


def test_counts_are_those_of_the_plan_and_tables_have_all_that_they_took() -> None:
    report = TablesReport()
    report.add({"a": {"files": 1, "bytes": 40 * MB, "snapshots": 1, "snapshot": 7, "partitions": ["day=2"]}})
    notes = report.add({"a": {"files": 2, "bytes": 90 * MB, "snapshots": 1, "snapshot": 9, "partitions": ["day=1"]}})

    assert notes == {
        **{"files": 2, "bytes": 90 * MB, "snapshots": 1},
        "tables": {
            "a": {"files": 3, "bytes": 130 * MB, "snapshots": 2, "snapshot": 9, "partitions": ["day=1", "day=2"]}
        },
    }
    assert report.warnings() == []


def test_records_are_added_up_for_each_table() -> None:
    report = TablesReport()
    report.add({"a": {"files": 1, "records": 4}})
    notes = report.add({"a": {"files": 1, "records": 5}})
    assert notes["tables"]["a"]["records"] == 9 and "records" not in notes


def test_files_that_are_small_on_average_over_a_plan_are_warned_of_with_a_schedule() -> None:
    report = TablesReport()
    report.add({"lake.db.a": {"files": 12, "bytes": 14_400_000}, "lake.db.b": {"files": 1, "bytes": 31 * MB}})
    report.add({"lake.db.a": {"files": 1, "bytes": 900 * MB}})

    (warning,) = report.warnings()
    assert kind_of(warning) is Kind.SMALL_FILES
    assert warning == (
        "12 files of 1.2 MB on average were written to lake.db.a (and of 1 other tables): readers are slow with files"
        " below 32 MB. Run the connector about 27 times less often, or have its tables compacted"
        " (LakeMaintenanceOperator, `kconnect tables maintain`)"
    )


def test_a_plan_that_wrote_no_file_is_not_warned_of() -> None:
    report = TablesReport()
    assert report.add({"a": {"snapshots": 1}}) == {
        **{"files": 0, "bytes": 0, "snapshots": 1},
        "tables": {"a": {"snapshots": 1}},
    }
    assert report.warnings() == []


def test_large_reports_are_cut_off() -> None:
    report = TablesReport()
    partitions = [f"day={n:03}" for n in range(100)]
    notes = report.add({f"t{n}": {"files": 1, "bytes": 64 * MB, "partitions": partitions} for n in range(60)})
    assert len(notes["tables"]) == 50 and notes["files"] == 60
    assert all(len(table["partitions"]) == 20 for table in notes["tables"].values())
