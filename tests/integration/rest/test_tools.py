"""The requests of tools for Kafka Connect, as they sent them: kcctl, Terraform's provider, Redpanda Console."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.testclient import TestClient

from tests.support import unique

Request = tuple[str, str, Any, int]

CONFIG = {"connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector", "file": "/in", "topic": "t"}
OFFSETS = {"offsets": [{"partition": {"filename": "/in"}, "offset": {"position": 4}}]}
LOGGER = "/admin/loggers/airflow_kconnect.tests.of.tools"

KCCTL: list[Request] = [
    ("GET", "/", None, 200),
    ("GET", "/connector-plugins?connectorsOnly=false", None, 200),
    ("PUT", "/connector-plugins/FileStreamSource/config/validate", {**CONFIG, "name": "dummy-name"}, 200),
    ("GET", "/connectors/", None, 200),
    ("POST", "/connectors/", {"name": "NAME", "config": CONFIG}, 201),
    ("PUT", "/connectors/NAME/config", CONFIG, 200),
    ("GET", "/connectors?expand=status", None, 200),
    ("GET", "/connectors/NAME", None, 200),
    ("GET", "/connectors/NAME/status", None, 200),
    ("GET", "/connectors/NAME/config", None, 200),
    ("GET", "/connectors/NAME/topics", None, 200),
    ("GET", "/connectors/NAME/tasks", None, 200),
    ("PUT", "/connectors/NAME/pause", None, 202),
    ("PUT", "/connectors/NAME/resume", None, 202),
    ("POST", "/connectors/NAME/restart", None, 204),
    ("POST", "/connectors/NAME/restart?includeTasks=true&onlyFailed=false", None, 202),
    ("POST", "/connectors/NAME/tasks/9/restart", None, 404),
    ("DELETE", "/connectors/NAME/offsets", None, 400),
    ("PUT", "/connectors/NAME/stop", None, 204),
    ("PATCH", "/connectors/NAME/offsets", OFFSETS, 200),
    ("GET", "/connectors/NAME/offsets", None, 200),
    ("DELETE", "/connectors/NAME/offsets", None, 200),
    ("GET", "/admin/loggers", None, 200),
    ("PUT", LOGGER, {"level": "INFO"}, 200),
    ("GET", LOGGER, None, 200),
    ("PUT", f"{LOGGER}?scope=cluster", {"level": "INFO"}, 204),
    ("DELETE", "/connectors/NAME", None, 204),
    ("DELETE", "/connectors/NAME", None, 404),
]
CONSOLE: list[Request] = [
    ("GET", "/", None, 200),
    ("GET", "/connector-plugins", None, 200),
    ("PUT", f"/connector-plugins/{CONFIG['connector.class']}/config/validate", {**CONFIG, "name": "x"}, 200),
    ("POST", "/connectors", {"name": "NAME", "config": {**CONFIG, "name": "NAME"}}, 201),
    ("POST", "/connectors", {"name": "NAME", "config": {**CONFIG, "name": "NAME"}}, 409),
    ("GET", "/connectors?expand=info&expand=status", None, 200),
    ("PUT", "/connectors/NAME/config", {**CONFIG, "name": "NAME", "tasks.max": "2"}, 200),
    ("POST", "/connectors/NAME/restart?includeTasks=true&onlyFailed=true", None, 202),
    ("PUT", "/connectors/NAME/topics/reset", None, 202),
    ("PUT", "/connectors/NAME/stop", None, 204),
    ("DELETE", "/connectors/NAME", None, 204),
]


def _send(client: TestClient, name: str, request: Request) -> tuple[str, int]:
    method, path, body, _ = request
    content = None if body is None else json.dumps(body).replace("NAME", name)
    # Clients of Go and Java send the type of a body that is empty, too.
    headers = {"Accept": "application/json", "Content-Type": "application/json; charset=utf-8"}
    answer = client.request(method, path.replace("NAME", name), content=content, headers=headers)
    return f"{method} {path}", answer.status_code


@pytest.mark.parametrize("requests", [KCCTL, CONSOLE], ids=["kcctl", "console"])
def test_its_requests_are_answered_as_by_connect(requests: list[Request], client: TestClient) -> None:
    name = unique("tool")
    answered = [_send(client, name, request) for request in requests]
    assert answered == [(f"{method} {path}", status) for method, path, _, status in requests]


class TestTerraform:
    """After a change the provider asks until it reads what it has sent, and compares that with its plan again later."""

    @pytest.fixture
    def name(self) -> str:
        return unique("terraform")

    @pytest.fixture
    def sent(self, name: str, client: TestClient) -> dict[str, str]:
        config = {**CONFIG, "name": name, "tasks.max": "1", "my.password": "${file:/run/secrets:password}"}
        assert client.post("/connectors", json={"name": name, "config": config}).status_code == 201
        return config

    def test_it_reads_what_it_has_created(self, name: str, sent: dict[str, str], client: TestClient) -> None:
        assert client.get(f"/connectors/{name}").json()["config"] == sent

    def test_it_reads_what_it_has_changed(self, name: str, sent: dict[str, str], client: TestClient) -> None:
        changed = {**sent, "tasks.max": "2"}
        assert client.put(f"/connectors/{name}/config", json=changed).json()["config"] == changed
        assert client.get(f"/connectors/{name}/config").json() == changed

    def test_it_reads_that_it_has_deleted(self, name: str, sent: dict[str, str], client: TestClient) -> None:
        client.delete(f"/connectors/{name}")
        assert client.get(f"/connectors/{name}").status_code == 404
