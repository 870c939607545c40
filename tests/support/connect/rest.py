"""A small client for Kafka Connect's REST API: create a connector, query its status, wait, stop, delete."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from airflow_kconnect.connect.errors import ConnectError, RetriableError


class ConnectRest:
    """The REST API of a Connect worker.

    :param url: its address, for example http://127.0.0.1:8083.
    """

    def __init__(self, url: str) -> None:
        self.url = url

    def connectors(self) -> list[str]:
        """The names of the connectors."""
        return list(self._call("GET", "/connectors"))

    def create(self, name: str, config: Mapping[str, str]) -> None:
        """Create a connector, or change its configuration.

        :raises ConnectError: Connect rejects the configuration; the text is its answer.
        """
        self._call("PUT", f"{_path(name)}/config", dict(config))

    def status(self, name: str) -> dict[str, Any]:
        """`GET /connectors/<name>/status`."""
        return dict(self._call("GET", f"{_path(name)}/status"))

    def offsets(self, name: str) -> list[dict[str, Any]]:
        """The committed offsets: a list of `{"partition": ..., "offset": ...}`."""
        return list(self._call("GET", f"{_path(name)}/offsets")["offsets"])

    def pause(self, name: str) -> None:
        """Pause a connector and wait until it and its tasks are paused."""
        self._call("PUT", f"{_path(name)}/pause")
        self.wait_for(name, "PAUSED")

    def resume(self, name: str) -> None:
        """Resume a paused or stopped connector, and wait until it runs."""
        self._call("PUT", f"{_path(name)}/resume")
        self.wait_running(name)

    def stop_connector(self, name: str) -> None:
        """Stop a connector and wait until it has no more tasks; its offsets stay."""
        self._call("PUT", f"{_path(name)}/stop")
        self.wait_for(name, "STOPPED")

    def delete(self, name: str) -> None:
        """Delete a connector; its offsets stay in the topic."""
        self._call("DELETE", _path(name))

    def wait_running(self, name: str, *, timeout_s: float = 180) -> None:
        """Wait until a connector and all its tasks run.

        :raises ConnectError: it or a task failed; the text contains Connect's trace.
        :raises RetriableError: not within `timeout_s` seconds.
        """
        self.wait_for(name, "RUNNING", timeout_s=timeout_s)

    def wait_for(self, name: str, state: str, *, timeout_s: float = 180) -> None:
        """Wait until a connector and all its tasks are in a state: RUNNING, PAUSED or STOPPED.

        :raises ConnectError: it or a task failed; the text contains Connect's trace.
        :raises RetriableError: not within `timeout_s` seconds.
        """
        deadline_s = time.monotonic() + timeout_s
        status: dict[str, Any] = {}
        while time.monotonic() < deadline_s:
            try:
                status = self.status(name)
            except _NotFound:  # Its first status has not been written yet.
                pass
            else:
                _raise_if_failed(name, status)
                if _is_in(status, state):
                    return
            time.sleep(0.1)
        raise RetriableError(f"Connector {name} was not {state} within {timeout_s:.0f} s: {status}.")

    def is_healthy(self) -> bool:
        """Whether the worker has joined its group and accepts requests."""
        try:
            self._request("GET", "/health")
        except ConnectError:
            return False
        return True

    def _call(self, method: str, path: str, body: object = None) -> Any:
        """Send a request; while the group rebalances Connect answers 409, and the request is repeated."""
        deadline_s = time.monotonic() + 30
        while True:
            try:
                return self._request(method, path, body)
            except _Conflict:
                if time.monotonic() > deadline_s:
                    raise
                time.sleep(0.2)

    def _request(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with _OPENER.open(request, timeout=90) as response:
                text = response.read()
        except urllib.error.HTTPError as error:
            kind = _BY_CODE.get(error.code, ConnectError)
            raise kind(f"{method} {path}: {error.code} {error.read().decode(errors='replace')}") from error
        except OSError as error:
            raise RetriableError(f"{method} {self.url}{path}: {error}") from error
        return json.loads(text) if text else None


class _NotFound(ConnectError):
    """Connect answered 404."""


class _Conflict(RetriableError):
    """Connect answered 409: the group rebalances."""


_BY_CODE: dict[int, type[ConnectError]] = {404: _NotFound, 409: _Conflict}
# The worker is on this machine: no proxy.
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def _path(name: str) -> str:
    return f"/connectors/{quote(name, safe='')}"


def _is_in(status: Mapping[str, Any], state: str) -> bool:
    states = {task["state"] for task in status["tasks"]}
    expected = set() if state == "STOPPED" else {state}
    return bool(status["connector"]["state"] == state and states == expected)


def _raise_if_failed(name: str, status: Mapping[str, Any]) -> None:
    for part in (status["connector"], *status["tasks"]):
        if part["state"] == "FAILED":
            raise ConnectError(f"Connector {name} failed in Kafka Connect: {part.get('trace', 'no trace')}")
