"""What all services of AWS have in common: refusals, no answer, jobs that are gone, logins that are incomplete."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.clusters.job_status import ClusterManagerUnavailableError, JobOutcome
from airflow_kconnect.hooks.services.base import SparkService
from tests.support.http_server import HttpServer, http_server
from tests.support.spark.aws import JOB, ROLE, open_at, refused


class Given(NamedTuple):
    """How a connection names a service, and with which code it answers about a job that there is not."""

    host: str
    boto3: str
    extra: dict[str, Any]
    unknown: str


SERVICES = {
    "emr": Given("emr://j-1ABC", "emr", {}, "InvalidRequestException"),
    "emr-eks": Given(
        *("emr-eks://vc1", "emr-containers"),
        {"execution_role_arn": ROLE, "release_label": "emr-spark-8.0.0-latest"},
        "ResourceNotFoundException",
    ),
    "emr-serverless": Given(
        *("emr-serverless://00app1", "emr-serverless", {"execution_role_arn": ROLE}, "ResourceNotFoundException")
    ),
}
Open = Callable[..., SparkService]


@pytest.fixture
def server() -> Iterator[HttpServer]:
    with http_server() as server:
        yield server


@pytest.fixture(params=SERVICES)
def given(request: pytest.FixtureRequest) -> Given:
    return SERVICES[request.param]


@pytest.fixture
def service(given: Given, server: HttpServer, connection: Any) -> SparkService:
    return open_at(connection, server.url, given.host, given.boto3, **given.extra)


def test_a_refusal_has_the_words_of_aws(service: SparkService, server: HttpServer) -> None:
    server.answers = [refused(400, "ValidationException", "The role is not trusted")]
    with pytest.raises(ConfigError, match=r"`spark_conn_id`: .* refuses: .*The role is not trusted"):
        service.start(JOB)


@pytest.mark.parametrize("code", ["AccessDeniedException", "UnrecognizedClientException"])
def test_a_login_that_is_not_let_in_is_a_refusal(service: SparkService, server: HttpServer, code: str) -> None:
    server.answers = [refused(403, code, "not you")]
    with pytest.raises(ConfigError, match="not you"):
        service.status("j1")


@pytest.mark.parametrize(("status", "code"), [(500, "InternalServerException"), (400, "ThrottlingException")])
def test_an_error_that_passes_is_no_answer(service: SparkService, server: HttpServer, status: int, code: str) -> None:
    server.answers = [refused(status, code, "later")]
    with pytest.raises(ClusterManagerUnavailableError, match=r"does not answer: .*later"):
        service.status("j1")


def test_no_server_is_no_answer(given: Given, connection: Any) -> None:
    service = open_at(connection, "http://127.0.0.1:1", given.host, given.boto3, **given.extra)
    with pytest.raises(ClusterManagerUnavailableError, match="does not answer: "):
        service.start(JOB)


def test_a_job_that_is_not_known_is_lost(service: SparkService, server: HttpServer, given: Given) -> None:
    server.answers = [refused(400, given.unknown, "no such job")]
    assert service.status("j1").outcome is JobOutcome.LOST


def test_a_job_that_is_not_known_need_not_be_ended(service: SparkService, server: HttpServer, given: Given) -> None:
    server.answers = [refused(400, given.unknown, "no such job")] * 2
    service.end("j1")
    assert len(server.requests) == 2


def test_an_end_that_is_refused_is_an_error(service: SparkService, server: HttpServer) -> None:
    server.answers = [
        refused(403, "AccessDeniedException", "you may not cancel"),
        refused(403, "AccessDeniedException", "you may not look"),
    ]
    with pytest.raises(ConfigError, match="you may not look"):
        service.end("j1")


def test_an_unknown_region_is_an_error_of_the_aws_connection(
    given: Given, connection: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    service = open_at(connection, "http://127.0.0.1:1", given.host, given.boto3, **given.extra)
    connection("aws_default", conn_type="aws", login="key", password="s3cr3t")
    with pytest.raises(ConfigError, match="`aws_conn_id`: Airflow connection `aws_default`: NoRegionError"):
        service.start(JOB)


def test_an_aws_connection_may_have_another_name(
    given: Given, server: HttpServer, connection: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    service = open_at(connection, server.url, given.host, given.boto3, **given.extra, aws_conn_id="aws_lake")
    connection("aws_lake", conn_type="aws", login="key", password="s3cr3t")
    with pytest.raises(ConfigError, match="Airflow connection `aws_lake`"):
        service.start(JOB)


def test_the_staging_folder_has_the_login_of_the_service(service: SparkService) -> None:
    assert service.staging_conn_id == "aws_default"


def test_the_staging_folder_may_have_a_login_of_its_own(given: Given, server: HttpServer, connection: Any) -> None:
    service = open_at(connection, server.url, given.host, given.boto3, **given.extra, staging_conn_id="lake")
    assert service.staging_conn_id == "lake"


def test_an_address_that_is_no_id_is_an_error(given: Given, server: HttpServer, connection: Any) -> None:
    with pytest.raises(ConfigError, match=r"names no .* expected its id"):
        open_at(connection, server.url, f"{given.host}.example.com", given.boto3, **given.extra)


def test_a_role_that_is_none_is_an_error(server: HttpServer, connection: Any) -> None:
    given = SERVICES["emr-eks"]
    extra = given.extra | {"execution_role_arn": "job"}
    service = open_at(connection, server.url, given.host, given.boto3, **extra)
    with pytest.raises(ConfigError, match="executionRoleArn"):
        service.start(JOB)
    assert server.requests == []
