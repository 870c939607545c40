"""Files of a folder as DAGs; the config topic needs a broker and is tested with one."""

from __future__ import annotations

import json
import runpy
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import CronDataIntervalTimetable

from airflow_kconnect import (
    KafkaSinkOperator,
    KafkaSourceOperator,
    RegisteredConnector,
    connector_alias,
    registered_connector_dags,
    topic_asset,
)
from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.errors import ConnectorConfigError

SOURCE = {"connector.class": "FileStreamSource", "file": "/in", "topic": "lines"}
SINK = {"connector.class": "DirectorySink", "topics": "lines", "directory": "/lake"}


@pytest.fixture(autouse=True)
def _connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps({"conn_type": "kconnect", "host": "localhost:1"}))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "connectors").mkdir()
    return tmp_path / "connectors"


def put(folder: Path, name: str, config: Any) -> None:
    (folder / f"{name}.json").write_text(json.dumps({"name": name, "config": config}))


def dags(folder: Path, **parameters: Any) -> dict[str, Any]:
    return {**registered_connector_dags(folder=folder, config_topic=False, **parameters)}


class TestDags:
    def test_have_one_task_by_the_kind_of_the_connector(self, folder: Path) -> None:
        put(folder, "a", SOURCE)
        put(folder, "b", SINK)

        by_name = dags(folder)

        assert {name: (dag.dag_id, type(dag.task_dict["run"])) for name, dag in by_name.items()} == {
            "a": ("kconnect.a", KafkaSourceOperator),
            "b": ("kconnect.b", KafkaSinkOperator),
        }

    def test_run_one_at_a_time_and_start_unpaused_without_catching_up(self, folder: Path) -> None:
        put(folder, "a", SOURCE)

        dag = dags(folder)["a"]

        assert (dag.max_active_runs, dag.catchup, dag.is_paused_upon_creation) == (1, False, False)

    def test_follow_the_keys_of_their_connector(self, folder: Path) -> None:
        keys = {"schedule": "@daily", "retries": "5", "retry.delay.ms": "1000", "pool": "p", "pool.slots": "3"}
        own = {f"kconnect.{key}": text for key, text in {**keys, "owner": "me", "tags": "shop,eu"}.items()}
        put(folder, "a", {**SOURCE, **own})

        dag = dags(folder, schedule="@hourly", retries=1, pool="shared")["a"]

        task = dag.task_dict["run"]
        assert dag.schedule == CronDataIntervalTimetable("0 0 * * *", timezone="UTC")
        assert dag.tags == {"kconnect", "source", "shop", "eu"}
        assert (task.retries, task.retry_delay, task.pool, task.pool_slots, task.owner) == (
            *(5, timedelta(seconds=1), "p", 3),
            "me",
        )

    def test_follow_the_parameters_of_the_call_without_such_keys(self, folder: Path) -> None:
        put(folder, "a", SOURCE)

        dag = dags(folder, schedule="@hourly", retries=1, dag={"tags": ["team"], "max_active_runs": 2})["a"]

        assert dag.schedule == CronDataIntervalTimetable("0 * * * *", timezone="UTC")
        assert (dag.task_dict["run"].retries, dag.tags, dag.max_active_runs) == (1, {"kconnect", "source", "team"}, 2)

    def test_with_an_empty_schedule_are_started_by_hand(self, folder: Path) -> None:
        put(folder, "a", {**SOURCE, "kconnect.schedule": ""})

        assert dags(folder, schedule="@hourly")["a"].schedule is None

    def test_have_the_form_for_replays(self, folder: Path) -> None:
        put(folder, "a", SOURCE)

        assert "mode" in dags(folder)["a"].params

    def test_declare_their_assets_by_the_connectors_name(self, folder: Path) -> None:
        put(folder, "a", SOURCE)
        put(folder, "b", SINK)

        by_name = dags(folder)

        assert by_name["a"].task_dict["run"].outlets == [connector_alias("a")]
        assert by_name["b"].task_dict["run"].inlets == [topic_asset("lines")]

    def test_leave_the_file_to_their_task(self, folder: Path) -> None:
        put(folder, "a", SOURCE)

        task = dags(folder)["a"].task_dict["run"]

        assert task.connector == RegisteredConnector("a", str(folder / "a.json"))

    def test_belong_to_the_file_that_calls(self, tmp_path: Path, folder: Path) -> None:
        put(folder, "a", SOURCE)
        call = "registered_connector_dags(folder='connectors', config_topic=False)"
        (tmp_path / "dag.py").write_text(f"from airflow_kconnect import registered_connector_dags\nfound = {call}\n")

        names = runpy.run_path(str(tmp_path / "dag.py"))

        assert names["found"]["a"].task_dict["run"].connector == RegisteredConnector("a", "connectors/a.json")

    def test_only_the_one_of_the_task_is_made_in_its_process(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        put(folder, "a", SOURCE)
        put(folder, "b", SINK)
        monkeypatch.setenv("_AIRFLOW_PARSING_CONTEXT_DAG_ID", "kconnect.b")

        assert list(dags(folder)) == ["b"]

    def test_change_with_their_file(self, folder: Path) -> None:
        put(folder, "a", SOURCE)
        dags(folder)
        put(folder, "a", {**SOURCE, "kconnect.schedule": "@daily"})
        put(folder, "b", SINK)

        by_name = dags(folder)

        assert list(by_name) == ["a", "b"]
        assert by_name["a"].schedule is not None

    def test_of_names_with_templates_do_not_render_them(self, folder: Path) -> None:
        put(folder, "x", {**SOURCE, "name": "{{ 7 * 7 }}", "topic": "{{ 7 * 7 }}"})
        (folder / "x.json").write_text(json.dumps({**SOURCE, "name": "{{ 7 * 7 }}"}))

        (task,) = (dag.task_dict["run"] for dag in dags(folder).values())
        task.render_template_fields({})

        assert task.connector.name == "{{ 7 * 7 }}"


class TestDocumentation:
    def test_has_the_configuration_and_no_secret(self, folder: Path, cache: Path) -> None:
        config = {
            **{"connector.class": "JdbcSink", "topics": "t", "connection.url": "jdbc:postgresql://db/shop"},
            **{"connection.user": "etl", "connection.password": "very-secret-1"},
        }
        put(folder, "a", config)

        text = dags(folder)["a"].doc_md or ""

        assert '"connection.password": "[hidden]"' in text and '"connection.user": "etl"' in text
        assert "very-secret-1" not in text
        assert not any("very-secret-1" in file.read_text() for file in cache.iterdir())

    def test_cannot_be_broken_by_a_value(self, folder: Path) -> None:
        put(folder, "a", {**SOURCE, "file": "/in\n```\n# Not a heading\n````"})

        text = dags(folder)["a"].doc_md or ""

        assert "`````json" in text

    def test_is_the_same_each_time(self, folder: Path) -> None:
        put(folder, "a", SOURCE)

        assert dags(folder)["a"].doc_md == dags(folder)["a"].doc_md


class TestInvalid:
    def test_ones_are_marked_and_do_not_affect_others(self, folder: Path) -> None:
        put(folder, "a", SOURCE)
        put(folder, "b", {**SINK, "kconnect.schedule": "whenever", "kconnect.spark.conf.spark.jars": "x.jar"})

        by_name = dags(folder, schedule="@hourly")

        assert ("kconnect-invalid" in by_name["a"].tags, "kconnect-invalid" in by_name["b"].tags) == (False, True)
        assert by_name["b"].schedule is None
        assert "kconnect.spark.conf.spark.jars: the worker does not allow" in (by_name["b"].doc_md or "")

    @pytest.mark.parametrize(
        ("content", "problem"),
        [
            ('{"name": "x", "config": {"connector.class": "Nope"}}', "Nope"),
            ('{"name": "x", "config": {"topic": "t"}}', "connector.class"),
            ("{", "is not JSON"),
        ],
    )
    def test_ones_without_an_operator_fail_with_the_reason(self, folder: Path, content: str, problem: str) -> None:
        (folder / "x.json").write_text(content)

        task = dags(folder)["x"].task_dict["run"]

        with pytest.raises(ConnectorConfigError, match=problem):
            task.execute({})

    def test_two_files_of_one_connector_run_neither(self, folder: Path) -> None:
        put(folder, "a", SOURCE)
        (folder / "b.json").write_text(json.dumps({**SINK, "name": "a"}))

        (dag,) = dags(folder).values()

        with pytest.raises(ConnectorConfigError, match=r"both a\.json and b\.json are connector `a`"):
            dag.task_dict["run"].execute({})

    def test_parameters_that_airflow_refuses_are_the_connectors_problem_alone(self, folder: Path) -> None:
        put(folder, "a", {**SOURCE, "kconnect.schedule": "@continuous"})
        put(folder, "b", SINK)

        by_name = dags(folder, dag={"max_active_runs": 2})

        assert "Airflow refuses" in (by_name["a"].doc_md or "")
        assert isinstance(by_name["b"].task_dict["run"], KafkaSinkOperator)

    def test_folder_is_an_import_error(self, tmp_path: Path) -> None:
        with pytest.raises(ConfigError, match="is not a folder"):
            dags(tmp_path / "nowhere")

    def test_connection_is_an_import_error_if_nothing_was_ever_read(self) -> None:
        with pytest.raises(RetriableError, match=r"no earlier list of them: .*`nope` does not exist"):
            registered_connector_dags(kafka_conn_id="nope")
