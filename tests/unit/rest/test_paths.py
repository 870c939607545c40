"""Paths and methods as Connect's server reads them, alone and mounted in another app."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from airflow_kconnect.rest.access import TokenPolicy
from airflow_kconnect.rest.app import create_app


class _Names:
    """A control plane that only knows names."""

    cluster_id = "kafka-1"

    def names(self) -> list[str]:
        return ["a"]

    def config(self, name: str) -> dict[str, str]:
        return {"name": name}


def _client(mount: str) -> TestClient:
    plane: Any = _Names()
    app = create_app(lambda: plane, TokenPolicy(None))
    if mount:
        outer = FastAPI()
        outer.mount(mount, app)
        app = outer
    return TestClient(app, base_url=f"http://testserver{mount}", follow_redirects=False)


@pytest.fixture(params=["", "/kconnect"])
def client(request: pytest.FixtureRequest) -> Iterator[TestClient]:
    yield _client(request.param)


@pytest.mark.parametrize(
    ("path", "answer"),
    [("/connectors/", ["a"]), ("/connectors/a/config/", {"name": "a"}), ("/connectors/x%2Fy/config/", {"name": "x/y"})],
)
def test_a_slash_at_the_end_means_nothing(path: str, answer: Any, client: TestClient) -> None:
    assert client.get(path).json() == answer


def test_the_root_is_a_slash(client: TestClient) -> None:
    assert client.get("/").json()["kafka_cluster_id"] == "kafka-1"


def test_the_page_keeps_its_slash(client: TestClient) -> None:
    assert client.get("/ui/").text.startswith("<!doctype html>")


def test_two_slashes_are_no_path(client: TestClient) -> None:
    assert client.get("/connectors//").status_code == 404


@pytest.mark.parametrize(("path", "status"), [("/", 200), ("/connectors", 200), ("/nope", 404)])
def test_head_is_a_get_without_a_body(path: str, status: int, client: TestClient) -> None:
    head, get = client.head(path), client.get(path)
    assert (head.status_code, head.content) == (status, b"")
    assert head.headers == get.headers


def test_head_does_not_make_a_path_readable(client: TestClient) -> None:
    assert client.head("/connectors/a/pause").status_code == 405
