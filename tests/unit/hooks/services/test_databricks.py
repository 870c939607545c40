"""What Databricks is asked, and what its answers mean; answers are those of its documentation."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from airflow.sdk import Connection

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.clusters.job_status import ClusterManagerUnavailableError, JobOutcome
from airflow_kconnect.hooks.services.base import ServiceJob, SparkService
from airflow_kconnect.hooks.services.registry import open_service
from airflow_kconnect.submit.submit import spark_conf
from tests.support.http_server import Answer, HttpServer, Request, http_server

CLUSTER = "0923-164208-meows279"
EXTRA = {"staging": "s3://bucket/kconnect"}
NEW_CLUSTER = {
    "spark_version": "17.3.x-scala2.13",
    "node_type_id": "i3.xlarge",
    "num_workers": 2,
    "data_security_mode": "SINGLE_USER",
    "spark_conf": {"spark.task.maxFailures": "1"},
}
LIBRARIES = [{"pypi": {"package": "confluent-kafka>=2.6"}}, {"pypi": {"package": "httpx>=0.27"}}]
OWN = {
    **spark_conf({}, master="databricks", deploy_mode="cluster"),
    "spark.executorEnv.PYTHONPATH": "airflow_kconnect.zip",
}
JOB = ServiceJob(
    name="kconnect-orders",
    request="a" * 32,
    application="s3://bucket/databricks_job.py",
    arguments=("--run", "s3://bucket/runs/1"),
    conf=OWN,
    py_files=("s3://bucket/airflow_kconnect.zip", "s3://bucket/mine.py"),
)
REPOSITORY = Path(__file__).parents[4]


def _service(extra: dict[str, Any] = EXTRA, host: str = f"databricks://{CLUSTER}") -> SparkService:
    return open_service(Connection(conn_id="spark", conn_type="spark", host=host, extra=json.dumps(extra)), "spark")


def _new(**cluster: Any) -> SparkService:
    return _service({**EXTRA, "new_cluster": {**NEW_CLUSTER, **cluster}}, "databricks://new")


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpServer]:
    with http_server() as server:
        url = urlsplit(server.url)
        connection = {"conn_type": "databricks", "host": url.hostname, "port": url.port, "schema": "http"}
        monkeypatch.setenv("AIRFLOW_CONN_DATABRICKS_DEFAULT", json.dumps({**connection, "password": "dapi0"}))
        monkeypatch.setattr("tenacity.nap.time.sleep", lambda seconds: None)
        yield server


def _json(**members: Any) -> Answer:
    return Answer(200, {"Content-Type": "application/json"}, json.dumps(members).encode())


def _error(status: int, code: str, text: str) -> Answer:
    body = json.dumps({"error_code": code, "message": text}).encode()
    return Answer(status, {"Content-Type": "application/json"}, body)


def _run(life_cycle_state: str, result_state: str | None = None, message: str = "") -> Answer:
    state = {"life_cycle_state": life_cycle_state, "state_message": message}
    state |= {} if result_state is None else {"result_state": result_state}
    tasks = [{"task_key": "kconnect", "run_id": 8}]
    return _json(run_id=7, run_page_url="https://dbc-1.cloud.databricks.com/jobs/1/runs/7", state=state, tasks=tasks)


def _task(api: HttpServer) -> dict[str, Any]:
    (request,) = api.requests
    (task,) = json.loads(request.body)["tasks"]
    return dict(task)


def _path(request: Request) -> str:
    """Below the runs of the Jobs API, whose version is up to the provider."""
    return re.sub(r"^/api/2\.[12]/jobs/runs/", "", request.path)


class TestStart:
    def test_a_job_on_a_running_cluster(self, api: HttpServer) -> None:
        api.answers = [_json(run_id=7)]
        assert _service().start(JOB) == "7"
        (request,) = api.requests
        assert (request.method, _path(request)) == ("POST", "submit")
        files = "s3://bucket/airflow_kconnect.zip,s3://bucket/mine.py"
        assert json.loads(request.body) == {
            "run_name": "kconnect-orders",
            "idempotency_token": "a" * 32,
            "tasks": [
                {
                    "task_key": "kconnect",
                    "existing_cluster_id": CLUSTER,
                    "libraries": LIBRARIES,
                    "spark_python_task": {
                        "python_file": "s3://bucket/databricks_job.py",
                        "parameters": ["--py-files", files, "--run", "s3://bucket/runs/1"],
                    },
                }
            ],
        }

    def test_a_new_cluster_is_as_it_was_described(self, api: HttpServer) -> None:
        api.answers = [_json(run_id=7)]
        _new().start(JOB)
        assert _task(api)["new_cluster"] == NEW_CLUSTER

    def test_settings_of_the_operator_go_before_those_of_the_connection(self, api: HttpServer) -> None:
        api.answers = [_json(run_id=7)]
        _new(spark_env_vars={"A": "1"}).start(
            replace(JOB, conf={**OWN, "spark.task.maxFailures": "4", "spark.executorEnv.B": "2"})
        )
        cluster = _task(api)["new_cluster"]
        assert cluster["spark_conf"] == {"spark.task.maxFailures": "4"}
        assert cluster["spark_env_vars"] == {"A": "1", "B": "2"}

    def test_jars_and_packages_are_libraries(self, api: HttpServer) -> None:
        api.answers = [_json(run_id=7)]
        packages = {"spark.jars.packages": "org.postgresql:postgresql:42.7.5, com.mysql:mysql-connector-j:9.2.0"}
        _service().start(replace(JOB, conf={**OWN, **packages}, jars=("s3://bucket/a.jar",)))
        assert _task(api)["libraries"] == [
            *LIBRARIES,
            {"jar": "s3://bucket/a.jar"},
            {"maven": {"coordinates": "org.postgresql:postgresql:42.7.5"}},
            {"maven": {"coordinates": "com.mysql:mysql-connector-j:9.2.0"}},
        ]

    def test_other_libraries_replace_those_of_this_package(self, api: HttpServer) -> None:
        api.answers = [_json(run_id=7)]
        mine = [{"whl": "/Volumes/main/default/wheels/confluent_kafka-2.13.0-cp312-cp312-manylinux_2_28_x86_64.whl"}]
        _service({**EXTRA, "libraries": mine}).start(JOB)
        assert _task(api)["libraries"] == mine

    def test_all_that_a_running_cluster_does_not_take_is_named(self) -> None:
        conf = {**OWN, "spark.task.maxFailures": "4", "spark.executorEnv.B": "2"}
        with pytest.raises(
            ConfigError, match=f"cannot be set for cluster {CLUSTER}, which is already running"
        ) as error:
            _service().start(replace(JOB, conf=conf))
        assert list(error.value.errors) == ["spark.task.maxFailures", "spark.executorEnv.B"]

    def test_all_that_databricks_has_not_is_named(self) -> None:
        conf = {
            "spark.master": "local[*]",
            "spark.executor.memory": "2g",
            "spark.executorEnv.PYTHONPATH": "airflow_kconnect.zip:mine",
            "spark.sql.extensions": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
        }
        job = replace(JOB, conf={**OWN, **conf}, files=("s3://bucket/a.txt",), archives=("s3://bucket/a.zip#a",))
        with pytest.raises(ConfigError) as error:
            _new().start(job)
        assert set(error.value.errors) == {*conf, "files", "archives"}

    def test_what_is_refused_is_an_error_with_its_words(self, api: HttpServer) -> None:
        api.answers = [_error(400, "INVALID_PARAMETER_VALUE", f"Cluster {CLUSTER} does not exist")]
        with pytest.raises(ConfigError, match=f"Databricks refuses: .*Cluster {CLUSTER} does not exist"):
            _service().start(JOB)

    @pytest.mark.parametrize(("status", "code"), [(503, "TEMPORARILY_UNAVAILABLE"), (429, "REQUEST_LIMIT_EXCEEDED")])
    def test_no_answer_may_be_another_time(self, api: HttpServer, status: int, code: str) -> None:
        api.answers = [_error(status, code, "later")] * 3
        with pytest.raises(ClusterManagerUnavailableError, match="Databricks does not answer"):
            _service().start(JOB)

    def test_a_login_that_does_not_exist_is_an_error_of_the_connection(self) -> None:
        with pytest.raises(ConfigError, match="`databricks_conn_id`: there is no connection `nobody`"):
            _service({**EXTRA, "databricks_conn_id": "nobody"}).start(JOB)


class TestStatus:
    @pytest.mark.parametrize(
        ("state", "result", "outcome"),
        [
            ("QUEUED", None, None),
            ("PENDING", None, None),
            ("RUNNING", None, None),
            ("TERMINATING", "SUCCESS", None),
            ("TERMINATED", "SUCCESS", JobOutcome.SUCCEEDED),
            ("TERMINATED", "CANCELED", JobOutcome.KILLED),
        ],
    )
    def test_states_have_outcomes(
        self, api: HttpServer, state: str, result: str | None, outcome: JobOutcome | None
    ) -> None:
        api.answers = [_run(state, result)]
        assert _service().status("7").outcome is outcome

    @pytest.mark.parametrize(
        ("state", "result"),
        [
            ("TERMINATED", "FAILED"),
            ("TERMINATED", "TIMEDOUT"),
            ("SKIPPED", "MAXIMUM_CONCURRENT_RUNS_REACHED"),
            ("INTERNAL_ERROR", None),
        ],
    )
    def test_what_has_not_succeeded_has_failed(self, api: HttpServer, state: str, result: str | None) -> None:
        api.answers = [_run(state, result), _json()]
        assert _service().status("7").outcome is JobOutcome.FAILED

    def test_a_failure_has_the_error_of_its_task(self, api: HttpServer) -> None:
        text = "PySparkNotImplementedError: SparkContext is not available on Standard access mode"
        api.answers = [_run("TERMINATED", "FAILED", "Workload failed, see run output"), _json(error=f"{text}\nmore")]
        assert _service().status("7").reason == text
        assert _path(api.requests[-1]) == "get-output?run_id=8"

    def test_a_failure_without_output_has_the_message_of_its_state(self, api: HttpServer) -> None:
        text = "Cluster was terminated during the run"
        api.answers = [_run("INTERNAL_ERROR", "FAILED", text), _error(400, "INVALID_STATE", "no output")]
        assert _service().status("7").reason == text

    @pytest.mark.parametrize(
        "answer",
        [
            _error(400, "INVALID_PARAMETER_VALUE", "Run 7 does not exist."),
            _error(400, "INVALID_PARAMETER_VALUE", "Run: 7 in job: 1 doesn't exist"),
            _error(404, "RESOURCE_DOES_NOT_EXIST", "gone"),
        ],
    )
    def test_a_run_that_is_not_known_is_lost(self, api: HttpServer, answer: Answer) -> None:
        api.answers = [answer]
        assert _service().status("7").outcome is JobOutcome.LOST

    def test_the_log_is_on_the_page_of_the_run(self, api: HttpServer) -> None:
        api.answers = [_run("RUNNING")]
        assert _service().status("7").log == "https://dbc-1.cloud.databricks.com/jobs/1/runs/7"

    def test_a_login_that_is_refused_is_an_error(self, api: HttpServer) -> None:
        api.answers = [_error(403, "PERMISSION_DENIED", "Invalid access token.")]
        with pytest.raises(ConfigError, match=r"Databricks refuses: .*Invalid access token"):
            _service().status("7")


class TestEnd:
    def test_it_cancels_the_run(self, api: HttpServer) -> None:
        api.answers = [_json()]
        _service().end("7")
        (request,) = api.requests
        assert (_path(request), json.loads(request.body)) == ("cancel", {"run_id": 7})

    def test_a_run_that_has_ended_has_ended(self, api: HttpServer) -> None:
        api.answers = [_error(400, "INVALID_STATE", "Run 7 is in a terminal state"), _run("TERMINATED", "SUCCESS")]
        _service().end("7")


class TestConnection:
    def test_all_that_is_wrong_with_its_extras_is_reported(self) -> None:
        with pytest.raises(ConfigError) as error:
            _service({"new_cluster": {"spark_conf": {"spark.task.maxFailures": 1}}, "libraries": "httpx"})
        assert [text.partition(":")[0] for text in error.value.errors["spark_conn_id"]] == [
            "Spark connection `spark`, extra `staging`",
            "Spark connection `spark`, extra `new_cluster.spark_conf.spark.task.maxFailures`",
            "Spark connection `spark`, extra `libraries`",
        ]

    def test_a_host_without_a_cluster_is_refused(self) -> None:
        with pytest.raises(ConfigError, match="names no cluster of Databricks"):
            _service(host="databricks://")

    @pytest.mark.parametrize("staging", ["hdfs://namenode/kconnect", "/dbfs/kconnect", "s3a://bucket/kconnect"])
    def test_a_staging_folder_that_databricks_cannot_read_is_refused(self, staging: str) -> None:
        with pytest.raises(ConfigError, match=f"extra `staging`: Databricks reads jobs from .*, not from {staging}"):
            _service({"staging": staging})

    def test_a_new_cluster_must_be_described(self) -> None:
        with pytest.raises(ConfigError, match="extra `new_cluster` is missing"):
            _service(host="databricks://new")

    def test_a_description_of_a_cluster_that_is_there_is_refused(self) -> None:
        with pytest.raises(ConfigError, match="extra `new_cluster`: is for host databricks://new"):
            _service({**EXTRA, "new_cluster": NEW_CLUSTER})

    def test_a_runtime_with_spark_3_is_refused(self) -> None:
        with pytest.raises(ConfigError, match=r"Databricks Runtime 16\.4 has Spark 3; jobs need Spark 4, so 17\.0"):
            _new(spark_version="16.4.x-scala2.13")

    @pytest.mark.parametrize("version", ["17.0.x-scala2.13", "18.0.x-scala2.13", "custom:mine"])
    def test_other_runtimes_are_passed_on(self, version: str) -> None:
        _new(spark_version=version)

    @pytest.mark.parametrize("mode", ["USER_ISOLATION", "DATA_SECURITY_MODE_STANDARD", "DATA_SECURITY_MODE_AUTO"])
    def test_an_access_mode_without_spark_in_the_job_is_refused(self, mode: str) -> None:
        with pytest.raises(ConfigError, match=f"a job has no Spark of its own in {mode}; jobs need dedicated"):
            _new(data_security_mode=mode)


def test_the_libraries_are_the_versions_that_this_package_needs() -> None:
    needed = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["dependencies"]
    assert {library["pypi"]["package"] for library in LIBRARIES} <= set(needed)
