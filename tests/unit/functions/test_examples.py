"""The examples of "Writing connectors" do what the page says, against a real server."""

from __future__ import annotations

import json
from typing import Any

import pytest

from airflow_kconnect.connect.connector.task import SinkTaskContext, SourceTaskContext
from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.connect.record import SinkRecord
from airflow_kconnect.converters.json.schemas import schema_text
from airflow_kconnect.functions import http
from airflow_kconnect.functions.inference import inferred
from tests.support.http_server import Answer, http_server
from tests.support.pages.markdown import REPOSITORY, blocks

PAGE = REPOSITORY / "docs" / "writing-connectors.md"
BUSY = Answer(503)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_FIRST_S", 0.001)


def example(name: str) -> Any:
    """The class of a function of the page."""
    (block,) = [block for block in blocks(PAGE) if block.info == "python" and f"def {name}(" in block.text]
    module: dict[str, Any] = {"__name__": "example"}
    exec(block.text, module)  # noqa: S102 - our own documentation
    return module[name].plugin_class


def put(url: str, *records: SinkRecord) -> None:
    connector = example("post")({"url": url, "token": "x"})
    (props,) = connector.task_configs(1)
    task = connector.task_class()()
    task.initialize(SinkTaskContext(props))
    task.start(props)
    task.put(records)


def test_a_record_is_posted_with_its_place_as_key() -> None:
    with http_server(BUSY) as server:
        put(server.url, SinkRecord("orders", 0, 7, "a", {"n": 1}), SinkRecord("orders", 0, 8, "a", None))
    keys = [(request.method, request.path, request.headers["Idempotency-Key"]) for request in server.requests]
    first = ("POST", "/", "orders-0-7")
    assert keys == [first, first, ("DELETE", "/a", "orders-0-8")]
    assert json.loads(server.requests[0].body) == {"n": 1}


def test_an_api_that_stays_busy_is_a_reason_to_retry_later() -> None:
    with http_server(*[BUSY] * 9) as server, pytest.raises(RetriableError, match="503 Service Unavailable"):
        put(server.url, SinkRecord("orders", 0, 7, "a", {"n": 1}))


@pytest.mark.parametrize(("start", "pages"), [(0, [1, 2]), (1, [2])])
def test_a_state_resumes_after_its_pages(start: int, pages: list[int]) -> None:
    connector = example("events")({"pages": "2", "topic": "events"})
    known = {'{"source":"events"}': {"state": json.dumps({"page": start}), "sent": 0}} if start else {}
    connector.learn([{"value": schema_text(inferred({"id": 1, "kind": "x"}, "events"))}])
    (props,) = connector.task_configs(1)
    task = connector.task_class()()
    task.initialize(SourceTaskContext(props, known))
    task.start(props)
    records = task.poll()
    assert sorted({record.value["id"] // 10 + 1 for record in records}) == pages


def test_the_archive_gets_frames_and_is_exactly_once() -> None:
    connector = example("archive")({"folder": "/data", "topics": "orders"})
    assert (connector.spec.takes, connector.spec.given, connector.exactly_once) == ("frame", ("batch_id",), True)
