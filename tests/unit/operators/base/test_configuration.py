"""What an operator makes of its configuration, and its errors before anything is submitted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import AirflowFailException
from airflow.sdk import DAG

from airflow_kconnect import KafkaSinkOperator, KafkaSourceOperator, connector_alias
from airflow_kconnect.errors import ConnectorConfigError
from airflow_kconnect.operators.base import ConnectorOperator
from tests.support.airflow.operator_runs import CONFIG, REPORT, SOURCE, context, source
from tests.support.spark.fake_spark import FakeSpark


class TestConfigurationErrors:
    def _fails(self, operator: ConnectorOperator, spark: FakeSpark) -> str:
        with pytest.raises(AirflowFailException) as caught:
            operator.execute(context())
        assert not (spark.folder / "command.json").exists(), "spark-submit was started"
        return str(caught.value)

    def test_all_are_reported_before_anything_is_submitted(self, spark: FakeSpark) -> None:
        config = {"connector.class": "FileStreamSource", "tasks.max": "many", "errors.tolerance": "some"}
        text = self._fails(source(connector={"name": "lines", "config": config}), spark)

        for key in ("`tasks.max`", "`topic`", "`errors.tolerance`"):
            assert key in text

    def test_a_source_in_the_sink_operator(self, spark: FakeSpark) -> None:
        assert "sink" in self._fails(KafkaSinkOperator(task_id="w", connector=SOURCE), spark)

    def test_a_missing_spark_connection_never_means_yarn(
        self, spark: FakeSpark, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("AIRFLOW_CONN_SPARK_DEFAULT")

        text = self._fails(source(), spark)

        assert "Spark connection `spark_default` does not exist" in text
        assert "airflow connections add spark_default" in text

    def test_a_missing_kafka_connection(self, spark: FakeSpark) -> None:
        assert "Kafka connection `nope` does not exist" in self._fails(source(kafka_conn_id="nope"), spark)

    def test_speculation(self, spark: FakeSpark) -> None:
        assert "spark.speculation" in self._fails(source(conf={"spark.speculation": "true"}), spark)

    def test_arguments_of_the_job_are_ours(self) -> None:
        with pytest.raises(TypeError, match="application_args"):
            source(application_args=["x"])

    def test_a_wrong_configuration_is_not_an_error_when_the_dag_is_parsed(self) -> None:
        source(connector={"connector.class": "NoSuch"})


class TestVariables:
    @pytest.fixture(autouse=True)
    def warehouse(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AIRFLOW_VAR_FOLDER", "/data/folder-71")
        database = {"conn_type": "postgres", "login": "etl", "password": "db-pass-72"}
        monkeypatch.setenv("AIRFLOW_CONN_WAREHOUSE", json.dumps(database))

    def _source(self, **changes: str) -> KafkaSourceOperator:
        config = {**CONFIG, "file": "${airflow-var:folder}/in"} | changes
        return source(connector={"name": "lines", "config": config})

    def test_reach_the_job_next_to_a_configuration_without_their_values(self, spark: FakeSpark) -> None:
        operator = self._source(**{"producer.override.sasl.password": "${airflow:warehouse:password}"})
        operator.execute(context())

        spec = spark.run["spec"]
        assert spec["config"]["file"] == "${airflow-var:folder}/in"
        assert spec["variables"] == {
            "airflow-var::folder": "/data/folder-71",
            "airflow:warehouse:password": "db-pass-72",
        }

    def test_are_not_resolved_in_rendered_fields(self) -> None:
        operator = self._source()
        operator.render_template_fields({})

        assert operator.connector["config"]["file"] == "${airflow-var:folder}/in"  # type: ignore[index]

    def test_are_not_on_the_command_line(self, spark: FakeSpark) -> None:
        self._source().execute(context())

        assert "folder-71" not in str(spark.command)

    def test_are_not_asked_for_when_the_dag_is_parsed(self) -> None:
        self._source(file="${airflow:no_such_connection:host}")

    def test_without_value_are_reported_with_the_connector(self, spark: FakeSpark) -> None:
        with pytest.raises(
            ConnectorConfigError, match=r"of connector lines .*`file`: variable \$\{airflow:nope:host\}"
        ):
            self._source(file="${airflow:nope:host}").execute(context())


class TestDatabase:
    """A JDBC connector whose database is an Airflow connection."""

    CONNECTOR = {
        "name": "lines",
        "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
        "connection.url": "${airflow:warehouse:jdbc_url}",
        "mode": "bulk",
        "topic.prefix": "db-",
        "table.whitelist": "orders",
    }

    @pytest.fixture
    def warehouse(self, monkeypatch: pytest.MonkeyPatch) -> None:
        database = {"conn_type": "postgres", "host": "db", "schema": "shop", "login": "etl", "password": "db-pass-91"}
        monkeypatch.setenv("AIRFLOW_CONN_WAREHOUSE", json.dumps(database))

    def test_reaches_the_job_as_references_and_their_values(self, spark: FakeSpark, warehouse: None) -> None:
        source(connector=self.CONNECTOR).execute(context())

        spec = spark.run["spec"]
        assert spec["config"] == {
            **self.CONNECTOR,
            "connection.user": "${airflow:warehouse:login}",
            "connection.password": "${airflow:warehouse:password}",
        }
        assert spec["variables"] == {
            "airflow:warehouse:jdbc_url": "jdbc:postgresql://db:5432/shop",
            "airflow:warehouse:login": "etl",
            "airflow:warehouse:password": "db-pass-91",
        }

    def test_stays_a_reference_in_the_rendered_fields(self, warehouse: None) -> None:
        operator = source(connector=self.CONNECTOR)
        operator.render_template_fields(context())
        assert operator.connector == self.CONNECTOR

    def test_of_a_wrong_type_ends_the_task_before_spark_starts(
        self, spark: FakeSpark, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AIRFLOW_CONN_WAREHOUSE", json.dumps({"conn_type": "ftp", "password": "db-pass-91"}))

        with pytest.raises(
            ConnectorConfigError, match="`warehouse`, which is of type `ftp`, expected one of"
        ) as caught:
            source(connector=self.CONNECTOR).execute(context())

        assert "db-pass-91" not in str(caught.value)
        assert not (spark.folder / "command.json").exists()


class TestMapped:
    def _unmapped(self, **worker: str) -> Any:
        with DAG("d"):
            mapped = KafkaSourceOperator.partial(task_id="read", worker_config=worker).expand(connector=[SOURCE])
        return mapped.unmap({"connector": SOURCE})

    def test_has_the_alias_of_its_connector(self) -> None:
        assert self._unmapped().outlets == [connector_alias("lines")]

    def test_a_secret_that_airflow_would_store_is_refused(self, spark: FakeSpark) -> None:
        with pytest.raises(
            ConnectorConfigError, match=r"`sasl\.password`: is a secret in the `worker_config` of a mapped"
        ):
            self._unmapped(**{"sasl.password": "literal-95"}).execute(context())

    def test_a_reference_is_not(self, spark: FakeSpark, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PASSWORD", "some-95")

        assert self._unmapped(**{"sasl.password": "${env:PASSWORD}"}).execute(context()) == REPORT
