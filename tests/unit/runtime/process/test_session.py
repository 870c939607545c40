"""What is known of Spark before it starts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from airflow_kconnect.runtime.process.session import LazySession


@pytest.mark.parametrize(
    ("master", "local"),
    [
        ("local", True),
        ("local[2]", True),
        ("local[*,3]", True),
        ("local-cluster[2,1,1024]", False),
        ("spark://host:7077", False),
        ("yarn", False),
        ("k8s://https://host", False),
    ],
)
def test_a_local_master_is_one_without_executors(master: str, local: bool) -> None:
    session = cast("Any", SimpleNamespace(sparkContext=SimpleNamespace(master=master)))
    assert LazySession("app", session).is_local == local


def test_a_process_that_spark_submit_has_not_started_has_no_executors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    assert LazySession("app").is_local
