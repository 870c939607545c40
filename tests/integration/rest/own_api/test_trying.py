"""Previews and replays over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from airflow_kconnect.control import previews
from airflow_kconnect.control.plane import ControlPlane
from tests.support import unique
from tests.support.control import StartedRuns, api_client, control_plane, plane_with_runs
from tests.support.kafka import create_topic, produce

CHAIN = {
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "transforms": "named,kept",
    "transforms.named.type": "org.apache.kafka.connect.transforms.InsertField$Value",
    "transforms.named.static.field": "shop",
    "transforms.named.static.value": "north",
    "transforms.kept.type": "org.apache.kafka.connect.transforms.Filter",
    "transforms.kept.predicate": "empty",
    "predicates": "empty",
    "predicates.empty.type": "org.apache.kafka.connect.transforms.predicates.RecordIsTombstone",
}
Preview = Callable[..., Any]


@pytest.fixture
def topic(bootstrap: str) -> str:
    """A topic."""
    name = unique("previewed")
    create_topic(bootstrap, name)
    return name


@pytest.fixture
def sink(topic: str, plane: ControlPlane) -> str:
    """A registered sink with two transformations."""
    plane.put_config("lake", {**CHAIN, "connector.class": "DirectorySink", "topics": topic, "directory": "/lake"})
    return "lake"


@pytest.fixture
def previewed(client: TestClient) -> Preview:
    """Sends a preview; returns the answer's body."""

    def send(connector: str, status: int = 200, **body: Any) -> Any:
        answer = client.post(f"/v1/connectors/{connector}/preview", json=body)
        assert answer.status_code == status, answer.text
        return answer.json() if status == 200 else answer.json()["message"]

    return send


def values(steps: list[Mapping[str, Any]]) -> list[Any]:
    """The value after each step, or what became of the record."""
    return [json.loads(step["value"] or "null") if "value" in step else next(iter(step)) for step in steps]


@pytest.mark.exhaustive  # in a job as what a source would read next
def test_samples_are_shown_after_each_transformation(sink: str, previewed: Preview) -> None:
    records = [{"key": "k", "value": {"id": 1}}, {"key": "k", "value": None}, {"value": "no json"}]
    answer = previewed(sink, records=records)
    assert [each["alias"] for each in answer["transformations"]] == ["named", "kept"]
    after = [values([each["read"], *each["after"]]) for each in answer["records"]]
    assert after == [
        [{"id": 1}, {"id": 1, "shop": "north"}, {"id": 1, "shop": "north"}],
        [None, None, "dropped"],
        ["error"],
    ]
    assert "serialization error" in answer["records"][2]["read"]["error"]["message"]


@pytest.mark.exhaustive
def test_the_latest_records_of_a_sinks_topics(
    topic: str, plane: ControlPlane, previewed: Preview, bootstrap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The values of variables are used, and not shown."""
    monkeypatch.setenv("SHOP_SECRET", "geheim")
    secret = {"transforms.named.static.value": "${env:SHOP_SECRET}", "connector.class": "DirectorySink"}
    plane.put_config("lake", {**CHAIN, **secret, "topics": topic, "directory": "/lake"})
    produce(bootstrap, topic, [b'{"id":1}', b'{"id":2}', b"\xff\xfe"], key=b"k")
    answer = previewed("lake", latest=2)
    before = [(each["before"]["offset"], each["before"]["value"]) for each in answer["records"]]
    assert before == [(1, '{"id":2}'), (2, "\\xff\\xfe")]
    assert values(answer["records"][0]["after"])[-1] == {"id": 2, "shop": "${env:SHOP_SECRET}"}
    assert "error" in answer["records"][1]["read"]


@pytest.mark.exhaustive
def test_a_changed_configuration_of_a_source(plane: ControlPlane, previewed: Preview) -> None:
    """Its samples are what it gives to its first transformation, whatever its converters write."""
    config = {"connector.class": "FileStreamSource", "file": "/in.txt", "topic": "lines"}
    plane.put_config("lines", config)
    hoist = {"transforms": "h", "transforms.h.type": "HoistField$Value", "transforms.h.field": "line"}
    changed = {**config, **hoist, "value.converter": "org.apache.kafka.connect.converters.ByteArrayConverter"}
    enveloped = {"schema": {"type": "string", "optional": False}, "payload": "first"}
    answer = previewed("lines", records=[{"topic": "lines", "value": enveloped}], config=changed, schemas=True)
    (value,) = values(answer["records"][0]["after"])
    assert (value["payload"], value["schema"]["fields"][0]["field"]) == ({"line": "first"}, "line")


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({}, 400, "give either `records` or `latest`"),
        ({"records": []}, 400, "at least 1 item"),
        ({"latest": 101}, 400, "less than or equal to 100"),
        ({"records": [{}], "unknown": 1}, 400, "unknown"),
        ({"latest": 1, "topic": "other"}, 400, "lake does not read a topic other"),
        ({"latest": 1}, 400, "there are no records"),
        ({"records": [{}], "config": {"transforms": "a"}}, 400, "transforms.a.type"),
        ({"records": [{}], "config": {"connection.password": "[hidden]"}}, 400, "no value is registered"),
    ],
)
def test_wrong_previews_are_refused(
    body: dict[str, Any], status: int, message: str, sink: str, previewed: Preview
) -> None:
    assert message in previewed(sink, status, **body)


def test_topics_of_the_worker_and_of_groups_that_host_connectors_are_not_shown(
    bootstrap: str, control_props: dict[str, str], plane: ControlPlane, previewed: Preview
) -> None:
    of_group = f"{plane.worker.group_id}-orders-configs"
    create_topic(bootstrap, of_group)
    plane.put_config("lines", {"connector.class": "FileStreamSource", "file": "/in.txt", "topic": "lines"})
    for topic in (control_props["config.storage.topic"], of_group):
        own = {"connector.class": "DirectorySink", "topics": topic, "directory": "/x"}
        answer = previewed("lines", 400, latest=1, config=own)
        assert f"records of {topic} are not shown: it is internal to Connect" in answer


def test_sources_are_read_only_where_the_worker_lets_the_server(plane: ControlPlane, previewed: Preview) -> None:
    plane.put_config("lines", {"connector.class": "FileStreamSource", "file": "/in.txt", "topic": "lines"})
    assert "`kconnect.preview.sources` of the worker" in previewed("lines", 403, latest=1)
    java = {"connector.class": "org.example.JavaSource"}
    assert "is not known here" in previewed("lines", 400, latest=1, config=java)


def test_what_a_source_would_read_next(
    control_props: dict[str, str], plane: ControlPlane, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a job of its own; with unsaved changes, and without the values of variables."""
    monkeypatch.setenv("SHOP_SECRET", "geheim")
    monkeypatch.setattr(previews, "_TIMEOUT_S", 400.0)  # Spark starts, on a busy machine
    (tmp_path / "in.txt").write_text("the word is geheim\nsecond\nthird\n")
    config = {"connector.class": "FileStreamSource", "file": str(tmp_path / "in.txt"), "topic": "${env:SHOP_SECRET}"}
    plane.put_config("lines", config)
    with control_plane({**control_props, "kconnect.preview.sources": "true"}) as reading:
        client = api_client(reading)
        assert client.get("/v1/connectors/lines").json()["reads_source"]
        hoist = {"transforms": "h", "transforms.h.type": "HoistField$Value", "transforms.h.field": "line"}
        body = {"latest": 2, "config": {**config, **hoist}}
        answer = client.post("/v1/connectors/lines/preview", json=body).json()
        assert [each["alias"] for each in answer["transformations"]] == ["h"]
        assert [each["before"] for each in answer["records"]] == [None, None]
        assert [values([each["read"], *each["after"]]) for each in answer["records"]] == [
            ["the word is ${env:SHOP_SECRET}", {"line": "the word is ${env:SHOP_SECRET}"}],
            ["second", {"line": "second"}],
        ]
        assert {each["read"]["topic"] for each in answer["records"]} == {"${env:SHOP_SECRET}"}
        wrong = client.post("/v1/connectors/lines/preview", json={"latest": 1, "topic": "t"})
        assert (wrong.status_code, "only sinks read topics" in wrong.text) == (400, True)


def test_a_connector_that_is_not_registered(plane: ControlPlane, previewed: Preview) -> None:
    assert "not found" in previewed("nope", 404, records=[{}])


@pytest.fixture
def started(plane: ControlPlane) -> Iterator[tuple[StartedRuns, TestClient]]:
    """The API of a server that starts runs."""
    runs = StartedRuns()
    with plane_with_runs(plane, runs) as starting:
        yield runs, api_client(starting)


def test_an_interval_is_replayed(sink: str, started: tuple[StartedRuns, TestClient]) -> None:
    runs, client = started
    body = {"from": "2026-01-01", "to": "2026-01-01T12:00:00+02:00", "dry_run": True}
    answer = client.post(f"/v1/connectors/{sink}/replay", json=body)
    params = {
        "mode": "replay",
        "from": "2026-01-01T00:00:00+00:00",
        "to": "2026-01-01T10:00:00+00:00",
        "dry_run": True,
    }
    assert (answer.status_code, answer.json()) == (202, {"run_id": "manual__1", "params": params})
    assert runs.replays == [(sink, params)]


@pytest.mark.parametrize(
    ("connector", "body", "message"),
    [
        ("lake", {"from": "2026-01-02", "to": "2026-01-01"}, "ends before it begins"),
        ("lake", {"from": "yesterday", "to": "2026-01-01"}, "'yesterday' is not a point in time"),
        ("lake", {"from": "2026-01-02"}, "give either `from` and `to`, or `dead_letters`"),
        ("lake", {"dead_letters": True}, "`errors.deadletterqueue.topic.name` is not set"),
        ("verified", {"from": "2026-01-01", "to": "2026-01-02"}, "VerifiableSource"),
        ("verified", {"dead_letters": True}, "verified is not a sink"),
    ],
)
def test_wrong_replays_are_refused(
    connector: str,
    body: dict[str, Any],
    message: str,
    sink: str,
    plane: ControlPlane,
    started: tuple[StartedRuns, TestClient],
) -> None:
    plane.put_config("verified", {"connector.class": "VerifiableSource", "topic": "t", "throughput": "1"})
    answer = started[1].post(f"/v1/connectors/{connector}/replay", json=body)
    assert (answer.status_code, message in answer.json()["message"]) == (400, True), answer.text


def test_a_server_that_starts_no_runs_says_what_does(sink: str, client: TestClient) -> None:
    answer = client.post(f"/v1/connectors/{sink}/replay", json={"from": "2026-01-01", "to": "2026-01-02"})
    assert (answer.status_code, "kconnect run --replay" in answer.json()["message"]) == (403, True)
