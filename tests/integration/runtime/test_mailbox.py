"""The mailbox of a run, read and written by Hadoop's file systems in a real JVM."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.runtime.mailbox import Mailbox


def test_the_run_spec_is_taken_and_the_end_left(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"a": 1}))
    mailbox = Mailbox(f"file://{tmp_path}")
    assert mailbox.take_run_spec() == {"a": 1}
    mailbox.leave_end("line\n")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"end.jsonl": "line\n"}


def test_a_job_that_its_service_repeats_leaves_the_end_of_the_first(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "end.jsonl").write_text("first\n")
    mailbox = Mailbox(f"file://{tmp_path}")
    with pytest.raises(RetriableError, match=r"run\.json is not there: .* a day; .* repeats the job by itself"):
        mailbox.take_run_spec()
    mailbox.leave_end("second\n")
    assert (tmp_path / "end.jsonl").read_text() == "first\n"
