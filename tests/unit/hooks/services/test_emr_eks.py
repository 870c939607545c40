"""Job runs of EMR on EKS: what is requested, and what its answers mean."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.clusters.job_status import JobOutcome, JobStatus
from airflow_kconnect.hooks.services.base import SparkService
from tests.support.http_server import HttpServer, http_server
from tests.support.spark.aws import JOB, ROLE, open_at, told


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with http_server() as server:
        yield server


def eks(connection: Any, server: HttpServer, **extra: Any) -> SparkService:
    given = {"execution_role_arn": ROLE, "release_label": "emr-spark-8.0.0-latest", **extra}
    return open_at(connection, server.url, "emr-eks://vc1", "emr-containers", **given)


def started(connection: Any, server: HttpServer, **extra: Any) -> Any:
    """The request that starts a job run."""
    server.answers = [told({"id": "r1"})]
    assert eks(connection, server, **extra).start(JOB) == "r1"
    (request,) = server.requests
    assert (request.method, request.path) == ("POST", "/virtualclusters/vc1/jobruns")
    return json.loads(request.body)


def status(connection: Any, server: HttpServer, state: str, *, extra: dict[str, Any] | None = None, **run: Any) -> Any:
    server.answers = [told({"jobRun": {"id": "r1", "state": state, **run}})]
    found = eks(connection, server, **extra or {}).status("r1")
    assert isinstance(found, JobStatus)
    return found


class TestAJobRun:
    def test_has_its_role_and_release(self, connection: Any, server: HttpServer) -> None:
        body = started(connection, server)
        assert (body["executionRoleArn"], body["releaseLabel"]) == (ROLE, "emr-spark-8.0.0-latest")

    def test_runs_the_application(self, connection: Any, server: HttpServer) -> None:
        submit = {"entryPoint": JOB.application, "entryPointArguments": list(JOB.arguments)}
        assert started(connection, server)["jobDriver"] == {"sparkSubmitJobDriver": submit}

    def test_has_settings_as_properties(self, connection: Any, server: HttpServer) -> None:
        (defaults,) = started(connection, server)["configurationOverrides"]["applicationConfiguration"]
        assert defaults == {"classification": "spark-defaults", "properties": JOB.properties()}

    def test_can_be_requested_twice(self, connection: Any, server: HttpServer) -> None:
        assert started(connection, server)["clientToken"] == JOB.request

    def test_has_a_name_that_emr_accepts(self, connection: Any, server: HttpServer) -> None:
        assert started(connection, server)["name"] == "kconnect--orders"

    def test_may_have_tags(self, connection: Any, server: HttpServer) -> None:
        assert started(connection, server, tags={"team": "lake"})["tags"] == {"team": "lake"}

    def test_leaves_its_logs_in_a_folder(self, connection: Any, server: HttpServer) -> None:
        overrides = started(connection, server, log_uri="s3://logs/emr")["configurationOverrides"]
        assert overrides["monitoringConfiguration"] == {"s3MonitoringConfiguration": {"logUri": "s3://logs/emr"}}


class TestStatus:
    @pytest.mark.parametrize("state", ["PENDING", "SUBMITTED", "RUNNING", "CANCEL_PENDING"])
    def test_of_a_job_run_that_has_not_ended(self, connection: Any, server: HttpServer, state: str) -> None:
        assert status(connection, server, state).outcome is None

    @pytest.mark.parametrize(
        ("state", "outcome"),
        [
            ("COMPLETED", JobOutcome.SUCCEEDED),
            ("FAILED", JobOutcome.FAILED),
            ("CANCELLED", JobOutcome.KILLED),
        ],
    )
    def test_of_a_job_run_that_has_ended(
        self, connection: Any, server: HttpServer, state: str, outcome: JobOutcome
    ) -> None:
        assert status(connection, server, state).outcome is outcome

    def test_has_why_a_job_run_has_failed(self, connection: Any, server: HttpServer) -> None:
        found = status(connection, server, "FAILED", failureReason="USER_ERROR", stateDetails="exit code 1")
        assert found.reason == "USER_ERROR: exit code 1"

    def test_names_the_folder_of_the_log(self, connection: Any, server: HttpServer) -> None:
        found = status(connection, server, "RUNNING", extra={"log_uri": "s3://logs/emr/"})
        assert found.log == "s3://logs/emr/vc1/jobs/r1/containers/"

    def test_names_a_command_if_there_is_no_folder(self, connection: Any, server: HttpServer) -> None:
        found = status(connection, server, "RUNNING")
        assert "aws emr-containers describe-job-run --virtual-cluster-id vc1 --id r1" in found.log


class TestTheEnd:
    def test_is_requested(self, connection: Any, server: HttpServer) -> None:
        server.answers = [told({"id": "r1", "virtualClusterId": "vc1"})]
        eks(connection, server).end("r1")
        assert [(each.method, each.path) for each in server.requests] == [
            ("DELETE", "/virtualclusters/vc1/jobruns/r1"),
        ]


def test_all_that_is_missing_is_named_at_once(connection: Any, server: HttpServer) -> None:
    with pytest.raises(ConfigError) as caught:
        open_at(connection, server.url, "emr-eks://vc1", "emr-containers")
    texts = caught.value.errors["spark_conn_id"]
    assert ["release_label" in text or "execution_role_arn" in text for text in texts] == [True, True]
