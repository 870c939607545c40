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


@pytest.fixture(scope="session")
def api_server(airflow_database: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Settings of Airflow's API server, which listens with the plugins that are installed: its app takes seconds."""
    from airflow.api_fastapi.app import create_app

    from tests.support.pages.connectors_page import served

    passwords = tmp_path_factory.mktemp("auth") / "passwords.json"
    passwords.write_text(json.dumps(PASSWORDS))
    settings = {
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "False",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_USERS": "ada:admin,bob:viewer,colon:viewer",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(passwords),
        "AIRFLOW__KCONNECT__BASIC_AUTH": "True",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, text in settings.items():
            patch.setenv(name, text)
        app = create_app(apps="core")
    with served(app) as url:
        yield settings | {"AIRFLOW__API__BASE_URL": url}


@pytest.fixture
def airflow_url(api_server: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    """Where Airflow's API server listens; it has three users with passwords, and reads its settings as it answers."""
    for name, text in api_server.items():
        monkeypatch.setenv(name, text)
    return api_server["AIRFLOW__API__BASE_URL"]
