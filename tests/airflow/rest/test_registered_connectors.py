"""Registered connectors as DAGs: the shipped DAG file in a migrated Airflow, and a real run of one of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.local.broker import EmbeddedBroker
from tests.support.airflow.dags import add_dag, report_of
from tests.support.control import control_plane, control_worker, register

EXAMPLE = Path(__file__).parents[3] / "dags" / "example_registered_connectors.py"

SECRET = "very-secret-17"
SOURCE = {
    "connector.class": "FileStreamSource",
    "topic": "registered-lines",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    "kconnect.schedule": "15m",
    "kconnect.tags": "shop",
}


@pytest.fixture
def props(broker: EmbeddedBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Keys of the worker of `kafka_default`, with topics of its own."""
    props = control_worker(broker.bootstrap)
    extra = {key: text for key, text in props.items() if key != "bootstrap.servers"}
    kafka = {"conn_type": "kconnect", "host": broker.bootstrap, "extra": extra}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps(kafka))
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]"}))
    monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path / "cache"))
    return props


def bag_of(file: Path) -> Any:
    from airflow.dag_processing.dagbag import DagBag

    return DagBag(file)


def serialized(dag: Any) -> dict[str, Any]:
    from airflow.serialization.serialized_objects import DagSerialization

    data: dict[str, Any] = json.loads(json.dumps(DagSerialization.to_dict(dag)))
    return data


def test_the_shipped_file_has_no_dags_without_connectors(airflow_database: Path, props: dict[str, str]) -> None:
    bag = bag_of(EXAMPLE)

    assert (bag.import_errors, bag.dags) == ({}, {})


def test_a_wrong_connection_is_an_import_error(
    airflow_database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps({"conn_type": "kconnect", "host": "localhost:1"}))
    monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path / "cache"))

    (error,) = bag_of(EXAMPLE).import_errors.values()

    assert "the registered connectors cannot be read" in error and "localhost:1" in error


def test_dags_survive_being_stored_and_have_no_secret(airflow_database: Path, props: dict[str, str]) -> None:
    from airflow.serialization.serialized_objects import DagSerialization

    secret = {"file": "/in", "producer.override.sasl.password": SECRET}
    register(props, orders={**SOURCE, **secret}, broken={**SOURCE, **secret})
    with control_plane(props) as plane:
        plane.put_config("a b", {**SOURCE, **secret, "kconnect.schedule": ""})

    bag = bag_of(EXAMPLE)

    assert bag.import_errors == {}
    assert sorted(bag.dags) == ["kconnect.a_b-c8687a08aa5d6ed2", "kconnect.broken", "kconnect.orders"]
    for dag in bag.dags.values():
        data = serialized(dag)
        assert SECRET not in json.dumps(data)
        stored = DagSerialization.from_dict(data)
        assert stored.task_dict["run"].task_type == "KafkaSourceOperator"
        assert serialized(dag) == data
    stored = DagSerialization.from_dict(serialized(bag.dags["kconnect.orders"]))
    assert stored.timetable.summary == "0:15:00"
    assert set(stored.tags) == {"kconnect", "shop", "source"}


@pytest.mark.exhaustive  # standalone/test_registered_connectors.py runs one
@pytest.mark.spark_submit
@pytest.mark.timeout(600)
def test_a_connector_runs_with_what_is_registered_when_it_runs(
    airflow_database: Path, props: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "in.txt").write_text("one\ntwo\nthree\n")
    register(props, lines={**SOURCE, "file": "/nowhere"})
    dag = add_dag(tmp_path / "dags", EXAMPLE.read_text())
    register(props, lines={**SOURCE, "file": str(tmp_path / "in.txt")})

    run = dag.test()

    assert run.state == "success"
    assert report_of(run, "run")["records"]["written"] == 3


@pytest.mark.spark_submit
def test_a_paused_connector_is_skipped(airflow_database: Path, props: dict[str, str], tmp_path: Path) -> None:
    from airflow_kconnect import KafkaConnectHook

    register(props, lines={**SOURCE, "file": str(tmp_path / "in.txt")})
    dag = add_dag(tmp_path / "dags", EXAMPLE.read_text())
    KafkaConnectHook().pause("lines")

    run = dag.test()

    assert [task.state for task in run.get_task_instances()] == ["skipped"]
