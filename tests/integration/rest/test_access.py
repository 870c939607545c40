"""Who may ask for what, and which requests are refused whoever asks."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.rest.access import TokenPolicy
from airflow_kconnect.rest.app import create_app
from tests.support.control import Only, api_client

REQUESTS = [
    ("GET", "/"),
    ("GET", "/connectors"),
    ("POST", "/connectors"),
    ("GET", "/connectors/a"),
    ("GET", "/connectors/a/config"),
    ("PUT", "/connectors/a/config"),
    ("PATCH", "/connectors/a/config"),
    ("DELETE", "/connectors/a"),
    ("GET", "/connectors/a/status"),
    ("GET", "/connectors/a/tasks"),
    ("GET", "/connectors/a/tasks/0/status"),
    ("POST", "/connectors/a/tasks/0/restart"),
    ("POST", "/connectors/a/restart"),
    ("PUT", "/connectors/a/pause"),
    ("PUT", "/connectors/a/resume"),
    ("PUT", "/connectors/a/stop"),
    ("GET", "/connectors/a/topics"),
    ("PUT", "/connectors/a/topics/reset"),
    ("GET", "/connectors/a/offsets"),
    ("PATCH", "/connectors/a/offsets"),
    ("DELETE", "/connectors/a/offsets"),
    ("GET", "/connector-plugins"),
    ("GET", "/connector-plugins/a/config"),
    ("PUT", "/connector-plugins/a/config/validate"),
    ("GET", "/admin/loggers"),
    ("GET", "/admin/loggers/root"),
    ("PUT", "/admin/loggers/root"),
    ("GET", "/v1/connectors"),
    ("GET", "/v1/lags"),
    ("GET", "/v1/airflow-connections"),
    ("GET", "/v1/plugins"),
    ("PUT", "/v1/plugins/a/config/validate"),
    ("GET", "/v1/connectors/a"),
    ("GET", "/v1/connectors/a/offsets"),
    ("PUT", "/v1/connectors/a/config/validate"),
    ("POST", "/v1/connectors/a/check"),
    ("POST", "/v1/connectors/bulk"),
    ("POST", "/v1/connectors/a/preview"),
    ("POST", "/v1/connectors/a/replay"),
    ("GET", "/v1/connectors/a/dead-letters"),
    ("GET", "/v1/connectors/a/dead-letters/last"),
]
WRITES = [(method, path) for method, path in REQUESTS if method != "GET"]


@pytest.fixture(scope="module")
def guarded(plane: ControlPlane) -> TestClient:
    """The API with a token."""
    return api_client(plane, TokenPolicy("geheim"))


def test_the_list_of_requests_is_complete(plane: ControlPlane) -> None:
    routes = create_app(lambda: plane, TokenPolicy(None)).openapi()["paths"]
    operations = {(method.upper(), path) for path, methods in routes.items() for method in methods} - {
        ("GET", "/health")
    }
    names = {"{connector}": "a", "{plugin}": "a", "{task}": "0", "{logger}": "root"}
    for parameter, value in names.items():
        operations = {(method, path.replace(parameter, value)) for method, path in operations}
    assert operations == set(REQUESTS)


def test_without_the_token_nothing_is_answered(guarded: TestClient) -> None:
    assert [each for each in REQUESTS if guarded.request(*each).status_code != 401] == []


def test_another_token_is_refused(guarded: TestClient) -> None:
    for header in ("Bearer wrong", "Bearer", "Basic Z2VoZWlt", "geheim"):
        assert guarded.get("/connectors", headers={"Authorization": header}).status_code == 401, header


def test_with_the_token_everything_is_answered(guarded: TestClient) -> None:
    assert guarded.get("/connectors", headers={"Authorization": "Bearer geheim"}).status_code == 200


@pytest.mark.parametrize("header", [{"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}])
def test_pages_of_other_sites_change_nothing(header: dict[str, str], client: TestClient) -> None:
    assert [each for each in WRITES if client.request(*each, headers=header).status_code != 403] == []


def test_pages_of_other_sites_can_read_nothing(client: TestClient) -> None:
    asking = {"Origin": "https://evil.example", "Access-Control-Request-Method": "PUT"}
    preflight = client.options("/connectors", headers=asking)
    assert preflight.status_code == 200
    for answer in (preflight, client.get("/connectors", headers=asking)):
        assert not [name for name in answer.headers if name.startswith("access-control-")]


def test_a_page_of_this_server_may_write(client: TestClient) -> None:
    headers = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
    assert client.put("/connectors/a/pause", headers=headers).status_code == 404


def test_the_page_and_the_health_need_no_token(guarded: TestClient) -> None:
    for path in ("/ui/", "/ui/app.js", "/ui/style.css", "/health"):
        assert guarded.get(path).status_code == 200, path


@pytest.fixture
def limited(plane: ControlPlane) -> TestClient:
    """The API for one who may see the connector `a` and change none, with sinks `a` and `b`."""
    for name in ("a", "b"):
        plane.put_config(name, {"connector.class": "DirectorySink", "topics": "t", "directory": "/lake"})
    return api_client(plane, Only(reads=["a"], dags=["a"]))


def test_an_overview_has_what_the_caller_may_see(limited: TestClient) -> None:
    assert [each["name"] for each in limited.get("/v1/connectors").json()["connectors"]] == ["a"]


@pytest.mark.parametrize("path", ["/v1/connectors/b", "/v1/connectors/b/dead-letters"])
def test_a_connector_of_others_is_not_shown(path: str, limited: TestClient) -> None:
    assert limited.get(path).status_code == 403


def test_a_reader_is_told_that_nothing_can_be_changed(limited: TestClient) -> None:
    assert limited.get("/v1/connectors/a").json()["may_write"] is False


def test_a_reader_sees_no_contents_of_dead_letters(limited: TestClient) -> None:
    assert limited.get("/v1/connectors/a/dead-letters/last").status_code == 403
