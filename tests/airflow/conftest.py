"""A migrated Airflow for the tests of this folder; its home is set before anything imports Airflow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from airflow_kconnect.local.broker import EmbeddedBroker
from tests.support.airflow.home import use_own_airflow_home
from tests.support.s3 import S3Server

HOME = use_own_airflow_home()
PASSWORDS = {"ada": "geheim", "bob": "auch geheim", "colon": "with:colon"}


@pytest.fixture(scope="session")
def airflow_database() -> Path:
    """Airflow's home with its database made."""
    from airflow.utils.db import initdb

    if not (HOME / "airflow.db").exists():
        initdb()
    return HOME


@pytest.fixture
def connections(broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`spark_default` on this machine, `kafka_default` on the test run's broker, with a value that Airflow looks up."""
    kafka = {"conn_type": "kconnect", "host": broker.bootstrap, "extra": {"group_id": "${airflow-var:kafka_group}"}}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps(kafka))
    monkeypatch.setenv("AIRFLOW_VAR_KAFKA_GROUP", "kconnect")
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]"}))
    yield


@pytest.fixture
def store(tmp_path: Path) -> Iterator[S3Server]:
    """A server of S3."""
    (tmp_path / "s3").mkdir()
    server = S3Server(tmp_path / "s3")
    yield server
    server.remove()


@pytest.fixture(scope="module")
def airflow_url(airflow_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where Airflow's API server listens; it has three users with passwords."""
    from airflow.api_fastapi.app import create_app, purge_cached_app

    from tests.support.pages.connectors_page import served

    passwords = tmp_path_factory.mktemp("auth") / "passwords.json"
    passwords.write_text(json.dumps(PASSWORDS))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS", "False")
        patch.setenv("AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS", "ada:admin,bob:viewer,colon:viewer")
        patch.setenv("AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE", str(passwords))
        patch.setenv("AIRFLOW__KCONNECT__BASIC_AUTH", "True")
        purge_cached_app()
        with served(create_app(apps="core")) as listening:
            patch.setenv("AIRFLOW__API__BASE_URL", listening)
            yield listening
        purge_cached_app()
