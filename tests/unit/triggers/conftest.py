"""Airflow for unit tests: no database, connections from environment variables."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.support.airflow_home import use_own_airflow_home

use_own_airflow_home()


@pytest.fixture
def connection(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes a connection of Airflow: `connection("my_kafka", conn_type="kafka", host="a:9092")`."""

    def make(conn_id: str, **fields: Any) -> None:
        monkeypatch.setenv(f"AIRFLOW_CONN_{conn_id.upper()}", json.dumps(fields))

    return make
