"""A function of a DataFrame that writes each batch in place of what has its identity is exactly once."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.conformance.findings import Guarantee
from airflow_kconnect.conformance.lab import Lab
from airflow_kconnect.conformance.sink_checks import SINK_CHECKS
from airflow_kconnect.conformance.subject import Subject
from airflow_kconnect.conformance.suite import checks_of, examined
from tests.support.connectors.archive import ArchiveHarness, archive


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "check", [check.name for check in SINK_CHECKS if check.name not in ("schema-change", "errors")]
)
def test_it_has_each_record_once(check: str, worker_props: dict[str, str], tmp_path: Path) -> None:
    lab = Lab(Subject.of(archive, tmp_path), ArchiveHarness, worker_props, tmp_path)
    verdict = examined(lab, checks_of(lab.subject, [check]))
    assert (verdict.claims, verdict.kept, [each.doubled for each in verdict.findings]) == (
        Guarantee.EXACTLY_ONCE,
        True,
        [0],
    ), verdict.findings
