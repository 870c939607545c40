"""The operators around a spark-submit that is a script: what goes in, what comes out, what stays behind."""

from __future__ import annotations

import json
import stat
import tempfile
import traceback
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import ANY

import pytest
from airflow.providers.common.compat.sdk import AirflowException, AirflowFailException, redact
from airflow.sdk import DAG

from airflow_kconnect import KafkaSinkOperator, KafkaSourceOperator, connector_alias
from airflow_kconnect.connect.run import RunReport, event_line
from airflow_kconnect.errors import (
    ConnectorConfigError,
    ConnectorFencedError,
    ConnectorInternalError,
    ConnectorRetriableError,
    ConnectorRunError,
)
from airflow_kconnect.operators.base import ConnectorOperator
from airflow_kconnect.submit.spark import job_path
from tests.support.fake_spark import FakeSpark, printing

CONFIG = {"connector.class": "FileStreamSource", "file": "/data/in", "topic": "lines"}
SOURCE = {"name": "lines", "config": CONFIG}
REPORT = RunReport(connector="lines", kind="source", connector_class="C", run_id="r", records={"written": 7}).as_dict()
DONE = printing(event_line("report", report=REPORT))


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSpark:
    """Both connections, and a spark-submit that ends with a report."""
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    # Run files go here, so that a test sees whether one is left.
    (tmp_path / "run-files").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "run-files"))
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps({"conn_type": "spark", "host": "local[2]"}))
    _kafka(monkeypatch, {"bootstrap.servers": "broker:9092", "sasl.password": "conn-pass-1"})
    spark = FakeSpark(tmp_path)
    spark.behave(DONE)
    return spark


def _kafka(monkeypatch: pytest.MonkeyPatch, extra: dict[str, Any]) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps({"conn_type": "kafka", "extra": extra}))


def _context(**dag_run: Any) -> Any:
    ti = SimpleNamespace(dag_id="d", task_id="t", run_id="manual__1", map_index=-1, try_number=2)
    return {"ti": ti, "dag_run": SimpleNamespace(**{"clear_number": 0, "run_type": "manual"} | dag_run)}


def _source(**parameters: Any) -> KafkaSourceOperator:
    return KafkaSourceOperator(**{"task_id": "read", "connector": SOURCE} | parameters)


def _seen(spark: FakeSpark) -> dict[str, Any]:
    seen: dict[str, Any] = json.loads((spark.folder / "run.json").read_text())
    return seen


def _command(spark: FakeSpark) -> list[str]:
    command: list[str] = json.loads((spark.folder / "command.json").read_text())
    return command


class TestRun:
    def test_returns_the_report(self, spark: FakeSpark) -> None:
        report = _source().execute(_context())

        assert report == REPORT
        assert json.loads(json.dumps(report)) == report

    def test_the_job_gets_configuration_worker_and_kind_in_a_file_of_the_owner_alone(self, spark: FakeSpark) -> None:
        _source(worker_config={"group.id": "team"}).execute(_context())

        seen = _seen(spark)
        assert seen["mode"] == stat.S_IRUSR | stat.S_IWUSR
        assert seen["spec"] == {
            "config": {"name": "lines", **CONFIG},
            "worker": {"bootstrap.servers": "broker:9092", "sasl.password": "conn-pass-1", "group.id": "team"},
            "kind": "source",
            "run_id": "d/manual__1/t#2",
            "replay_dead_letters": False,
            "replay": None,
            "dry_run": False,
            "variables": {},
            "token": ANY,
        }

    def test_the_worker_configuration_wins_over_the_connection(self, spark: FakeSpark) -> None:
        _source(worker_config={"bootstrap.servers": "other:9092"}).execute(_context())

        assert _seen(spark)["spec"]["worker"]["bootstrap.servers"] == "other:9092"

    def test_the_worker_configuration_alone_will_do(self, spark: FakeSpark) -> None:
        _source(kafka_conn_id=None, worker_config={"bootstrap.servers": "other:9092"}).execute(_context())

        assert _seen(spark)["spec"]["worker"] == {"bootstrap.servers": "other:9092"}

    def test_the_file_is_gone_afterwards(self, spark: FakeSpark) -> None:
        _source().execute(_context())

        assert not Path(_seen(spark)["path"]).exists()

    def test_no_secret_is_on_the_command_line(self, spark: FakeSpark) -> None:
        module = "org.apache.kafka.common.security.plain.PlainLoginModule"
        jaas = f'{module} required username="u" password="literal-secret-5";'
        config = {**CONFIG, "producer.override.sasl.jaas.config": jaas}
        _source(connector={"name": "lines", "config": config}).execute(_context())

        command = _command(spark)
        assert "conn-pass-1" not in str(command)
        assert "literal-secret-5" not in str(command)
        assert command[-3:] == [str(job_path()), "--run", _seen(spark)["path"]]

    def test_the_job_is_named_after_the_connector(self, spark: FakeSpark) -> None:
        _source().execute(_context())
        assert "kconnect-lines" in _command(spark)

        _source(name="mine").execute(_context())
        assert "mine" in _command(spark)

    def test_parameters_of_spark_submit_are_passed_on(self, spark: FakeSpark) -> None:
        _source(driver_memory="3g", conf={"spark.x": "y"}, jars="/a.jar", num_executors=3).execute(_context())

        command = " ".join(_command(spark))
        for part in ("--driver-memory 3g", "--conf spark.x=y", "--jars /a.jar", "--num-executors 3"):
            assert part in command

    def test_a_mapped_task_says_which_one_it_is(self, spark: FakeSpark) -> None:
        context = _context()
        context["ti"].map_index = 4
        _source().execute(context)

        assert _seen(spark)["spec"]["run_id"] == "d/manual__1/t[4]#2"

    def test_a_file_is_read_beside_the_dag(self, spark: FakeSpark, tmp_path: Path) -> None:
        (tmp_path / "lines.json").write_text(json.dumps(SOURCE))
        with DAG("d") as dag:
            dag.fileloc = str(tmp_path / "dag.py")
            operator = _source(connector="lines.json")

        assert operator.execute(_context()) == REPORT


class TestVariables:
    @pytest.fixture(autouse=True)
    def warehouse(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AIRFLOW_VAR_FOLDER", "/data/folder-71")
        database = {"conn_type": "postgres", "login": "etl", "password": "db-pass-72"}
        monkeypatch.setenv("AIRFLOW_CONN_WAREHOUSE", json.dumps(database))

    def _source(self, **changes: str) -> KafkaSourceOperator:
        config = {**CONFIG, "file": "${airflow-var:folder}/in"} | changes
        return _source(connector={"name": "lines", "config": config})

    def test_reach_the_job_beside_a_configuration_without_their_values(self, spark: FakeSpark) -> None:
        operator = self._source(**{"producer.override.sasl.password": "${airflow:warehouse:password}"})
        operator.execute(_context())

        spec = _seen(spark)["spec"]
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
        self._source().execute(_context())

        assert "folder-71" not in str(_command(spark))

    def test_are_not_asked_for_when_the_dag_is_parsed(self) -> None:
        self._source(file="${airflow:no_such_connection:host}")

    def test_without_value_are_told_with_the_connector(self, spark: FakeSpark) -> None:
        with pytest.raises(
            ConnectorConfigError, match=r"of connector lines .*`file`: variable \$\{airflow:nope:host\}"
        ):
            self._source(file="${airflow:nope:host}").execute(_context())


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
        _source(connector=self.CONNECTOR).execute(_context())

        spec = _seen(spark)["spec"]
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
        operator = _source(connector=self.CONNECTOR)
        operator.render_template_fields(_context())
        assert operator.connector == self.CONNECTOR

    def test_of_a_wrong_type_ends_the_task_before_spark_starts(
        self, spark: FakeSpark, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AIRFLOW_CONN_WAREHOUSE", json.dumps({"conn_type": "ftp", "password": "db-pass-91"}))

        with pytest.raises(
            ConnectorConfigError, match="`warehouse`, which is of type `ftp`, expected one of"
        ) as caught:
            _source(connector=self.CONNECTOR).execute(_context())

        assert "db-pass-91" not in str(caught.value)
        assert not (spark.folder / "command.json").exists()


class TestConfigurationErrors:
    def _fails(self, operator: ConnectorOperator, spark: FakeSpark) -> str:
        with pytest.raises(AirflowFailException) as caught:
            operator.execute(_context())
        assert not (spark.folder / "command.json").exists(), "spark-submit was started"
        return str(caught.value)

    def test_all_are_told_before_anything_is_submitted(self, spark: FakeSpark) -> None:
        config = {"connector.class": "FileStreamSource", "tasks.max": "many", "errors.tolerance": "some"}
        text = self._fails(_source(connector={"name": "lines", "config": config}), spark)

        for key in ("`tasks.max`", "`topic`", "`errors.tolerance`"):
            assert key in text

    def test_a_source_in_the_sink_operator(self, spark: FakeSpark) -> None:
        assert "sink" in self._fails(KafkaSinkOperator(task_id="w", connector=SOURCE), spark)

    def test_a_missing_spark_connection_never_means_yarn(
        self, spark: FakeSpark, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("AIRFLOW_CONN_SPARK_DEFAULT")

        text = self._fails(_source(), spark)

        assert "Spark connection `spark_default` does not exist" in text
        assert "airflow connections add spark_default" in text

    def test_a_missing_kafka_connection(self, spark: FakeSpark) -> None:
        assert "Kafka connection `nope` does not exist" in self._fails(_source(kafka_conn_id="nope"), spark)

    def test_speculation(self, spark: FakeSpark) -> None:
        assert "spark.speculation" in self._fails(_source(conf={"spark.speculation": "true"}), spark)

    def test_arguments_of_the_job_are_ours(self) -> None:
        with pytest.raises(TypeError, match="application_args"):
            _source(application_args=["x"])

    def test_a_wrong_configuration_is_no_error_when_the_dag_is_parsed(self) -> None:
        _source(connector={"connector.class": "NoSuch"})


class TestExitCodes:
    @pytest.mark.parametrize(
        ("code", "error"),
        [
            (1, ConnectorConfigError),
            (2, ConnectorConfigError),
            (3, ConnectorRetriableError),
            (4, ConnectorFencedError),
            (5, ConnectorInternalError),
        ],
    )
    def test_become_exceptions_with_the_jobs_own_words(
        self, spark: FakeSpark, code: int, error: type[Exception]
    ) -> None:
        event = event_line("error", error="X", message="topic lines is away", exit_code=code, errors=None)
        spark.behave(printing(event, exit_code=code))

        with pytest.raises(error) as caught:
            _source().execute(_context())

        assert str(caught.value) == "topic lines is away"
        assert type(caught.value) is error

    @pytest.mark.parametrize("code", [1, 2, 9, 137])
    def test_a_failure_of_spark_may_be_retried(self, spark: FakeSpark, code: int) -> None:
        spark.behave(printing("Exception in thread main: no master", exit_code=code))

        with pytest.raises(ConnectorRunError, match="no master") as caught:
            _source().execute(_context())

        assert not isinstance(caught.value, AirflowFailException)

    def test_an_end_without_report_is_no_success(self, spark: FakeSpark) -> None:
        spark.behave(printing("all fine"))

        with pytest.raises(ConnectorRunError, match="no report"):
            _source().execute(_context())

    def test_the_file_is_gone_after_a_failure(self, spark: FakeSpark) -> None:
        spark.behave(printing(exit_code=5))
        with pytest.raises(AirflowException):
            _source().execute(_context())

        assert not Path(_seen(spark)["path"]).exists()


class TestTemplates:
    def test_the_connector_is_rendered(self) -> None:
        operator = _source(connector={"name": "lines-{{ who }}", "config": {"file": "/data/{{ who }}"}})

        operator.render_template_fields({"who": "me"})  # type: ignore[typeddict-unknown-key]

        assert operator.connector == {"name": "lines-me", "config": {"file": "/data/me"}}

    def test_literal_secrets_are_masked_in_what_is_rendered(self) -> None:
        operator = _source(connector={"name": "x", "config": {"sasl.jaas.config": "jaas-literal-7", "topic": "t"}})

        operator.render_template_fields({})

        shown = redact(operator.connector)
        assert isinstance(shown, dict)
        assert shown["config"] == {"sasl.jaas.config": "***", "topic": "t"}

    def test_the_worker_configuration_is_not_stored(self) -> None:
        assert "worker_config" not in ConnectorOperator.template_fields

    def test_all_template_fields_are_attributes(self) -> None:
        operator = _source()

        for field in operator.template_fields:
            assert hasattr(operator, field)


class TestClusterMode:
    @pytest.fixture(autouse=True)
    def yarn(self, spark: FakeSpark, monkeypatch: pytest.MonkeyPatch) -> None:
        connection = {"conn_type": "spark", "host": "yarn", "extra": {"deploy-mode": "cluster"}}
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", json.dumps(connection))

    def test_the_file_is_uploaded_and_named_without_its_folder(self, spark: FakeSpark) -> None:
        _source(files="/x.txt", durable=False).execute(_context())

        command = _command(spark)
        ours = command[command.index("--files") + 1].split(",")[1]
        assert command[command.index("--files") + 1].startswith("/x.txt,")
        assert command[-2:] == ["--run", Path(ours).name]
        assert not Path(ours).exists()

    def test_there_is_no_report(self, spark: FakeSpark) -> None:
        spark.behave(printing("application_1_2 FINISHED"))

        assert _source(durable=False).execute(_context()) is None

    def test_a_cleared_run_does_not_find_the_job_of_the_run_before(self, spark: FakeSpark) -> None:
        operator = _source(durable=False)
        operator.execute(_context(clear_number=3))

        assert operator.external_id_key == "spark_job_id:3"
        assert operator._K8S_DRIVER_STATUS_KEY == "k8s_driver_status:3"
        assert ConnectorOperator.external_id_key == "spark_job_id"


class TestOnKill:
    def test_before_execute_it_does_nothing(self) -> None:
        _source().on_kill()

    def test_removes_the_file(self, spark: FakeSpark) -> None:
        operator = _source()
        seen: list[bool] = []

        def killed(context: Any, cluster: bool) -> None:
            assert operator._run_file is not None
            operator.on_kill()
            seen.append(operator._run_file.exists())

        operator._run = killed  # type: ignore[method-assign]
        operator.execute(_context())

        assert seen == [False]


class TestConnections:
    def test_the_spark_connection_has_two_names(self) -> None:
        assert _source(spark_conn_id="a")._conn_id == _source(conn_id="a").spark_conn_id == "a"
        assert _source().spark_conn_id == "spark_default"

    def test_the_documented_name_wins(self) -> None:
        assert _source(spark_conn_id="a", conn_id="b").spark_conn_id == "a"

    def test_their_ids_are_templates(self, spark: FakeSpark, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_B", json.dumps({"conn_type": "spark", "host": "local[7]"}))
        monkeypatch.setenv("AIRFLOW_CONN_KAFKA_B", json.dumps({"conn_type": "kconnect", "host": "b:9092"}))
        operator = _source(spark_conn_id="spark_{{ params.team }}", kafka_conn_id="kafka_{{ params.team }}")
        operator.render_template_fields(_context() | {"params": {"team": "b"}})

        operator.execute(_context())

        assert "local[7]" in _command(spark)
        assert _seen(spark)["spec"]["worker"] == {"bootstrap.servers": "b:9092"}


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
            self._unmapped(**{"sasl.password": "literal-95"}).execute(_context())

    def test_a_reference_is_not(self, spark: FakeSpark, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PASSWORD", "some-95")

        assert self._unmapped(**{"sasl.password": "${env:PASSWORD}"}).execute(_context()) == REPORT


class TestErrors:
    """What a task log shows last."""

    def test_of_the_job_come_without_the_providers(self, spark: FakeSpark) -> None:
        event = event_line("error", error="DataError", message="the job's words", exit_code=1, errors=None)
        spark.behave(printing(event, exit_code=1))

        with pytest.raises(ConnectorConfigError) as caught:
            _source().execute(_context())

        shown = "".join(traceback.format_exception(caught.value)).splitlines()
        assert shown[-1] == "airflow_kconnect.errors.ConnectorConfigError: the job's words"
        assert not [line for line in shown if "Cannot execute" in line or "another exception" in line]

    def test_of_spark_are_the_end_of_its_output_without_the_command(self, spark: FakeSpark) -> None:
        spark.behave(printing("no such master", exit_code=1))

        with pytest.raises(ConnectorRunError) as caught:
            _source().execute(_context())

        text = str(caught.value)
        assert text.startswith("spark-submit ended with exit code 1, and the job reported no error")
        assert "no such master" in text
        assert "--conf" not in text

    def test_of_a_configuration_are_one_traceback(self, spark: FakeSpark) -> None:
        with pytest.raises(ConnectorConfigError) as caught:
            _source(connector={**SOURCE, "config": {}}).execute(_context())

        assert "".join(traceback.format_exception(caught.value)).count("Traceback") == 1
