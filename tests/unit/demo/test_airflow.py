"""The Airflow of the demo."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.demo.airflow import environment
from airflow_kconnect.demo.folder import DemoFolder


class TestEnvironment:
    @pytest.mark.parametrize(
        "name", ["AIRFLOW_CONFIG", "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN_CMD", "AIRFLOW_CONN_KAFKA_DEFAULT"]
    )
    def test_has_nothing_of_the_users_airflow(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(name, "of the user")

        assert name not in environment(DemoFolder(Path("/demo")))

    def test_everything_is_in_the_folder(self) -> None:
        variables = environment(DemoFolder(Path("/my demo")))

        assert variables["AIRFLOW__DATABASE__SQL_ALCHEMY_CONN"] == "sqlite:////my demo/airflow/airflow.db"
