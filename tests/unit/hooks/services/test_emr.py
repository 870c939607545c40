"""Steps of a cluster of EMR: what is requested, and what its answers mean."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.clusters.job_status import ClusterManagerUnavailableError, JobOutcome, JobStatus
from airflow_kconnect.hooks.services.base import SparkService
from tests.support.http_server import HttpServer, http_server
from tests.support.spark.aws import JOB, ROLE, open_at, refused, told


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with http_server() as server:
        yield server


def emr(connection: Any, server: HttpServer, **extra: Any) -> SparkService:
    return open_at(connection, server.url, "emr://j-1ABC", "emr", **extra)


def started(connection: Any, server: HttpServer, **extra: Any) -> Any:
    """The request that starts a step."""
    server.answers = [told({"StepIds": ["s-1"]})]
    assert emr(connection, server, **extra).start(JOB) == "s-1"
    (request,) = server.requests
    assert request.headers["X-Amz-Target"] == "ElasticMapReduce.AddJobFlowSteps"
    return json.loads(request.body)


def status(connection: Any, server: HttpServer, **status: Any) -> JobStatus:
    server.answers = [told({"Step": {"Id": "s-1", "Status": status}})]
    return emr(connection, server).status("s-1")


class TestAStep:
    def test_is_spark_submit(self, connection: Any, server: HttpServer) -> None:
        body = started(connection, server)
        (step,) = body["Steps"]
        assert (body["JobFlowId"], step["ActionOnFailure"]) == ("j-1ABC", "CONTINUE")
        assert step["HadoopJarStep"]["Jar"] == "command-runner.jar"
        assert step["HadoopJarStep"]["Args"][:5] == ["spark-submit", "--master", "yarn", "--deploy-mode", "client"]
        assert step["HadoopJarStep"]["Args"][-3:] == [JOB.application, *JOB.arguments]

    def test_has_settings_as_they_are(self, connection: Any, server: HttpServer) -> None:
        (step,) = started(connection, server)["Steps"]
        words = step["HadoopJarStep"]["Args"]
        settings = [words[at + 1] for at, word in enumerate(words) if word == "--conf"]
        assert {"spark.app.words=two words", f"spark.submit.pyFiles={JOB.py_files[0]}"} < set(settings)

    def test_lasts_as_long_as_its_application(self, connection: Any, server: HttpServer) -> None:
        (step,) = started(connection, server, **{"deploy-mode": "cluster"})["Steps"]
        words = step["HadoopJarStep"]["Args"]
        assert words[3:5] == ["--deploy-mode", "cluster"]
        assert "spark.yarn.submit.waitAppCompletion=true" in words

    def test_may_have_a_role(self, connection: Any, server: HttpServer) -> None:
        assert started(connection, server, execution_role_arn=ROLE)["ExecutionRoleArn"] == ROLE

    def test_has_the_role_of_its_cluster_otherwise(self, connection: Any, server: HttpServer) -> None:
        assert "ExecutionRoleArn" not in started(connection, server)

    def test_is_requested_once_even_if_the_answer_is_lost(self, connection: Any, server: HttpServer) -> None:
        service = emr(connection, server)
        endpoint = {"service_config": {"emr": {"endpoint_url": server.url}}}
        aws = {"region_name": "us-east-1", **endpoint}  # boto3 itself would repeat it
        connection("aws_default", conn_type="aws", login="key", password="s3cr3t", extra=aws)
        server.answers = [refused(500, "InternalServerError", "perhaps")] * 2
        with pytest.raises(ClusterManagerUnavailableError):
            service.start(JOB)
        assert len(server.requests) == 1


class TestStatus:
    @pytest.mark.parametrize("state", ["PENDING", "RUNNING", "CANCEL_PENDING"])
    def test_of_a_step_that_has_not_ended(self, connection: Any, server: HttpServer, state: str) -> None:
        assert status(connection, server, State=state).outcome is None

    @pytest.mark.parametrize(
        ("state", "outcome"),
        [
            ("COMPLETED", JobOutcome.SUCCEEDED),
            ("FAILED", JobOutcome.FAILED),
            ("CANCELLED", JobOutcome.KILLED),
            ("INTERRUPTED", JobOutcome.KILLED),
        ],
    )
    def test_of_a_step_that_has_ended(
        self, connection: Any, server: HttpServer, state: str, outcome: JobOutcome
    ) -> None:
        assert status(connection, server, State=state).outcome is outcome

    def test_has_why_a_step_has_failed_and_where_that_was_logged(self, connection: Any, server: HttpServer) -> None:
        details = {"Reason": "Main Class not found.", "Message": "no class", "LogFile": "s3://logs/stderr.gz"}
        found = status(connection, server, State="FAILED", FailureDetails=details)
        assert (found.reason, found.log) == ("Main Class not found.: no class", "s3://logs/stderr.gz")

    def test_has_why_a_step_has_ended(self, connection: Any, server: HttpServer) -> None:
        reason = {"Message": "Cluster terminated"}
        assert status(connection, server, State="CANCELLED", StateChangeReason=reason).reason == "Cluster terminated"

    def test_names_the_folder_of_the_log(self, connection: Any, server: HttpServer) -> None:
        assert status(connection, server, State="RUNNING").log == "j-1ABC/steps/s-1/ in the log folder of the cluster"


class TestTheEnd:
    def test_is_that_of_all_processes_of_the_step(self, connection: Any, server: HttpServer) -> None:
        server.answers = [told({"CancelStepsInfoList": [{"StepId": "s-1", "Status": "SUBMITTED"}]})]
        emr(connection, server).end("s-1")
        (request,) = server.requests
        assert json.loads(request.body) == {
            "ClusterId": "j-1ABC",
            "StepIds": ["s-1"],
            "StepCancellationOption": "TERMINATE_PROCESS",
        }

    def test_of_a_step_that_has_ended_is_not_an_error(self, connection: Any, server: HttpServer) -> None:
        server.answers = [
            told({"CancelStepsInfoList": [{"StepId": "s-1", "Status": "FAILED", "Reason": "already COMPLETED"}]}),
            told({"Step": {"Id": "s-1", "Status": {"State": "COMPLETED"}}}),
        ]
        emr(connection, server).end("s-1")
        assert len(server.requests) == 2

    def test_of_a_step_that_runs_on_is_an_error(self, connection: Any, server: HttpServer) -> None:
        server.answers = [
            told({"CancelStepsInfoList": [{"StepId": "s-1", "Status": "FAILED", "Reason": "not now"}]}),
            told({"Step": {"Id": "s-1", "Status": {"State": "RUNNING"}}}),
        ]
        with pytest.raises(ConfigError, match="EMR refuses: not now"):
            emr(connection, server).end("s-1")


def test_a_driver_runs_in_the_step_or_in_the_cluster(connection: Any, server: HttpServer) -> None:
    with pytest.raises(ConfigError, match="`deploy-mode`: input should be 'client' or 'cluster'"):
        emr(connection, server, **{"deploy-mode": "yarn"})
