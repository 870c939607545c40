"""What Livy is asked, and what its answers mean; answers are those that Livy gives."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest
from airflow.sdk import Connection

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.clusters.job_status import ClusterManagerUnavailableError, JobOutcome
from airflow_kconnect.hooks.services.base import ServiceJob, SparkService
from airflow_kconnect.hooks.services.registry import open_service
from tests.support.http_server import Answer, HttpServer, http_server

EXTRA = {"staging": "hdfs://name-node:8020/kconnect"}
JOB = ServiceJob(
    name="kconnect-orders",
    request="0123456789abcdef" * 2,
    application="hdfs://name-node:8020/connector_job.py",
    arguments=("--run", "hdfs://name-node:8020/runs/1"),
    conf={"spark.executor.memory": "2g"},
    py_files=("hdfs://name-node:8020/a.zip",),
    archives=("hdfs://name-node:8020/python.tar.gz#environment",),
)
GONE = {"msg": "Session '7' not found."}


def _service(host: str = "livy://livy_default", **extra: Any) -> SparkService:
    given = json.dumps(EXTRA | extra)
    return open_service(Connection(conn_id="spark", conn_type="spark", host=host, extra=given), "spark")


@pytest.fixture
def livy(connection: Callable[..., None]) -> Iterator[HttpServer]:
    with http_server() as server:
        connection("livy_default", conn_type="livy", host=server.url)
        yield server


def _json(content: Any, status: int = 200) -> Answer:
    return Answer(status, {"Content-Type": "application/json;charset=utf-8"}, json.dumps(content).encode())


def _batch(state: str, **members: Any) -> Answer:
    info = {"driverLogUrl": None, "sparkUiUrl": None}
    return _json({"id": 7, "name": "x", "state": state, "appId": None, "appInfo": info, "log": []} | members)


def _asked(server: HttpServer) -> list[tuple[str, str]]:
    return [(request.method, request.path) for request in server.requests]


class TestStart:
    def test_the_batch_is_the_job(self, livy: HttpServer) -> None:
        livy.answers = [_batch("starting")]
        assert _service(queue="etl", run_as="orders").start(JOB) == "7"
        assert json.loads(livy.requests[0].body) == {
            "file": "hdfs://name-node:8020/connector_job.py",
            "args": ["--run", "hdfs://name-node:8020/runs/1"],
            "pyFiles": ["hdfs://name-node:8020/a.zip"],
            "archives": ["hdfs://name-node:8020/python.tar.gz#environment"],
            "conf": {"spark.executor.memory": "2g"},
            "name": "kconnect-orders 01234567",
            "queue": "etl",
            "proxyUser": "orders",
        }

    def test_a_server_that_protects_itself_from_forged_requests_takes_it(self, livy: HttpServer) -> None:
        livy.answers = [_batch("starting")]
        _service().start(JOB)
        assert livy.requests[0].headers["X-Requested-By"] == "airflow-kconnect"

    def test_a_gateway_has_a_prefix(self, livy: HttpServer) -> None:
        livy.answers = [_batch("starting")]
        _service(endpoint_prefix="gateway/livy/v1").start(JOB)
        assert _asked(livy) == [("POST", "/gateway/livy/v1/batches")]

    @pytest.mark.parametrize("said", [{"msg": "Rejected, Reason: no"}, "Rejected, Reason: no"], ids=["member", "text"])
    def test_what_is_refused_is_an_error_in_livys_words(self, livy: HttpServer, said: Any) -> None:
        livy.answers = [_json(said, 400)]
        with pytest.raises(ConfigError, match=r"`spark_conn_id`: Livy refuses: 400 Bad Request: Rejected, Reason: no"):
            _service().start(JOB)

    def test_too_many_batches_are_fewer_later(self, livy: HttpServer) -> None:
        livy.answers = [_json({"msg": "Rejected, too many sessions are being created!"}, 400)]
        with pytest.raises(ClusterManagerUnavailableError, match="too many sessions"):
            _service().start(JOB)

    @pytest.mark.parametrize("status", [401, 403])
    def test_a_login_that_is_refused_is_an_error_of_its_connection(self, livy: HttpServer, status: int) -> None:
        livy.answers = [Answer(status, {"Content-Type": "text/html"}, b"<html>no</html>")]
        with pytest.raises(ConfigError, match=f"Livy refuses the login of the connection `livy_default`: {status}"):
            _service().start(JOB)

    def test_an_address_without_livy_is_an_error_of_its_connection(self, livy: HttpServer) -> None:
        livy.answers = [Answer(404, {"Content-Type": "text/html"}, b"<html>no</html>")]
        with pytest.raises(ConfigError, match="Livy does not have what was asked for: 404"):
            _service().start(JOB)

    @pytest.mark.parametrize(
        "answer",
        [
            Answer(503, {}, b""),
            Answer(429, {}, b""),
            Answer(200, {"Content-Type": "text/html"}, b"<html>login</html>"),
            _json({"status": "starting"}),
        ],
        ids=["unavailable", "too many requests", "a page", "of another server"],
    )
    def test_no_answer_may_be_another_time(self, livy: HttpServer, answer: Answer) -> None:
        livy.answers = [answer]
        with pytest.raises(ClusterManagerUnavailableError, match=f"Livy does not answer: {answer.status}"):
            _service().start(JOB)

    def test_a_server_that_is_down_may_be_up_later(self, connection: Callable[..., None]) -> None:
        with http_server() as server:
            connection("livy_default", conn_type="livy", host=server.url)
        with pytest.raises(ClusterManagerUnavailableError, match="Livy does not answer: ConnectionError"):
            _service().start(JOB)

    def test_an_answer_is_not_waited_for_forever(self, livy: HttpServer, connection: Callable[..., None]) -> None:
        connection("livy_default", conn_type="livy", host=livy.url, extra={"timeout": 0.2})
        livy.answers = [_batch("starting")._replace(after_s=1)]
        with pytest.raises(ClusterManagerUnavailableError, match="Livy does not answer: ReadTimeout"):
            _service().start(JOB)


class TestLogin:
    def test_it_is_that_of_the_connection(self, livy: HttpServer, connection: Callable[..., None]) -> None:
        connection("prod", conn_type="livy", host=livy.url, login="me", password="s3cr3t")
        livy.answers = [_batch("running")]
        _service("livy://prod").status("7")
        assert livy.requests[0].headers["Authorization"] == f"Basic {base64.b64encode(b'me:s3cr3t').decode()}"

    def test_kerberos_is_that_of_requests(self, livy: HttpServer, monkeypatch: pytest.MonkeyPatch) -> None:
        class HTTPKerberosAuth:
            def __call__(self, request: Any) -> Any:
                request.headers["Authorization"] = "Negotiate token"
                return request

        module = ModuleType("requests_kerberos")
        module.HTTPKerberosAuth = HTTPKerberosAuth  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "requests_kerberos", module)
        livy.answers = [_batch("running")]
        _service(auth_type="kerberos").status("7")
        assert livy.requests[0].headers["Authorization"] == "Negotiate token"

    def test_kerberos_without_its_package_says_what_to_install(
        self, livy: HttpServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "requests_kerberos", None)
        with pytest.raises(ConfigError, match=r"extra `auth_type`: .* pip install requests-kerberos"):
            _service(auth_type="kerberos").status("7")

    def test_a_missing_connection_is_an_error_that_says_how_to_create_it(self) -> None:
        with pytest.raises(ConfigError, match="Create it: airflow connections add nowhere --conn-type livy"):
            _service("livy://nowhere").status("7")

    def test_a_host_that_is_no_address_is_an_error_of_the_connection(self, connection: Callable[..., None]) -> None:
        connection("livy_default", conn_type="livy", host="ftp://livy")
        with pytest.raises(
            ConfigError, match="the connection `livy_default` to Livy has a host that is not an address"
        ):
            _service().status("7")


class TestStatus:
    @pytest.mark.parametrize(
        ("state", "outcome"),
        [
            ("not_started", None),
            ("starting", None),
            ("recovering", None),
            ("idle", None),
            ("running", None),
            ("busy", None),
            ("shutting_down", None),
            ("success", JobOutcome.SUCCEEDED),
            ("dead", JobOutcome.FAILED),
            ("error", JobOutcome.FAILED),
            ("killed", JobOutcome.KILLED),
        ],
    )
    def test_states_have_outcomes(self, livy: HttpServer, state: str, outcome: JobOutcome | None) -> None:
        livy.answers = [_batch(state)]
        status = _service().status("7")
        assert (status.state, status.outcome) == (state, outcome)

    def test_the_reason_of_a_failure_is_the_last_line_of_the_log(self, livy: HttpServer) -> None:
        log = ["stdout: ", "Traceback", "ModuleNotFoundError: No module named 'pyarrow'", "KCONNECT token {}"]
        livy.answers = [_batch("dead", log=[*log, "\nstderr: ", "\nYARN Diagnostics: "])]
        assert _service().status("7").reason == "ModuleNotFoundError: No module named 'pyarrow'"

    def test_a_batch_that_livy_has_forgotten_is_lost(self, livy: HttpServer) -> None:
        livy.answers = [_json(GONE, 404)]
        assert _service().status("7").outcome is JobOutcome.LOST

    def test_the_log_is_livys_page(self, livy: HttpServer) -> None:
        livy.answers = [_batch("running")]
        assert _service().status("7").log == f"{livy.url}/ui/batch/7/log"

    def test_the_log_of_a_driver_on_yarn_is_yarns_page(self, livy: HttpServer) -> None:
        livy.answers = [_batch("running", appInfo={"driverLogUrl": "http://node:8042/logs", "sparkUiUrl": None})]
        assert _service().status("7").log == "http://node:8042/logs"


class TestEnd:
    def test_a_running_batch_is_deleted(self, livy: HttpServer) -> None:
        livy.answers = [_batch("running"), _json({"msg": "deleted"})]
        _service().end("7")
        assert _asked(livy) == [("GET", "/batches/7"), ("DELETE", "/batches/7")]

    def test_one_that_has_ended_keeps_its_log(self, livy: HttpServer) -> None:
        livy.answers = [_batch("dead")]
        _service().end("7")
        assert _asked(livy) == [("GET", "/batches/7")]

    @pytest.mark.parametrize("answers", [[_json(GONE, 404)], [_batch("running"), _json(GONE, 404)]])
    def test_one_that_is_gone_has_ended(self, livy: HttpServer, answers: list[Answer]) -> None:
        livy.answers = [*answers]
        _service().end("7")

    def test_one_that_may_not_be_ended_is_an_error(self, livy: HttpServer) -> None:
        livy.answers = [_batch("running"), Answer(403, {}, b"")]
        with pytest.raises(ConfigError, match="Livy refuses the login of the connection `livy_default`: 403"):
            _service().end("7")


class TestConnection:
    def test_all_that_is_wrong_with_its_extras_is_reported(self) -> None:
        with pytest.raises(ConfigError) as error:
            _service(auth_type="digest", queue=3)
        assert [text.partition(":")[0] for text in error.value.errors["spark_conn_id"]] == [
            "Spark connection `spark`, extra `auth_type`",
            "Spark connection `spark`, extra `queue`",
        ]

    @pytest.mark.parametrize("host", ["livy://", "livy://livy.example.com:8998"])
    def test_a_host_that_names_no_connection_is_refused(self, host: str) -> None:
        with pytest.raises(ConfigError, match=f"{host}: expected the id of an Airflow connection to Livy"):
            _service(host)
