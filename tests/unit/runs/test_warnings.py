"""runs/warnings.py"""

from __future__ import annotations

import json
import pickle
import re

import pytest

from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.warnings import Kind, RunWarning, dead_letters_warning, failing, kind_of


def test_a_warning_is_its_text_in_json() -> None:
    assert json.dumps([RunWarning(Kind.LOST, "10 records")]) == '["10 records"]'


def test_a_warning_keeps_its_kind_on_the_way_from_a_task() -> None:
    assert kind_of(pickle.loads(pickle.dumps(RunWarning(Kind.LOST, "10 records")))) is Kind.LOST  # noqa: S301


def test_a_plain_text_is_of_unknown_kind() -> None:
    assert kind_of("a text") is Kind.UNKNOWN


LOST, DOUBLED = RunWarning(Kind.LOST, "lost"), RunWarning(Kind.DOUBLED, "doubled")


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ([], []),
        ([""], []),
        (["lost"], [LOST]),
        (["doubled", "lost"], [DOUBLED, LOST]),
        (["unknown"], ["other"]),
        (["all"], [DOUBLED, LOST, "other"]),
    ],
)
def test_a_run_fails_by_warnings_of_chosen_kinds(kinds: list[str], expected: list[str]) -> None:
    assert failing([DOUBLED, LOST, "other"], kinds) == expected


def test_a_report_knows_the_kinds_of_its_warnings_after_json() -> None:
    report = RunReport("orders", "sink", "FileStreamSink", "run", warnings=[DOUBLED, "other"])
    report.warn(LOST)
    read = RunReport.of(json.loads(json.dumps(report.as_dict())))
    assert (read.warnings, read.warning_kinds) == (["doubled", "other", "lost"], ["doubled", "unknown", "lost"])


@pytest.mark.parametrize(
    ("records", "notes", "topic", "expected"),
    [
        ({"read": 3}, {}, "dlq", None),
        ({"dead_lettered": 1200}, {}, "dlq", "1,200 records .* in dlq: `kconnect dlq show orders`"),
        ({"dead_lettered": 2}, {}, None, "2 records .* were skipped"),
        ({}, {"skipped": 2}, None, "2 records .* were skipped"),
    ],
)
def test_records_that_were_not_moved_are_a_warning(
    records: dict[str, int], notes: dict[str, int], topic: str | None, expected: str | None
) -> None:
    warning = dead_letters_warning("orders", records, notes, topic)
    assert warning is None if expected is None else warning is not None and re.match(expected, warning)
