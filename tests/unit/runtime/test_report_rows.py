"""The row in which a split reports."""

from __future__ import annotations

import json

from airflow_kconnect.runtime.report_rows import report_row


def test_a_report_is_one_row_with_its_split() -> None:
    (row,) = report_row(3, {"written": 7, "topics": ["t"]}).to_pylist()
    assert (row["split"], json.loads(row["report"])) == (3, {"written": 7, "topics": ["t"]})
