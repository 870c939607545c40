"""One whole Airflow for the tests of this folder: each of them adds a DAG file of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.support.airflow.orders import Orders
from tests.support.airflow.standalone import StandaloneAirflow
from tests.support.databases.postgres import PostgresServer


@pytest.fixture(scope="package")
def airflow(
    bootstrap: str, postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[StandaloneAirflow]:
    """Airflow with `kafka_default` on the test run's broker and `spark_default` on this machine."""
    kafka = {"conn_type": "kafka", "extra": {"bootstrap.servers": bootstrap}}
    connections = {
        "AIRFLOW_CONN_KAFKA_DEFAULT": json.dumps(kafka),
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": "local[2]"}),
    }
    found = StandaloneAirflow(tmp_path_factory.mktemp("airflow"), postgres.create_database(), connections)
    found.start()
    yield found
    found.stop()


@pytest.fixture(scope="package")
def orders(airflow: StandaloneAirflow, bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Orders]:
    """A DAG with a sink of old records, ten an hour."""
    found = Orders(airflow, bootstrap, tmp_path_factory.mktemp("orders"))
    yield found
    found.dag.pause()
