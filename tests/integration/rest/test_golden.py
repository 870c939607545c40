"""A recorded conversation with Kafka Connect's REST API, held with ours: same status codes, same bodies."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from starlette.testclient import TestClient

from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from tests.golden import rest_deviations
from tests.support import unique
from tests.support.control import api_client, control_plane, control_worker

CONVERSATION: list[dict[str, Any]] = json.loads((Path(__file__).parents[2] / "golden" / "rest.json").read_text())
# A worker runs what is registered by itself; here the test starts a run.
_RUNS_BEFORE = {24: ("src-a", "x/y"), 75: ("src-a",)}


@pytest.fixture(scope="module")
def answers(bootstrap: str, spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Any]]:
    """Our answers to all requests, in their order."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "in.txt").write_text(f"{'x' * 78}\n" * 10)
    props = control_worker(bootstrap)
    with control_plane(props) as plane:
        client, given = api_client(plane), []
        for number, entry in enumerate(CONVERSATION):
            for name in _RUNS_BEFORE.get(number, ()):
                run(RunSpec(plane.registered_config(name), props, run_id=unique("run")), spark)
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


@pytest.mark.parametrize("number", range(len(CONVERSATION)))
def test_status_is_connects(number: int, answers: list[Any]) -> None:
    ours, _ = rest_deviations.STATUS.get(number, (CONVERSATION[number]["response"]["status"], ""))
    assert answers[number].status_code == ours, answers[number].text


@pytest.mark.parametrize("number", sorted(set(range(len(CONVERSATION))) - set(rest_deviations.BODY)))
def test_body_is_connects(number: int, answers: list[Any]) -> None:
    expected = CONVERSATION[number]["response"]
    ours = _normal(answers[number].text)
    if expected["status"] >= 400:
        assert ours.keys() == {"error_code", "message"}
        assert ours["error_code"] == answers[number].status_code
    else:
        assert ours == _normal(json.dumps(expected["body"]) if expected["body"] is not None else "")


@pytest.mark.parametrize("number", [n for n, e in enumerate(CONVERSATION) if e["response"].get("location")])
def test_location_is_connects(number: int, answers: list[Any]) -> None:
    expected = CONVERSATION[number]["response"]["location"].replace("http://localhost:28083", "http://testserver")
    assert answers[number].headers["location"] == expected


@pytest.mark.parametrize(
    "number", [n for n, e in enumerate(CONVERSATION) if e["response"]["status"] in (404, 409) and n != 6]
)
def test_text_of_a_refusal_is_connects(number: int, answers: list[Any]) -> None:
    assert answers[number].json()["message"] == CONVERSATION[number]["response"]["body"]["message"]


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
