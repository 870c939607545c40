"""A job whose Spark has a UI says where it is."""

from __future__ import annotations

import urllib.request

import pytest

from tests.integration.runtime.conftest import NEEDS_SPARK, Jobs, NumberedFile, Source


@pytest.mark.spark_submit
@pytest.mark.exhaustive
def test_the_address_leads_to_sparks_ui_while_the_job_runs(
    numbered: NumberedFile, file_source: Source, jobs: Jobs
) -> None:
    numbered.append(10)
    conf = {"spark.ui.enabled": "true"}
    job = jobs.start(file_source(**NEEDS_SPARK), failpoint="before-final-commit", conf=conf)
    try:
        job.wait_for_failpoint()
        with urllib.request.urlopen(job.event("spark_ui")["url"], timeout=20) as page:
            text = page.read().decode()
    finally:
        job.close()

    assert "Spark Jobs" in text
