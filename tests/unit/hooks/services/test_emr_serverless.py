"""What EMR Serverless is asked, and what its answers mean; answers are those of AWS's documentation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from airflow.sdk import Connection

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.clusters.job_status import ClusterManagerUnavailableError, JobOutcome
from airflow_kconnect.hooks.services.base import ServiceJob, SparkService
from airflow_kconnect.hooks.services.registry import open_service
from tests.support.http_server import Answer, HttpServer, http_server
from tests.support.spark.aws import refused, told

EXTRA = {"execution_role_arn": "arn:aws:iam::123456789012:role/job", "staging": "s3://bucket/kconnect"}
JOB = ServiceJob(
    name="kconnect-orders",
    request="a" * 32,
    application="s3://bucket/connector_job.py",
    arguments=("--run", "s3://bucket/runs/1"),
    conf={"spark.executor.memory": "2g", "spark.executorEnv.PYTHONSAFEPATH": "1"},
    py_files=("s3://bucket/a.zip", "s3://bucket/b.zip"),
)


def _service(extra: dict[str, Any] = EXTRA, host: str = "emr-serverless://00app1") -> SparkService:
    return open_service(Connection(conn_id="spark", conn_type="spark", host=host, extra=json.dumps(extra)), "spark")


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpServer]:
    with http_server() as server:
        services = {"emr-serverless": {"endpoint_url": server.url}}
        retries = {"config_kwargs": {"retries": {"max_attempts": 1}}}
        extra = {"region_name": "us-east-1", "service_config": services, **retries}
        connection = {"conn_type": "aws", "login": "key", "password": "of-the-key", "extra": extra}
        monkeypatch.setenv("AIRFLOW_CONN_AWS_DEFAULT", json.dumps(connection))
        yield server


def _run(state: str, details: str = "") -> Answer:
    return told({"jobRun": {"applicationId": "00app1", "jobRunId": "00run1", "state": state, "stateDetails": details}})


class TestStart:
    def test_settings_are_properties_that_need_no_quotes(self, aws: HttpServer) -> None:
        aws.answers = [told({"applicationId": "00app1", "jobRunId": "00run1", "arn": "arn:aws:x"})]
        assert _service().start(JOB) == "00run1"
        (request,) = aws.requests
        assert json.loads(request.body) == {
            "clientToken": "a" * 32,
            "configurationOverrides": {
                "applicationConfiguration": [
                    {
                        "classification": "spark-defaults",
                        "properties": {
                            "spark.app.name": "kconnect-orders",
                            "spark.emr-serverless.driverEnv.PYTHONSAFEPATH": "1",
                            "spark.executor.memory": "2g",
                            "spark.executorEnv.PYTHONSAFEPATH": "1",
                            "spark.submit.pyFiles": "s3://bucket/a.zip,s3://bucket/b.zip",
                        },
                    }
                ]
            },
            "executionRoleArn": EXTRA["execution_role_arn"],
            "jobDriver": {
                "sparkSubmit": {
                    "entryPoint": "s3://bucket/connector_job.py",
                    "entryPointArguments": ["--run", "s3://bucket/runs/1"],
                }
            },
            "name": "kconnect-orders",
            "tags": {},
        }


class TestStatus:
    @pytest.mark.parametrize(
        ("state", "outcome"),
        [
            ("SUBMITTED", None),
            ("QUEUED", None),
            ("RUNNING", None),
            ("CANCELLING", None),
            ("SUCCESS", JobOutcome.SUCCEEDED),
            ("FAILED", JobOutcome.FAILED),
            ("CANCELLED", JobOutcome.KILLED),
        ],
    )
    def test_states_have_outcomes(self, aws: HttpServer, state: str, outcome: JobOutcome | None) -> None:
        aws.answers = [_run(state)]
        assert _service().status("00run1").outcome is outcome

    def test_all_of_a_job_are_asked_for_by_one_client(self, aws: HttpServer) -> None:
        aws.answers = [_run("RUNNING"), _run("RUNNING")]
        service = _service()
        service.status("00run1")
        first = vars(service)["_client"]
        service.status("00run1")
        assert vars(service)["_client"] is first

    def test_after_an_error_the_next_one_has_a_new_client(self, aws: HttpServer) -> None:
        """The login of its connection may have been renewed."""
        aws.answers = [refused(403, "ExpiredTokenException", "The security token is expired")] * 3
        service = _service()
        with pytest.raises(ClusterManagerUnavailableError):
            service.status("00run1")
        assert "_client" not in vars(service)

    def test_a_failure_has_awss_reason(self, aws: HttpServer) -> None:
        aws.answers = [_run("FAILED", "Job failed. ExitCode: 1.")]
        assert _service().status("00run1").reason == "Job failed. ExitCode: 1."

    def test_the_log_is_where_emr_copies_it(self, aws: HttpServer) -> None:
        aws.answers = [_run("RUNNING")]
        status = _service({**EXTRA, "log_uri": "s3://logs/emr/"}).status("00run1")
        assert status.log == "s3://logs/emr/applications/00app1/jobs/00run1/SPARK_DRIVER/"


class TestEnd:
    def test_it_cancels_the_job_run(self, aws: HttpServer) -> None:
        aws.answers = [told({"applicationId": "00app1", "jobRunId": "00run1"})]
        _service().end("00run1")
        assert [(request.method, request.path) for request in aws.requests] == [
            ("DELETE", "/applications/00app1/jobruns/00run1")
        ]

    def test_a_job_that_has_ended_has_ended(self, aws: HttpServer) -> None:
        aws.answers = [refused(400, "ValidationException", "Job run is in a terminal state"), _run("SUCCESS")]
        _service().end("00run1")

    def test_a_running_job_that_may_not_be_ended_is_an_error(self, aws: HttpServer) -> None:
        aws.answers = [refused(403, "AccessDeniedException", "not authorized"), _run("RUNNING")]
        with pytest.raises(ConfigError, match="not authorized"):
            _service().end("00run1")


class TestConnection:
    def test_all_that_is_wrong_with_it_is_reported(self) -> None:
        with pytest.raises(ConfigError) as error:
            _service({"tags": "none"})
        assert [text.partition(":")[0] for text in error.value.errors["spark_conn_id"]] == [
            "Spark connection `spark`, extra `staging`",
            "Spark connection `spark`, extra `execution_role_arn`",
            "Spark connection `spark`, extra `tags`",
        ]
