"""Each check judges what it has run: also where a run does not reach a point, and where a source cannot resume."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.conformance.checks import Check
from airflow_kconnect.conformance.findings import Guarantee, Status
from airflow_kconnect.conformance.lab import Lab
from airflow_kconnect.conformance.run_checks import killed_at, two_runs
from airflow_kconnect.conformance.subject import Subject
from airflow_kconnect.conformance.suite import checks_of, examined
from tests.support.connectors.all_lines import all_lines
from tests.support.connectors.lines import IgnoresOffsets, Lines, LinesHarness

KILLED = Check("killed:nowhere", "killed at a point that no run has", killed_at("nowhere", "nowhere"))
TWO_RUNS = Check("two-runs", "two runs, of which the older one does not wait", two_runs("nowhere"))


@pytest.mark.parametrize(
    ("check", "connector", "status", "text"),
    [
        pytest.param(KILLED, Lines, Status.DOES_NOT_APPLY, "; each record is there once after two runs", id="killed"),
        pytest.param(
            *(TWO_RUNS, IgnoresOffsets, Status.FAILED, "there more than once"),
            id="two runs",
            marks=pytest.mark.exhaustive,
        ),
    ],
)
def test_what_has_arrived_is_judged_even_if_a_run_does_not_reach_the_point(
    check: Check, connector: type[Lines], status: Status, text: str, worker_props: dict[str, str], tmp_path: Path
) -> None:
    finding = check.finding(Lab(Subject.of(connector, tmp_path), LinesHarness, worker_props, tmp_path))
    assert (finding.status, text in finding.text) == (status, True), finding


def test_a_function_that_reads_all_again_in_each_run_may_claim_just_that(
    worker_props: dict[str, str], tmp_path: Path
) -> None:
    lab = Lab(Subject.of(all_lines, tmp_path), LinesHarness, worker_props, tmp_path)
    verdict = examined(lab, checks_of(lab.subject, ("offsets", "second-run", "each-record")))
    found = {finding.check: finding for finding in verdict.findings}
    assert (verdict.claims, verdict.may, verdict.kept) == (Guarantee.AT_LEAST_ONCE, Guarantee.FULL_READ, True), (
        verdict.findings
    )
    assert "by a full read" in found["second-run"].text
    assert found["each-record"].status is Status.DOES_NOT_APPLY
