"""Sinks that are wrong in one way fail the check for that, for the reason that it gives."""

from __future__ import annotations

import pytest

from airflow_kconnect.conformance.findings import Status
from airflow_kconnect.conformance.harness import SinkHarness
from airflow_kconnect.conformance.sink_checks import SINK_CHECKS
from tests.integration.conformance.conftest import Find
from tests.support.connectors import rows
from tests.support.connectors.rows import Rows, RowsHarness

WRONG = [
    (rows.Appends, "killed:after-visible", "more than once"),
    (rows.BuffersWithoutFlush, "runs", "10 records are"),
    (rows.LatinOnly, "unicode", "missing"),
    (rows.LatinOnly, "nulls", "DataError"),
    (rows.CutsLargeTexts, "large", "1 record is"),
    (rows.RetriesTombstones, "tombstones", "and not with a DataError"),
    (rows.HidesErrors, "errors", "ended a run with exit code 1 and not 3"),
    (rows.Appends, "two-runs", "more than once"),
]
IN_CI = 1


@pytest.mark.parametrize(
    ("connector", "check", "reason"),
    [*WRONG[:IN_CI], *(pytest.param(*case, marks=pytest.mark.exhaustive) for case in WRONG[IN_CI:])],
)
def test_a_wrong_sink_fails_for_its_reason(find: Find, connector: type[Rows], check: str, reason: str) -> None:
    finding = find(connector, RowsHarness, check)
    assert (finding.status, reason in finding.text) == (Status.FAILED, True), finding


@pytest.mark.exhaustive
@pytest.mark.parametrize("check", [check.name for check in SINK_CHECKS if check.name != "killed:before-visible"])
def test_a_right_sink_passes(find: Find, check: str) -> None:
    finding = find(Rows, RowsHarness, check)
    assert finding.status is Status.PASSED, finding


@pytest.mark.exhaustive
def test_what_comes_twice_is_no_failure_of_a_sink_that_claims_at_least_once(find: Find) -> None:
    finding = find(rows.AppendsAndSaysSo, RowsHarness, "killed:after-visible")
    assert (finding.status, finding.doubled > 0) == (Status.PASSED, True), finding


class _Blind(SinkHarness):
    def config(self) -> dict[str, str]:
        return {"database": str(self.folder / "rows.db")}


def test_a_sink_that_cannot_be_read_back_is_not_counted(find: Find) -> None:
    finding = find(Rows, _Blind, "bounds")
    assert (finding.status, "the method `arrived`" in finding.text) == (Status.DOES_NOT_APPLY, True), finding
