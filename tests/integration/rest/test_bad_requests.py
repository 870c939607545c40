"""Requests that cannot be understood or done: Connect's status code, what is wrong, and nothing is written."""

from __future__ import annotations

import gzip
import time
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from airflow_kconnect.rest.bodies import MAX_BYTES

JSON = {"Content-Type": "application/json"}
CONFIG = {"connector.class": "FileStreamSource", "file": "/data/in.txt", "topic": "t"}
SINK = {"connector.class": "FileStreamSink", "file": "/data/out.txt", "topics": "t"}


@pytest.fixture(scope="module")
def one(client: TestClient) -> TestClient:
    """The client, with a source `one` that was never run."""
    assert client.post("/connectors", json={"name": "one", "config": CONFIG}).status_code == 201
    return client


@pytest.fixture(scope="module")
def stopped_sink(client: TestClient) -> TestClient:
    """The client, with a stopped sink `sink`."""
    body = {"name": "sink", "config": SINK, "initial_state": "STOPPED"}
    assert client.post("/connectors", json=body).status_code == 201
    return client


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("{bad json", "line 1, column 2"),
        ("", "a"),
        ("[]", "the body"),
        ("null", "the body"),
        ("7", "the body"),
        ('{"name":"a","name":"b","config":{}}', "'name' twice"),
        ('{"name":"a","config":{"x":"1","x":"2"}}', "'x' twice"),
        ('{"name":"a"}', "config"),
        ('{"name":"a","config":[]}', "config"),
        ('{"name":"a","config":{"x":{"y":1}}}', "config.x"),
        ('{"name":"a","config":{"connector.class":"FileStreamSource","x":null}}', "Null value"),
        ('{"name":[],"config":{}}', "name"),
        ('{"name":"a","config":{},"unknown":1}', "unknown"),
        ('{"name":"a","config":{},"initial_state":"HALTED"}', "HALTED"),
        ('{"name":"a","config":{"x":NaN}}', "JSON"),
        ("[" * 100_000, "JSON"),
    ],
)
def test_a_create_request_of_another_form_is_refused(body: str, said: str, client: TestClient) -> None:
    answer = client.post("/connectors", content=body, headers=JSON)
    assert (answer.status_code, said in answer.json()["message"]) == (400, True), answer.text


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"name":"\xff"}', id="latin-1"),
        pytest.param('{"name":"a"}'.encode("utf-16"), id="utf-16"),
        pytest.param(gzip.compress(b'{"name":"a"}'), id="gzip"),
    ],
)
def test_bytes_that_are_not_utf_8_are_refused(body: bytes, client: TestClient) -> None:
    assert client.post("/connectors", content=body, headers=JSON).status_code == 400


@pytest.mark.parametrize("body", ["[1, 2]", "null", '"text"', '{"a": {}}', '{"a": []}', '{"a": null}', ""])
def test_a_configuration_of_another_form_is_refused(body: str, client: TestClient) -> None:
    assert client.put("/connectors/a/config", content=body, headers=JSON).status_code == 400


@pytest.mark.parametrize("name", ["", "   ", "a\nb", "a\u0000b", "n" * 300])
def test_a_name_that_no_connector_can_have_is_refused(name: str, client: TestClient) -> None:
    assert client.post("/connectors", json={"name": name, "config": CONFIG}).status_code == 400


def test_numbers_and_booleans_are_taken_as_texts(client: TestClient) -> None:
    body = {"name": "numbers", "config": {**CONFIG, "tasks.max": 2, "errors.log.enable": True}}
    config = client.post("/connectors", json=body).json()["config"]
    assert (config["tasks.max"], config["errors.log.enable"]) == ("2", "true")


def test_other_kinds_of_content_are_refused(client: TestClient) -> None:
    assert client.post("/connectors", content="name=a", headers={"Content-Type": "text/plain"}).status_code == 415


def test_bodies_that_are_too_large_are_refused(client: TestClient) -> None:
    assert client.post("/connectors", content=b" " * (MAX_BYTES + 1), headers=JSON).status_code == 413


def test_many_keys_are_no_trouble(client: TestClient) -> None:
    body = {"name": "a", "config": {**CONFIG, **{f"k{n}": "v" for n in range(50_000)}}}
    began = time.monotonic()
    assert client.post("/connectors", json=body).status_code in (201, 400, 413)
    assert time.monotonic() - began < 30


def test_all_errors_of_a_configuration_are_named(client: TestClient) -> None:
    config = {**CONFIG, "tasks.max": "0", "errors.tolerance": "some"}
    message = client.post("/connectors", json={"name": "a", "config": config}).json()["message"]
    assert ("2 error(s)" in message, "tasks.max" in message, "errors.tolerance" in message) == (True, True, True)


def test_an_error_does_not_quote_a_secret(client: TestClient) -> None:
    config = {**CONFIG, "tasks.max": "0", "producer.override.sasl.password": "geheim"}
    assert "geheim" not in client.post("/connectors", json={"name": "a", "config": config}).text


@pytest.mark.parametrize("name", ["a/b", "a b", "ä", "a%b", "a?b", "a#b"])
def test_a_name_with_special_characters_can_be_asked_for(name: str, client: TestClient) -> None:
    client.post("/connectors", json={"name": name, "config": CONFIG})
    assert client.get(f"/connectors/{quote(name, safe='')}/config").json()["name"] == name


@pytest.mark.parametrize(
    "path",
    [
        "/nope",
        "/connectors//",
        "/connectors/a/bogus",
        "/connectors/a/tasks/x/status",
        "//connectors",
        "/..%2fconnectors",
        "/connectors/..%2f..%2fconnectors/bogus",
        f"/{'x' * 10_000}",
    ],
)
def test_unknown_paths_are_answered_in_connects_form(path: str, client: TestClient) -> None:
    answer = client.get(f"http://testserver{path}")
    assert answer.json() == {"error_code": 404, "message": "HTTP 404 Not Found"}


OF_A_CONNECTOR: list[tuple[str, str, Any]] = [
    *(("GET", path, None) for path in ("", "/config", "/status", "/tasks", "/tasks/0/status", "/offsets")),
    *(("PUT", path, None) for path in ("/pause", "/resume", "/stop")),
    *(("POST", path, None) for path in ("/restart", "/tasks/0/restart")),
    *(("DELETE", path, None) for path in ("", "/offsets")),
    *(("PATCH", path, {}) for path in ("/config", "/offsets")),
]
OF_V1: list[tuple[str, str, Any]] = [
    *(("GET", path, None) for path in ("", "/dead-letters", "/dead-letters/last")),
    ("PUT", "/config/validate", CONFIG),
    ("POST", "/preview", {"latest": 1}),
    ("POST", "/replay", {"dead_letters": True}),
]


@pytest.mark.parametrize(("root", "requests"), [("", OF_A_CONNECTOR), ("/v1", OF_V1)], ids=["connect", "own"])
def test_an_unknown_connector_is_not_found(root: str, requests: list[tuple[str, str, Any]], client: TestClient) -> None:
    for method, path, body in requests:
        answer = client.request(method, f"{root}/connectors/nope{path}", json=body)
        assert (answer.status_code, answer.json()["error_code"]) == (404, 404), (method, path, answer.text)


@pytest.mark.parametrize("task", ["99", "-1", "abc"])
def test_a_restart_of_nothing_is_refused(task: str, one: TestClient) -> None:
    assert one.post(f"/connectors/one/tasks/{task}/restart").status_code == 404


@pytest.mark.parametrize(
    "offsets",
    [
        {},
        {"offsets": []},
        {"offsets": None},
        {"offsets": 3},
        {"offset": []},
        {"key": []},
        [123],
        {"offsets": [{}]},
        {"offsets": [123]},
        {"offsets": [{"partition": []}]},
    ],
)
def test_offsets_must_be_given(offsets: Any, stopped_sink: TestClient) -> None:
    assert stopped_sink.patch("/connectors/sink/offsets", json=offsets).status_code == 400


@pytest.mark.parametrize(
    ("partition", "offset", "said"),
    [
        (None, {"kafka_offset": 1}, "cannot be null or missing"),
        ({}, {"kafka_offset": 1}, "must contain the keys"),
        ({"kafka_topic": "t"}, {"kafka_offset": 1}, "must contain the keys"),
        ({"kafka_topic": "t", "kafka_partition": "x"}, {"kafka_offset": 1}, "need to be integers"),
        ({"kafka_topic": None, "kafka_partition": 0}, {"kafka_offset": 1}, "may not be null"),
        ({"kafka_topic": "t", "kafka_partition": None}, {"kafka_offset": 1}, "may not be null"),
        ({"kafka_topic": "t", "kafka_partition": 0}, {}, "contain the key 'kafka_offset'"),
        ({"kafka_topic": "t", "kafka_partition": 0}, {"kafka_offset": "x"}, "need to be integers"),
        ({"kafka_topic": "t", "kafka_partition": 0}, {"kafka_offset": -5}, "t-0"),
        ({"kafka_topic": "t", "kafka_partition": 0}, {"kafka_offset": 2**63}, "t-0"),
        ([], {"kafka_offset": 1}, "partition"),
        ({"kafka_topic": "t", "kafka_partition": 0}, [1], "offset"),
    ],
)
def test_offsets_of_another_form_are_refused(partition: Any, offset: Any, said: str, stopped_sink: TestClient) -> None:
    body = {"offsets": [{"partition": partition, "offset": offset}]}
    answer = stopped_sink.patch("/connectors/sink/offsets", json=body)
    assert (answer.status_code, said in answer.json()["message"]) == (400, True), answer.text


@pytest.mark.parametrize("state", ["resume", "pause"])
def test_offsets_of_a_connector_that_is_not_stopped_are_kept(state: str, one: TestClient) -> None:
    one.put(f"/connectors/one/{state}")
    answer = one.patch("/connectors/one/offsets", json={"offsets": [{"partition": {"filename": "x"}, "offset": None}]})
    assert (answer.status_code, "STOPPED" in answer.json()["message"]) == (400, True)


@pytest.mark.parametrize(("body", "status"), [({"level": "LOUD"}, 404), ({}, 400), ([], 400), ({"level": None}, 400)])
def test_a_level_that_is_none_is_refused(body: Any, status: int, client: TestClient) -> None:
    assert client.put("/admin/loggers/some", json=body).status_code == status


def test_a_wrong_method_is_refused_with_those_that_are_allowed(client: TestClient) -> None:
    answer = client.delete("/connectors")
    assert (answer.status_code, "allow" in answer.headers) == (405, True)


def test_a_patch_with_null_is_no_error(one: TestClient) -> None:
    assert one.patch("/connectors/one/config", json={"batch.size": None}).status_code == 200
