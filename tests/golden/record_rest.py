"""Records `rest-more.json`: what a worker of Kafka Connect answers to the requests of `rest_requests`.

    python -m tests.golden.record_rest [FILE]

It starts a broker and a worker of the version that this package is compatible with, or of `KCONNECT_TEST_CONNECT`, and
takes some two minutes.
"""

from __future__ import annotations

import http.client
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from airflow_kconnect.local.broker import EmbeddedBroker
from tests.golden.rest_requests import Request, conversation
from tests.support.connect.worker import ConnectWorker

FILE = Path(__file__).with_name("rest-more.json")
_HEADERS = ("content-type", "location", "allow")


def ask(port: int, request: Request) -> dict[str, Any]:
    """The answer of a server on this machine: `status`, `body`, and the headers that clients look at.

    :param request: sent byte for byte, with the headers that it names and no others.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=95)
    try:
        connection.putrequest(request["method"], request["path"], skip_accept_encoding=True)
        for name, value in request["headers"].items():
            connection.putheader(name, value)
        body = None if request["body"] is None else request["body"].encode()
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        response = connection.getresponse()
        text = response.read().decode()
        headers = {name: value for name in _HEADERS if (value := response.headers.get(name)) is not None}
        return {"status": response.status, **headers, "body": parsed(text)}
    except http.client.HTTPException as error:
        return {"status": 0, "body": type(error).__name__}
    finally:
        connection.close()


def parsed(text: str) -> Any:
    """A body: parsed if it is JSON, None if there is none."""
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text


def essential(body: Any) -> Any:
    """A body without texts that are our own, and without what takes space: traces, what could be chosen."""
    if isinstance(body, list):
        return [essential(each) for each in body]
    if not isinstance(body, dict):
        return body
    left = {key: essential(value) for key, value in body.items() if key not in ("documentation", "recommended_values")}
    return {key: "..." if key == "trace" else value for key, value in left.items()}


def wait(port: int, name: str, connector: str, task: str) -> None:
    """Return once a connector and its task are in these states; `task` is empty if it has none."""
    body: Any = None
    deadline = time.monotonic() + 60
    path = f"/connectors/{quote(name)}/status"
    while time.monotonic() < deadline:
        body = ask(port, {"method": "GET", "path": path, "headers": {}, "body": None})["body"]
        if "connector" in body:
            tasks = [each["state"] for each in body["tasks"]]
            if body["connector"]["state"] == connector and tasks == ([task] if task else []):
                return
        time.sleep(0.1)
    raise TimeoutError(f"{name} is not {connector}, {task}: {body}")


def held(port: int, waiting: Callable[[int, str, str, str], None] = wait) -> Iterator[tuple[Request, dict[str, Any]]]:
    """Each request with its answer."""
    for request in conversation():
        if "wait" in request:
            waiting(port, *request["wait"])
            continue
        answer = ask(port, request)
        for _ in range(10):  # some answers stay so
            if answer["status"] != 409 or "rebalance" not in str(answer["body"]):
                break
            time.sleep(0.5)
            answer = ask(port, request)
        yield request, {**answer, "body": essential(answer["body"])}


def _interned(value: Any, known: dict[str, int]) -> Any:
    """The same value with numbers for parts that recur: definitions and values of keys."""
    if isinstance(value, list):
        return [_interned(each, known) for each in value]
    if not isinstance(value, dict):
        return value
    if "importance" in value or "visible" in value:
        return {"$": known.setdefault(json.dumps(value, ensure_ascii=False), len(known))}
    return {key: _interned(each, known) for key, each in value.items()}


def recorded(file: Path = FILE) -> list[dict[str, Any]]:
    """The recorded exchanges: `request` and `response`."""
    content = json.loads(file.read_text())
    parts = content["parts"]

    def whole(value: Any) -> Any:
        if isinstance(value, list):
            return [whole(each) for each in value]
        if not isinstance(value, dict):
            return value
        return parts[value["$"]] if value.keys() == {"$"} else {key: whole(each) for key, each in value.items()}

    return [whole(exchange) for exchange in content["exchanges"]]


def main() -> None:
    """Record all."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "in.txt")
        data.write_text("one\ntwo\n")
        broker = EmbeddedBroker(Path(folder, "broker"))
        broker.start()
        try:
            worker = ConnectWorker.of_group(Path(folder, "worker"), broker.bootstrap, "recorded", exactly_once=False)
            with worker:
                exchanges = list(held(int(worker.url.rpartition(":")[2])))
        finally:
            broker.stop()
    known: dict[str, int] = {}
    lines = [json.dumps(_interned({"request": q, "response": a}, known), ensure_ascii=False) for q, a in exchanges]
    file = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    file.write_text('{"parts": [\n' + ",\n".join(known) + '\n],\n"exchanges": [\n' + ",\n".join(lines) + "\n]}\n")
    print(f"{len(lines)} exchanges, {file.stat().st_size} bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
