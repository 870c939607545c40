"""Batches and jobs of Dataproc: what is requested, what its answers mean, and with which login."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import Connection

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.clusters.job_status import ClusterManagerUnavailableError, JobOutcome
from airflow_kconnect.hooks.services.base import ServiceJob, SparkService
from airflow_kconnect.hooks.services.registry import open_service
from tests.support.http_server import Answer, HttpServer, http_server
from tests.support.spark.dataproc import BATCHES, JOBS, OPERATIONS, refused, service_account_key, told

BATCH, JOB_OF_CLUSTER = "dataproc-serverless://shop/europe-west1", "dataproc://shop/europe-west1/lake"
JOB = ServiceJob(
    name="kconnect: Orders",
    request="0123456789abcdef0123456789abcdef",
    application="gs://bucket/connector_job.py",
    arguments=("--run", "gs://bucket/runs/1"),
    conf={"spark.executor.memory": "2g", "spark.yarn.maxAppAttempts": "1", "spark.executorEnv.PYTHONSAFEPATH": "1"},
    py_files=("gs://bucket/airflow_kconnect.zip",),
    jars=("gs://bucket/driver.jar",),
    archives=("gs://bucket/python.tar.gz#environment",),
)
ID = f"kconnect-{JOB.request}"
APPLICATION = {
    "mainPythonFileUri": JOB.application,
    "args": list(JOB.arguments),
    "pythonFileUris": list(JOB.py_files),
    "jarFileUris": list(JOB.jars),
    "archiveUris": list(JOB.archives),
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpServer]:
    login(monkeypatch, keyfile_dict=service_account_key())
    with http_server() as server:
        yield server


def login(patch: pytest.MonkeyPatch, **extra: Any) -> None:
    """The Airflow connection to Google."""
    connection = {"conn_type": "google_cloud_platform", "extra": extra}
    patch.setenv("AIRFLOW_CONN_GOOGLE_CLOUD_DEFAULT", json.dumps(connection))


def service(host: str, server: HttpServer, **extra: Any) -> SparkService:
    given = {"staging": "gs://bucket/kconnect", "api_endpoint": server.url, **extra}
    return open_service(Connection(conn_id="spark", conn_type="spark", host=host, extra=json.dumps(given)), "spark")


def batch(state: str, **members: Any) -> Answer:
    return told(name=ID, state=state, operation=f"{OPERATIONS}/1", **members)


def job(state: str, **members: Any) -> Answer:
    return told(reference={"projectId": "shop", "jobId": ID}, status={"state": state}, **members)


class TestABatch:
    def started(self, server: HttpServer, **extra: Any) -> Any:
        """The request that starts one."""
        server.answers = [told(name=f"{OPERATIONS}/1", done=False)]
        assert service(BATCH, server, **extra).start(JOB) == ID
        (request,) = server.requests
        return json.loads(request.body)

    def test_runs_the_application(self, server: HttpServer) -> None:
        assert self.started(server)["pysparkBatch"] == APPLICATION

    def test_can_be_requested_twice(self, server: HttpServer) -> None:
        self.started(server)
        address, _, query = server.requests[0].path.partition("?")
        assert address == BATCHES
        assert query.startswith(f"batchId={ID}&requestId={JOB.request}&")

    def test_has_settings_except_those_of_other_masters(self, server: HttpServer) -> None:
        assert self.started(server)["runtimeConfig"]["properties"] == {
            "spark.app.name": "kconnect: Orders",
            "spark.executor.memory": "2g",
            "spark.executorEnv.PYTHONSAFEPATH": "1",
            "spark.dataproc.driverEnv.PYTHONSAFEPATH": "1",
        }

    def test_has_a_runtime_with_spark_4(self, server: HttpServer) -> None:
        assert self.started(server)["runtimeConfig"]["version"] == "3.0"

    def test_may_have_an_image_a_role_and_a_network(self, server: HttpServer) -> None:
        network = {"service_account": "job@shop.iam.gserviceaccount.com", "subnetwork_uri": "connectors"}
        body = self.started(server, runtime_version="3.1", container_image="eu.gcr.io/shop/connectors:1", **network)
        assert (body["runtimeConfig"]["version"], body["runtimeConfig"]["containerImage"]) == (
            *("3.1", "eu.gcr.io/shop/connectors:1"),
        )
        assert body["environmentConfig"]["executionConfig"] == {
            "serviceAccount": "job@shop.iam.gserviceaccount.com",
            "authenticationConfig": {"userWorkloadAuthenticationType": 1},
            "subnetworkUri": "connectors",
        }

    def test_has_labels(self, server: HttpServer) -> None:
        assert self.started(server, labels={"team": "lake"})["labels"] == {
            "kconnect": "kconnect--orders",
            "team": "lake",
        }

    @pytest.mark.parametrize(
        ("state", "outcome"),
        [
            *(("PENDING", None), ("RUNNING", None), ("CANCELLING", None)),
            ("SUCCEEDED", JobOutcome.SUCCEEDED),
            ("FAILED", JobOutcome.FAILED),
            ("CANCELLED", JobOutcome.KILLED),
        ],
    )
    def test_has_states(self, server: HttpServer, state: str, outcome: JobOutcome | None) -> None:
        server.answers = [batch(state)]
        status = service(BATCH, server).status(ID)
        assert (status.state, status.outcome) == (state, outcome)
        assert server.requests[0].path.partition("?")[0] == f"{BATCHES}/{ID}"

    def test_says_why_it_has_failed_and_where_its_output_is(self, server: HttpServer) -> None:
        info = {"outputUri": "gs://dataproc/driveroutput"}
        server.answers = [batch("FAILED", stateMessage="Job failed with exit code 1", runtimeInfo=info)]
        status = service(BATCH, server).status(ID)
        assert (status.reason, status.log) == ("Job failed with exit code 1", "gs://dataproc/driveroutput")

    def test_has_a_command_for_its_output_otherwise(self, server: HttpServer) -> None:
        server.answers = [batch("RUNNING")]
        log = service(BATCH, server).status(ID).log
        assert log == f"gcloud dataproc batches wait {ID} --project shop --region europe-west1"

    def test_is_ended_by_its_operation(self, server: HttpServer) -> None:
        server.answers = [batch("RUNNING"), told()]
        service(BATCH, server).end(ID)
        assert server.requests[1].path.partition("?")[0] == f"/v1/{OPERATIONS}/1:cancel"


class TestAJobOfACluster:
    def started(self, server: HttpServer, **extra: Any) -> Any:
        """The request that starts one."""
        server.answers = [job("PENDING")]
        assert service(JOB_OF_CLUSTER, server, **extra).start(JOB) == ID
        (request,) = server.requests
        assert request.path.partition("?")[0] == f"{JOBS}:submit"
        return json.loads(request.body)

    def test_runs_the_application_with_its_settings(self, server: HttpServer) -> None:
        properties = {"spark.app.name": JOB.name, **JOB.conf}
        assert self.started(server)["job"]["pysparkJob"] == {**APPLICATION, "properties": properties}

    def test_runs_on_the_cluster(self, server: HttpServer) -> None:
        assert self.started(server)["job"]["placement"] == {"clusterName": "lake"}

    def test_can_be_requested_twice(self, server: HttpServer) -> None:
        body = self.started(server)
        assert body["requestId"] == JOB.request
        assert body["job"]["reference"] == {"projectId": "shop", "jobId": ID}

    def test_has_labels(self, server: HttpServer) -> None:
        labels = self.started(server, labels={"team": "lake"})["job"]["labels"]
        assert labels == {"kconnect": "kconnect--orders", "team": "lake"}

    @pytest.mark.parametrize(
        ("state", "outcome"),
        [
            *(("PENDING", None), ("SETUP_DONE", None), ("RUNNING", None), ("CANCEL_STARTED", None)),
            ("DONE", JobOutcome.SUCCEEDED),
            ("ERROR", JobOutcome.FAILED),
            ("CANCELLED", JobOutcome.KILLED),
        ],
    )
    def test_has_states(self, server: HttpServer, state: str, outcome: JobOutcome | None) -> None:
        server.answers = [job(state)]
        status = service(JOB_OF_CLUSTER, server).status(ID)
        assert (status.state, status.outcome) == (state, outcome)
        assert server.requests[0].path.partition("?")[0] == f"{JOBS}/{ID}"

    def test_says_why_it_has_failed_and_where_its_output_is(self, server: HttpServer) -> None:
        failed = {"state": "ERROR", "details": "exit code 1"}
        server.answers = [told(status=failed, driverOutputResourceUri="gs://dataproc/driveroutput")]
        status = service(JOB_OF_CLUSTER, server).status(ID)
        assert (status.reason, status.log) == ("exit code 1", "gs://dataproc/driveroutput")

    def test_is_cancelled(self, server: HttpServer) -> None:
        server.answers = [job("CANCEL_PENDING")]
        service(JOB_OF_CLUSTER, server).end(ID)
        assert server.requests[0].path.partition("?")[0] == f"{JOBS}/{ID}:cancel"


@pytest.mark.parametrize("host", [BATCH, JOB_OF_CLUSTER])
class TestErrors:
    def test_a_refusal_has_the_words_of_google(self, server: HttpServer, host: str) -> None:
        server.answers = [refused(403, "PERMISSION_DENIED", "airflow@shop may not act as job@shop")]
        with pytest.raises(ConfigError, match=r"`spark_conn_id`: Dataproc.* refuses: .*may not act as"):
            service(host, server).start(JOB)

    @pytest.mark.parametrize(("status", "code"), [(503, "UNAVAILABLE"), (429, "RESOURCE_EXHAUSTED")])
    def test_an_error_that_passes_is_no_answer(self, server: HttpServer, host: str, status: int, code: str) -> None:
        server.answers = [refused(status, code, "later")]
        with pytest.raises(ClusterManagerUnavailableError, match=r"does not answer: .*later"):
            service(host, server).status(ID)
        assert len(server.requests) == 1

    def test_no_server_is_no_answer(self, server: HttpServer, host: str) -> None:
        with pytest.raises(ClusterManagerUnavailableError, match="does not answer: ConnectionError"):
            service(host, server, api_endpoint="http://127.0.0.1:1").start(JOB)

    def test_a_job_that_is_not_known_is_lost(self, server: HttpServer, host: str) -> None:
        server.answers = [refused(404, "NOT_FOUND", "Not found: Job")]
        assert service(host, server).status(ID).outcome is JobOutcome.LOST

    def test_a_job_that_is_not_known_need_not_be_ended(self, server: HttpServer, host: str) -> None:
        server.answers = [refused(404, "NOT_FOUND", "Not found: Job")] * 2
        service(host, server).end(ID)
        assert len(server.requests) == 2

    def test_an_address_that_is_none_is_an_error(self, server: HttpServer, host: str) -> None:
        with pytest.raises(ConfigError, match=r"names nothing of Dataproc.*, expected dataproc.*://project/region"):
            service(f"{host}/more", server)


class TestLogin:
    def started(self, server: HttpServer) -> None:
        server.answers = [job("PENDING")]
        service(JOB_OF_CLUSTER, server).start(JOB)
        assert server.requests[0].headers["authorization"].startswith("Bearer ")

    def test_by_the_key_of_the_connection(self, server: HttpServer) -> None:
        self.started(server)

    def test_by_the_file_of_the_connection(
        self, server: HttpServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (file := tmp_path / "key.json").write_text(service_account_key())
        login(monkeypatch, key_path=str(file))
        self.started(server)

    def test_by_that_of_the_machine(self, server: HttpServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (file := tmp_path / "key.json").write_text(service_account_key())
        login(monkeypatch)
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(file))
        self.started(server)

    @pytest.mark.parametrize(
        ("extra", "problem"),
        [
            ({"key_path": "/nowhere/key.json"}, "has a key that cannot be used: FileNotFoundError"),
            ({"keyfile_dict": "{"}, "has a key that cannot be used: JSONDecodeError"),
            ({"keyfile_dict": "{}"}, "has a key that cannot be used: MalformedError"),
            ({"impersonation_chain": "job@shop"}, "has `impersonation_chain`"),
        ],
    )
    def test_that_cannot_be_used_is_an_error_of_its_connection(
        self, server: HttpServer, monkeypatch: pytest.MonkeyPatch, extra: dict[str, str], problem: str
    ) -> None:
        login(monkeypatch, **extra)
        with pytest.raises(ConfigError) as caught:
            service(JOB_OF_CLUSTER, server).start(JOB)
        (text,) = caught.value.errors["gcp_conn_id"]
        assert text.startswith(f"names the Airflow connection `google_cloud_default`, which {problem}")

    def test_that_does_not_exist_is_an_error(self, server: HttpServer) -> None:
        with pytest.raises(ConfigError, match="names the Airflow connection `google_lake`, which does not exist"):
            service(JOB_OF_CLUSTER, server, gcp_conn_id="google_lake").start(JOB)

    def test_is_that_of_the_staging_folder(self, server: HttpServer) -> None:
        assert service(BATCH, server).staging_conn_id == "google_cloud_default"
