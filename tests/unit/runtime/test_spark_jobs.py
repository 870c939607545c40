"""Failures of Spark's jobs."""

from __future__ import annotations

import pytest
from py4j.protocol import Py4JNetworkError

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.runtime.spark_jobs import job_errors


def test_a_jvm_that_is_gone_is_asked_nothing() -> None:
    with pytest.raises(RetriableError, match=r"the Spark job failed: .*no answer"), job_errors():
        raise Py4JNetworkError("no answer")
