"""The doctor's look at the Spark connection."""

from __future__ import annotations

import json
from typing import Any

import pytest

from airflow_kconnect.doctor.airflow import _spark_connection
from tests.support.airflow.home import use_own_airflow_home

use_own_airflow_home()


def _look(monkeypatch: pytest.MonkeyPatch, host: str, **extra: Any) -> tuple[str, str]:
    connection = {"conn_type": "spark", "host": host, "extra": extra}
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))
    finding = _spark_connection()
    return finding.status, finding.text


def test_a_master_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert _look(monkeypatch, "local[2]") == ("ok", "master local[2]")


def test_a_service_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    extra = {"execution_role_arn": "arn:aws:iam::123456789012:role/job", "staging": "s3://bucket/kconnect"}
    expected = "a job runs on EMR Serverless: emr-serverless://00app1"
    assert _look(monkeypatch, "emr-serverless://00app1", **extra) == ("ok", expected)


def test_all_that_a_service_lacks_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    status, text = _look(monkeypatch, "emr-serverless://00app1")
    assert (status, "extra `staging`" in text, "extra `execution_role_arn`" in text) == ("problem", True, True)
