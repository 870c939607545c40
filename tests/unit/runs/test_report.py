"""The report of a run."""

from __future__ import annotations

import json
from dataclasses import replace

from airflow_kconnect.runs.report import RunReport


class TestRunReport:
    REPORT = RunReport(
        connector="fs",
        kind="source",
        connector_class="FileStreamSourceConnector",
        run_id="r",
        records={"written": 1234567},
        durations_s={"total": 12.34},
    )

    def test_the_summary_of_a_complete_run(self) -> None:
        assert self.REPORT.summary() == "fs: 1,234,567 records written in 12.3 s (exactly_once)"

    def test_one_record_is_one(self) -> None:
        assert replace(self.REPORT, records={"written": 1}).summary().startswith("fs: 1 record written")

    def test_the_summary_of_a_bounded_run_says_that_there_is_more(self) -> None:
        report = RunReport(**{**self.REPORT.as_dict(), "complete": False})
        assert report.summary().endswith("(exactly_once, not complete)")

    def test_a_report_survives_json(self) -> None:
        assert RunReport(**json.loads(json.dumps(self.REPORT.as_dict()))) == self.REPORT

    def test_a_report_of_a_later_version_is_read_as_far_as_it_is_known(self) -> None:
        assert RunReport.of({**self.REPORT.as_dict(), "new": 1}) == self.REPORT
