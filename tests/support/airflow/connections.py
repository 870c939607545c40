"""A fixture for Airflow connections that needs no database; conftest files import it by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Creates an Airflow connection: `connection("my_kafka", conn_type="kafka", host="a:9092")`."""

    def make(conn_id: str, **fields: Any) -> None:
        monkeypatch.setenv(f"AIRFLOW_CONN_{conn_id.upper()}", json.dumps(fields))

    return make
