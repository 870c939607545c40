"""A recorded conversation with Kafka Connect's REST API, held with ours: same status codes, same bodies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from airflow_kconnect.runtime.process.session import LazySession
from tests.golden import rest_deviations
from tests.support import unique
from tests.support.control import api_client, control_plane, control_worker

CONVERSATION: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "golden" / "rest.json").read_text())
# A worker runs what is registered by itself; here the test starts a run.
_RUNS_BEFORE = {24: ("src-a", "x/y"), 75: ("src-a",)}


@pytest.fixture(scope="module")
def answers(
    bootstrap: str, spark_if_needed: LazySession, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Any]]:
    """Our answers to all requests, in their order."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "in.txt").write_text(f"{'x' * 78}\n" * 10)
    props = control_worker(bootstrap)
    with control_plane(props) as plane:
        client, given = api_client(plane), []
        for number, entry in enumerate(CONVERSATION):
            for name in _RUNS_BEFORE.get(number, ()):
                run(RunSpec(plane.registered_config(name), props, run_id=unique("run")), spark_if_needed)
            given.append(_ask(client, entry["request"], folder))
        yield given


def _ask(client: TestClient, request: dict[str, Any], folder: Path) -> Any:
    raw = request.get("raw")
    body = raw if raw is not None else None if request.get("body") is None else json.dumps(request["body"])
    content = None if body is None else body.replace("/data", str(folder))
    headers = {} if body is None else {"Content-Type": "application/json"}
    return client.request(request["method"], request["path"], content=content, headers=headers)


def _normal(text: str) -> Any:
    """A body without what differs from run to run: places, the worker's name, versions, order."""
    text = re.sub(r'"worker_id":\s*"[^"]*"', '"worker_id": "w"', text)
    text = re.sub(r'"version":\s*"[^"]*"', '"version": "v"', text)
    return json.loads(re.sub(r'(?<=")[^"\s]*/(in|out)\.txt', r"/data/\1.txt", text)) if text else None


def test_statuses_are_connects(answers: list[Any]) -> None:
    expected = {number: entry["response"]["status"] for number, entry in enumerate(CONVERSATION)}
    expected |= {number: ours for number, (ours, _) in rest_deviations.STATUS.items()}
    assert {number: answer.status_code for number, answer in enumerate(answers)} == expected


def test_bodies_are_connects(answers: list[Any]) -> None:
    wrong = dict[int, str]()
    for number in set(range(len(CONVERSATION))) - set(rest_deviations.BODY):
        expected, ours = CONVERSATION[number]["response"], _normal(answers[number].text)
        if expected["status"] >= 400:
            same = ours.keys() == {"error_code", "message"} and ours["error_code"] == answers[number].status_code
        else:
            same = ours == _normal(json.dumps(expected["body"]) if expected["body"] is not None else "")
        if not same:
            wrong[number] = answers[number].text
    assert wrong == {}


def test_locations_are_connects(answers: list[Any]) -> None:
    recorded = {n: entry["response"].get("location") for n, entry in enumerate(CONVERSATION)}
    expected = {n: url.replace("http://localhost:28083", "http://testserver") for n, url in recorded.items() if url}
    assert {number: answers[number].headers["location"] for number in expected} == expected


def test_texts_of_refusals_are_connects(answers: list[Any]) -> None:
    refused = {n: e["response"]["body"] for n, e in enumerate(CONVERSATION) if e["response"]["status"] in (404, 409)}
    del refused[6]
    found = {number: answers[number].json()["message"] for number in refused}
    assert found == {number: body["message"] for number, body in refused.items()}


@pytest.mark.parametrize("number", [5, 7])
def test_keys_of_a_plugin_include_all_of_connects(number: int, answers: list[Any]) -> None:
    wanted = [key["name"] for key in CONVERSATION[number]["response"]["body"]]
    assert set(wanted) <= {key["name"] for key in answers[number].json()}


@pytest.mark.parametrize("number", [8, 9])
def test_validation_finds_connects_errors(number: int, answers: list[Any]) -> None:
    def errors(body: dict[str, Any]) -> dict[str, int]:
        return {c["value"]["name"]: len(c["value"]["errors"]) for c in body["configs"] if c["value"]["errors"]}

    ours = errors(answers[number].json())
    ours.pop("file", None)  # reading standard input is not possible in a job, so a file is required
    assert ours == errors(CONVERSATION[number]["response"]["body"])


@pytest.mark.parametrize("number", [8, 9])
def test_validation_has_connects_groups(number: int, answers: list[Any]) -> None:
    assert answers[number].json()["groups"][:6] == CONVERSATION[number]["response"]["body"]["groups"][:6]


def test_list_of_plugins_begins_with_sinks(answers: list[Any]) -> None:
    assert [plugin["type"] for plugin in answers[3].json()] == sorted(p["type"] for p in answers[3].json())
