"""A folder of connector files as tasks."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG, TaskGroup

from airflow_kconnect import (
    KafkaSinkOperator,
    KafkaSourceOperator,
    connector_alias,
    connectors_from_folder,
    topic_asset,
)
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.migration.folder import DAG_FILE, ConnectorFolder

SOURCE = {"connector.class": "FileStreamSource", "file": "/in", "topic": "lines"}
SINK = {"connector.class": "DirectorySink", "topics": "lines", "directory": "/lake"}


def put(folder: Path, file: str, content: Any) -> None:
    (folder / file).write_text(content if isinstance(content, str) else json.dumps(content))


def errors_of(folder: Path, **parameters: Any) -> dict[str, list[str]]:
    with DAG("d"), pytest.raises(ConfigError) as caught:
        connectors_from_folder(folder, **parameters)
    return {Path(key).name: texts for key, texts in caught.value.errors.items()}


class TestFiles:
    def test_become_operators_by_their_class_in_order_of_names(self, tmp_path: Path) -> None:
        put(tmp_path, "1.json", {"name": "z-sink", "config": SINK})
        put(tmp_path, "2.properties", "name=m-source\nconnector.class=FileStreamSource\nfile=/in\ntopic=lines\n")
        put(tmp_path, "3.yaml", "name: a-source\nconfig: {connector.class: FileStreamSource, file: /in, topic: on}\n")

        with DAG("d") as dag:
            operators = connectors_from_folder(tmp_path)

        assert {name: type(operator) for name, operator in operators.items()} == {
            "a-source": KafkaSourceOperator,
            "m-source": KafkaSourceOperator,
            "z-sink": KafkaSinkOperator,
        }
        assert list(operators) == sorted(operators) == sorted(dag.task_ids)

    def test_of_yaml_have_text_as_it_is_written(self, tmp_path: Path) -> None:
        put(
            tmp_path,
            "a.yml",
            "name: a\nconnector.class: FileStreamSource\ntopic: on\ntasks.max: 01\nfile: 2026-01-01\n",
        )

        with DAG("d"):
            (operator,) = connectors_from_folder(tmp_path).values()

        assert isinstance(operator.connector, dict)
        assert [operator.connector[key] for key in ("topic", "tasks.max", "file")] == ["on", "01", "2026-01-01"]

    def test_of_other_kinds_are_left_alone(self, tmp_path: Path) -> None:
        put(tmp_path, "README.md", "# Connectors")
        put(tmp_path, ".hidden.json", "{")
        (tmp_path / "below.json").mkdir()

        with DAG("d"):
            assert connectors_from_folder(tmp_path) == {}

    def test_are_found_next_to_the_calling_file(self, tmp_path: Path) -> None:
        (tmp_path / "connectors").mkdir()
        put(tmp_path / "connectors", "a.json", {"name": "a", "config": SOURCE})
        put(tmp_path, "dag.py", "from airflow_kconnect import *\nfound = connectors_from_folder('connectors')\n")

        with DAG("d"):
            names = runpy.run_path(str(tmp_path / "dag.py"))

        assert list(names["found"]) == ["a"]


class TestTasks:
    def test_declare_their_assets(self, tmp_path: Path) -> None:
        put(tmp_path, "a.json", {"name": "a", "config": SOURCE})
        put(tmp_path, "b.json", {"name": "b", "config": SINK})

        with DAG("d"):
            operators = connectors_from_folder(tmp_path)

        assert operators["a"].outlets == [connector_alias("a")]
        assert operators["b"].inlets == [topic_asset("lines")]

    def test_have_ids_that_airflow_takes(self, tmp_path: Path) -> None:
        put(tmp_path, "a.json", {"name": "orders / new: é", "config": SOURCE})

        with DAG("d"):
            (operator,) = connectors_from_folder(tmp_path).values()

        assert operator.task_id == "orders_new_é"

    def test_belong_to_a_group(self, tmp_path: Path) -> None:
        put(tmp_path, "a.json", {"name": "a", "config": SOURCE})

        with DAG("d") as dag, TaskGroup("group"):
            connectors_from_folder(tmp_path)

        assert dag.task_ids == ["group.a"]

    def test_have_the_shared_parameters_and_their_own(self, tmp_path: Path) -> None:
        put(tmp_path, "a.json", {"name": "a", "config": SOURCE})
        put(tmp_path, "b.json", {"name": "b", "config": SINK})

        with DAG("d"):
            operators = connectors_from_folder(tmp_path, each={"b": {"retries": 7}}, retries=2, pool="kafka")

        assert [(operators[name].retries, operators[name].pool) for name in "ab"] == [(2, "kafka"), (7, "kafka")]

    @pytest.mark.parametrize(
        "secret",
        [
            {"consumer.override.sasl.jaas.config": "literal-61"},
            {"connection.url": "jdbc:postgresql://etl:literal-61@db/shop"},
        ],
    )
    def test_whose_file_has_a_literal_secret_keep_it_out_of_airflow(
        self, tmp_path: Path, secret: dict[str, str]
    ) -> None:
        put(tmp_path, "a.json", {"name": "a", "config": {**SINK, **secret}})

        with DAG("d"):
            (operator,) = connectors_from_folder(tmp_path).values()

        assert operator.connector == str(tmp_path / "a.json")

    def test_whose_secrets_are_references_show_them(self, tmp_path: Path) -> None:
        config = {**SOURCE, "producer.override.sasl.jaas.config": "${file:/run/secrets/kafka:jaas}"}
        put(tmp_path, "a.json", {"name": "a", "config": config})

        with DAG("d"):
            (operator,) = connectors_from_folder(tmp_path).values()

        assert operator.connector == {**config, "name": "a"}


class TestErrors:
    def test_name_all_files_at_once(self, tmp_path: Path) -> None:
        put(tmp_path, "a.json", "{")
        put(tmp_path, "b.yaml", "a: [")
        put(tmp_path, "c.json", {"name": "c", "config": {"topic": "t"}})
        put(tmp_path, "d.json", SOURCE)
        put(tmp_path, "e.yaml", "name: e\nname: f\n")
        put(tmp_path, "good.json", {"name": "good", "config": SOURCE})

        errors = errors_of(tmp_path)

        assert list(errors) == ["a.json", "b.yaml", "c.json", "d.json", "e.yaml"]
        assert errors["a.json"][0].startswith("the file is not JSON")
        assert errors["b.yaml"][0].startswith("the file is not YAML")
        assert errors["c.json"] == ["`connector.class`: is missing"]
        assert errors["d.json"] == ["`name`: is missing"]
        assert "has the key `name` twice" in errors["e.yaml"][0]

    def test_of_an_unknown_class_name_the_file(self, tmp_path: Path) -> None:
        put(tmp_path, "a.json", {"name": "a", "config": {"connector.class": "NoSuchConnector"}})

        assert "NoSuchConnector" in errors_of(tmp_path)["a.json"][0]

    def test_two_files_of_one_name_are_one(self, tmp_path: Path) -> None:
        put(tmp_path, "1.json", {"name": "a", "config": SOURCE})
        put(tmp_path, "2.json", {"name": "a", "config": SINK})

        assert errors_of(tmp_path) == {"2.json": ["`name`: `a` is the connector of 1.json too"]}

    def test_a_missing_folder_is_one(self, tmp_path: Path) -> None:
        assert errors_of(tmp_path / "nowhere") == {"folder": [f"{tmp_path / 'nowhere'} is not a folder"]}

    def test_parameters_for_an_unknown_connector_are_one(self, tmp_path: Path) -> None:
        assert list(errors_of(tmp_path, each={"typo": {}})) == ["each.typo"]


def test_the_dag_file_of_a_migration_has_a_task_for_each_connector(tmp_path: Path) -> None:
    folder = ConnectorFolder(tmp_path / "moved")
    folder.write("orders", SOURCE)
    folder.write("lake", SINK)
    folder.write_dag({"bootstrap.servers": "b:9092", "group.id": "connect-cluster"})
    (dag,) = (each for each in runpy.run_path(str(folder.path / DAG_FILE)).values() if isinstance(each, DAG))
    assert (dag.dag_id, sorted(dag.task_ids)) == ("moved", ["lake", "orders"])
