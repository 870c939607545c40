"""What a form asks for over HTTP: classes, validation with choices, tests of connections."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from airflow_kconnect.control.plane import ControlPlane
from tests.support.control import api_client, control_plane
from tests.support.databases.servers import SqliteDatabase

SINK = "io.confluent.connect.jdbc.JdbcSinkConnector"


@pytest.fixture(scope="module")
def connecting(control_props: dict[str, str]) -> Iterator[TestClient]:
    """The API of a server that may connect to what connectors name."""
    with control_plane({**control_props, "kconnect.preview.sources": "true"}) as plane:
        yield api_client(plane)


def answer_of(client: TestClient, status: int = 200, **config: str) -> Any:
    """The answer to a test of the connection of `shop`."""
    props = {"connector.class": SINK, **{key.replace("_", "."): value for key, value in config.items()}}
    answer = client.post("/v1/connectors/shop/check", json={"config": props})
    assert answer.status_code == status, answer.text
    return answer.json()


def test_classes_and_validation(client: TestClient) -> None:
    classes = client.get("/v1/plugins").json()["plugins"]
    assert {each["class"] for each in classes if each["recommended"]} >= {SINK}
    answer = client.put(f"/v1/plugins/{SINK}/config/validate", json={"connector.class": SINK}).json()
    forms = {entry["value"]["name"]: entry["form"] for entry in answer["configs"]}
    assert forms["insert.mode"]["choices"] == ["insert", "upsert", "update"]
    assert answer["test"]["key"] == "connection.password"
    assert "`kconnect.preview.sources`" in answer["test"]["problem"]


def test_what_a_run_did_not_keep_is_wrong_until_it_is_given(client: TestClient) -> None:
    config = {"connector.class": SINK, "connection.password": "[hidden]", "topics": "t"}
    answer = client.put(f"/v1/plugins/{SINK}/config/validate", json=config).json()
    (value,) = (each["value"] for each in answer["configs"] if each["value"]["name"] == "connection.password")
    assert "is [hidden]" in value["errors"][0]
    assert value["value"] is None


def test_a_registered_connector_is_validated_with_choices(plane: ControlPlane, client: TestClient) -> None:
    config = {"connector.class": SINK, "connection.url": "jdbc:sqlite:/x.db", "topics": "t"}
    plane.put_config("shop", config)
    answer = client.put("/v1/connectors/shop/config/validate", json=config).json()
    (mode,) = (entry for entry in answer["configs"] if entry["value"]["name"] == "pk.mode")
    assert mode["form"]["choices"] == ["none", "kafka", "record_key", "record_value"]


def test_a_server_connects_only_where_the_worker_lets_it(client: TestClient) -> None:
    assert "`kconnect.preview.sources`" in answer_of(client, 403, connection_url="jdbc:sqlite:/x.db")["message"]


def test_a_connection_is_tested(connecting: TestClient, tmp_path: Path) -> None:
    db = SqliteDatabase.create(tmp_path)
    db.execute("create table t (id integer)")
    assert answer_of(connecting, connection_url=db.url) == {
        "errors": {}, "problem": None, "choices": {}, "complete": False
    }  # fmt: skip
    missing = answer_of(connecting, connection_url=f"jdbc:sqlite:{tmp_path}/no/file.db")
    assert list(missing["errors"]) == ["connection.url"] or missing["problem"]


def test_hidden_secrets_are_those_that_are_registered_and_stay_hidden(
    plane: ControlPlane, connecting: TestClient
) -> None:
    url = "jdbc:postgresql://127.0.0.1:1/shop"
    plane.put_config(
        "shop", {"connector.class": SINK, "topics": "t", "connection.url": url, "connection.password": "127.0"}
    )
    answer = answer_of(connecting, connection_url=url, connection_password="[hidden]")
    assert "[hidden].0.1" in answer["problem"]
    elsewhere = connecting.post(
        "/v1/connectors/other/check", json={"config": {"connector.class": SINK, "connection.password": "[hidden]"}}
    )
    assert "no value is registered" in elsewhere.json()["message"]


def test_a_class_that_connects_to_nothing_has_no_test(client: TestClient, connecting: TestClient) -> None:
    props = {"connector.class": "FileStreamSource", "name": "lines"}
    assert client.put("/v1/plugins/FileStreamSource/config/validate", json=props).json()["test"] is None
    answer = connecting.post("/v1/connectors/lines/check", json={"config": props}).json()
    assert "tested by its runs only" in answer["errors"]["connector.class"][0]
