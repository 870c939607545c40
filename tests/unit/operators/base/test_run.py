"""A run of an operator: what the job gets, what comes out, what stays behind."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
from airflow.sdk import DAG

from airflow_kconnect.errors import ConnectorConfigError
from airflow_kconnect.submit.spark import job_path
from airflow_kconnect.submit.worker_defaults import WORKER_DEFAULTS
from tests.support.airflow.operator_runs import CONFIG, REPORT, SOURCE, context, source
from tests.support.spark.fake_spark import FakeSpark


class TestRun:
    def test_returns_the_report(self, spark: FakeSpark) -> None:
        report = source().execute(context())

        assert report == REPORT
        assert json.loads(json.dumps(report)) == report

    def test_the_job_gets_configuration_worker_and_kind_in_a_file_of_the_owner_alone(self, spark: FakeSpark) -> None:
        source(worker_config={"group.id": "team"}).execute(context())

        seen = spark.run
        assert seen["mode"] == stat.S_IRUSR | stat.S_IWUSR
        assert seen["spec"] == {
            "config": {"name": "lines", **CONFIG},
            "worker": WORKER_DEFAULTS
            | {"bootstrap.servers": "broker:9092", "sasl.password": "conn-pass-1", "group.id": "team"},
            "kind": "source",
            "run_id": "d/manual__1/t#2",
            "replay_dead_letters": False,
            "replay": None,
            "dry_run": False,
            "preview": None,
            "upkeep": None,
            "variables": {},
            "origin": {"dag": "d", "task": "t", "run": "manual__1", "map_index": -1, "try": 2},
            "token": ANY,
        }

    def test_a_source_has_no_dead_letters_to_replay(self, spark: FakeSpark) -> None:
        asked = context()
        asked["params"] = {"mode": "dead_letters"}
        with pytest.raises(ConnectorConfigError, match="`dead_letters` is for sinks"):
            source().execute(asked)

    def test_the_worker_configuration_wins_over_the_connection(self, spark: FakeSpark) -> None:
        source(worker_config={"bootstrap.servers": "other:9092"}).execute(context())

        assert spark.run["spec"]["worker"]["bootstrap.servers"] == "other:9092"

    def test_the_worker_configuration_alone_will_do(self, spark: FakeSpark) -> None:
        source(kafka_conn_id=None, worker_config={"bootstrap.servers": "other:9092"}).execute(context())

        assert spark.run["spec"]["worker"] == {**WORKER_DEFAULTS, "bootstrap.servers": "other:9092"}

    def test_the_file_is_gone_afterwards(self, spark: FakeSpark) -> None:
        source().execute(context())

        assert not Path(spark.run["path"]).exists()

    def test_no_secret_is_on_the_command_line(self, spark: FakeSpark) -> None:
        module = "org.apache.kafka.common.security.plain.PlainLoginModule"
        jaas = f'{module} required username="u" password="literal-secret-5";'
        config = {**CONFIG, "producer.override.sasl.jaas.config": jaas}
        source(connector={"name": "lines", "config": config}).execute(context())

        command = spark.command
        assert "conn-pass-1" not in str(command)
        assert "literal-secret-5" not in str(command)
        assert command[-3:] == [str(job_path()), "--run", spark.run["path"]]

    def test_the_job_is_named_after_the_connector(self, spark: FakeSpark) -> None:
        source().execute(context())
        assert "kconnect-lines" in spark.command

        source(name="mine").execute(context())
        assert "mine" in spark.command

    def test_parameters_of_spark_submit_are_passed_on(self, spark: FakeSpark) -> None:
        source(driver_memory="3g", conf={"spark.x": "y"}, jars="/a.jar", num_executors=3).execute(context())

        command = " ".join(spark.command)
        for part in ("--driver-memory 3g", "--conf spark.x=y", "--jars /a.jar", "--num-executors 3"):
            assert part in command

    def test_a_mapped_task_says_which_one_it_is(self, spark: FakeSpark) -> None:
        mapped = context()
        mapped["ti"].map_index = 4
        source().execute(mapped)

        assert spark.run["spec"]["run_id"] == "d/manual__1/t[4]#2"

    def test_a_file_is_read_next_to_the_dag(self, spark: FakeSpark, tmp_path: Path) -> None:
        (tmp_path / "lines.json").write_text(json.dumps(SOURCE))
        with DAG("d") as dag:
            dag.fileloc = str(tmp_path / "dag.py")
            operator = source(connector="lines.json")

        assert operator.execute(context()) == REPORT


class TestOnKill:
    def test_before_execute_it_does_nothing(self) -> None:
        source().on_kill()

    def test_removes_the_file(self, spark: FakeSpark) -> None:
        operator = source()
        seen: list[bool] = []

        def killed(context: Any, spec: Any, cluster: bool) -> None:
            assert operator._run_file is not None
            operator.on_kill()
            seen.append(operator._run_file.exists())

        operator._run = killed  # type: ignore[method-assign]
        operator.execute(context())

        assert seen == [False]


class TestConnections:
    def test_the_spark_connection_has_two_names(self) -> None:
        assert source(spark_conn_id="a")._conn_id == source(conn_id="a").spark_conn_id == "a"
        assert source().spark_conn_id == "spark_default"

    def test_the_documented_name_wins(self) -> None:
        assert source(spark_conn_id="a", conn_id="b").spark_conn_id == "a"

    def test_their_ids_are_templates(self, spark: FakeSpark, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_B", json.dumps({"conn_type": "spark", "host": "local[7]"}))
        monkeypatch.setenv("AIRFLOW_CONN_KAFKA_B", json.dumps({"conn_type": "kconnect", "host": "b:9092"}))
        operator = source(spark_conn_id="spark_{{ params.team }}", kafka_conn_id="kafka_{{ params.team }}")
        operator.render_template_fields(context() | {"params": {"team": "b"}})

        operator.execute(context())

        assert "local[7]" in spark.command
        assert spark.run["spec"]["worker"] == {**WORKER_DEFAULTS, "bootstrap.servers": "b:9092"}
