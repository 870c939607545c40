"""A report as facts for people."""

from __future__ import annotations

from typing import Any

from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.report_facts import report_facts, report_lines


def _report(**members: Any) -> dict[str, Any]:
    return RunReport("to-shop", "sink", "x.Sink", "run", **members).as_dict()


def test_the_facts_are_aligned_and_values_of_several_lines_are_below_each_other() -> None:
    offsets = [{"topic": "shop", "partition": n, "offset": 5} for n in range(2)]
    records = {"read": 1_000, "written": 999, "dead_lettered": 1, "filtered": 0}
    report = _report(records=records, topics=["shop"], offsets=offsets, lag={"shop": 7, "b": 0}, lag_max=7)
    assert report_lines(report) == [
        "Connector  to-shop (sink)",
        "Records    1,000 read, 999 written, 1 dead lettered",
        "Topics     shop",
        "Guarantee  exactly once",
        "Offsets    shop-0@5",
        "           shop-1@5",
        "Lag        7 in shop",
        "Seconds    0.0",
    ]


def test_a_run_without_lag_or_offsets_has_no_lines_for_them() -> None:
    assert [name for name, _ in report_facts(_report(lag={"shop": 0}))] == [
        *("Connector", "Records", "Guarantee", "Seconds"),
    ]


def test_a_run_that_is_not_complete_says_why() -> None:
    facts = dict(report_facts(_report(incomplete=["max_records"], notes={"held_back": {"a": 1}, "rounds": 2})))
    assert facts["Not complete"].startswith("`kconnect.max.records` ended this run")
    assert (facts["Held back"], "rounds" in facts) == ('{"a": 1}', False)


def test_tables_have_a_line_each_and_plain_names_stay() -> None:
    tables = {"lake.a": {"files": 2, "snapshots": 1, "bytes": 1_500_000, "partitions": ["day=1"], "location": "s3://b"}}
    assert dict(report_facts(_report(notes={"bytes": 1_500_000, "tables": tables})))["Tables"] == (
        "lake.a: 2 files, 1 snapshots, 1.5 MB, in day=1"
    )
    assert dict(report_facts(_report(notes={"tables": ["shop.a"]})))["tables"] == '["shop.a"]'
