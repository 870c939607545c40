"""`kconnect doctor --airflow` with a real Airflow database, and without one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from airflow_kconnect.cli import app
from airflow_kconnect.local.broker import EmbeddedBroker

Findings = dict[str, dict[str, str]]


def _doctor() -> Findings:
    result = CliRunner().invoke(app, ["doctor", "--airflow", "--json"])
    return {finding["name"]: finding for finding in json.loads(result.stdout)["findings"]}


@pytest.fixture(scope="module")
def found(
    airflow_database: Path, broker: EmbeddedBroker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Findings]:
    """The findings for a Kafka connection that works, and a Spark connection of another type."""
    connections = {
        "KAFKA": {"conn_type": "kconnect", "host": broker.bootstrap},
        "SPARK": {"conn_type": "http", "host": "local[2]"},
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KCONNECT_HOME", str(tmp_path_factory.mktemp("home")))
        for name, fields in connections.items():
            patch.setenv(f"AIRFLOW_CONN_{name}_DEFAULT", json.dumps(fields))
        yield _doctor()


def test_the_kafka_connection_is_tried(found: Findings) -> None:
    connection = found["Connection kafka_default"]
    assert (connection["status"], "answers; it has 1 broker" in connection["text"]) == ("ok", True)


def test_a_spark_connection_of_another_type_is_a_problem(found: Findings) -> None:
    connection = found["Connection spark_default"]
    assert (connection["status"], connection["text"]) == ("problem", "has type `http`, expected `spark`")


def test_a_database_without_tables_is_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AIRFLOW_HOME", str(tmp_path))
    monkeypatch.setenv("AIRFLOW__DATABASE__SQL_ALCHEMY_CONN", f"sqlite:///{tmp_path}/airflow.db")
    found = _doctor()["Airflow connections"]
    assert (found["status"], "`airflow db migrate`" in found["cure"]) == ("problem", True)
