"""A spark-submit that is a script, for groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.connectors.connector_tasks import fake_spark
from tests.support.spark.fake_spark import FakeSpark


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSpark:
    """A fake spark-submit, and both connections. Statuses go nowhere."""
    monkeypatch.setattr("airflow_kconnect.submit.statuses._writer", None)
    monkeypatch.setattr("airflow_kconnect.operators.groups.members.show_failures", lambda *args, **more: None)
    monkeypatch.setattr("airflow_kconnect.operators.group.show_failures", lambda *args, **more: None)
    return fake_spark(tmp_path, monkeypatch)
