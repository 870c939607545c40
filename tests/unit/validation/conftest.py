"""What the tests of configurations share."""

from __future__ import annotations

import pytest

from airflow_kconnect.plugins import registry as plugins
from tests.support.connectors.fake_plugins import REGISTRY


@pytest.fixture
def fake_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the fake plugins are installed."""
    monkeypatch.setattr(plugins, "registry", lambda: REGISTRY)
