"""Kafka Connect's answers about definitions, validation, protocol and odd requests, compared with ours one by one."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import uvicorn

from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.rest.access import TokenPolicy
from airflow_kconnect.rest.app import create_app
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from airflow_kconnect.runtime.process.session import LazySession
from tests.golden.record_rest import ask, essential, recorded
from tests.golden.rest_comparison import differences
from tests.golden.rest_deviations import FAMILIES
from tests.golden.rest_requests import conversation
from tests.support import unique
from tests.support.control import control_plane, control_worker

EXCHANGES: list[dict[str, Any]] = recorded()
REQUESTS = [f"{e['request']['method']} {e['request']['path']} {e['request']['body'] or ''}" for e in EXCHANGES]


@pytest.fixture(scope="module")
def plane(bootstrap: str) -> Iterator[ControlPlane]:
    """A worker group of the recorded name, without exactly-once as it was there."""
    props = control_worker(bootstrap) | {"group.id": "recorded", "exactly.once.source.support": "disabled"}
    with control_plane(props) as control:
        yield control


@pytest.fixture(scope="module")
def port(plane: ControlPlane) -> Iterator[int]:
    """The server, reached by its port: clients of tests would tidy up the requests."""
    bound = socket.create_server(("127.0.0.1", 0))
    app = create_app(lambda: plane, TokenPolicy(None))
    server = uvicorn.Server(uvicorn.Config(app, http="h11", log_level="warning", access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    yield bound.getsockname()[1]
    server.should_exit = True
    thread.join(30)


@pytest.fixture(scope="module")
def found(
    plane: ControlPlane, port: int, spark_if_needed: LazySession, tmp_path_factory: pytest.TempPathFactory
) -> list[list[str]]:
    """What differs in each exchange."""
    folder = tmp_path_factory.mktemp("data")
    (folder / "in.txt").write_text("")
    answers = []
    ran = set()
    for request in conversation():
        if "wait" not in request:
            body = request["body"] and request["body"].replace("/data/in.txt", f"{folder}/in.txt")
            answer = ask(port, {**request, "body": body})
            answers.append(
                {**answer, "body": json.loads(json.dumps(essential(answer["body"])).replace(str(folder), "/data"))}
            )
        elif request["wait"][0] not in ran:
            # A worker runs what is registered by itself.
            ran.add(request["wait"][0])
            _run(plane, request["wait"][0], spark_if_needed)
    return [differences(ours, exchange["response"]) for ours, exchange in zip(answers, EXCHANGES, strict=True)]


def _run(plane: ControlPlane, name: str, spark: LazySession) -> None:
    try:
        run(RunSpec(plane.registered_config(name), dict(plane.worker_props), run_id=unique("run")), spark)
    except ConnectError:
        assert name == "k", "only the sink fails: its folder does not exist"


def _reasons(number: int, difference: str) -> list[str]:
    return [
        family.why
        for family in FAMILIES
        if re.search(family.request, REQUESTS[number]) and re.match(family.difference, difference)
    ]


def test_answers_are_connects_or_differ_for_a_known_reason(found: list[list[str]]) -> None:
    unknown = [[each for each in texts if not _reasons(number, each)] for number, texts in enumerate(found)]
    assert {REQUESTS[number]: texts for number, texts in enumerate(unknown) if texts} == {}


def test_each_reason_is_that_of_a_difference(found: list[list[str]]) -> None:
    used = {why for number, texts in enumerate(found) for text in texts for why in _reasons(number, text)}
    assert {family.why for family in FAMILIES} - used == set()


def test_most_answers_are_connects(found: list[list[str]]) -> None:
    assert sum(not texts for texts in found) >= 500, f"{sum(not texts for texts in found)} of {len(found)}"


def test_requests_are_those_that_were_recorded() -> None:
    assert [request for request in conversation() if "wait" not in request] == [each["request"] for each in EXCHANGES]
