"""A Connect cluster as its REST API shows it: connectors, plugins, states and offsets (KIP-875)."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self
from urllib.parse import quote

from airflow_kconnect.connect.errors import DataError, RetriableError, first_line
from airflow_kconnect.control.errors import NotFoundError
from airflow_kconnect.migration.offsets import counted
from airflow_kconnect.remote.access import Access
from airflow_kconnect.remote.client import RestClient
from airflow_kconnect.remote.errors import not_connect

STOPPED = "STOPPED"

_PAUSE_S = 0.2


@dataclass(frozen=True)
class ClusterFacts:
    """What a cluster says about itself.

    :param version: of Kafka, as a vendor writes it.
    :param kafka_cluster: id of its Kafka cluster.
    """

    url: str
    version: str
    kafka_cluster: str


@dataclass(frozen=True)
class ConnectorThere:
    """A connector of a Connect cluster.

    :param config: variables not resolved. It may hold secrets in plain text.
    :param kind: `source`, `sink` or `unknown`.
    :param state: RUNNING, PAUSED, STOPPED, FAILED, ...; UNKNOWN before its first status.
    :param tasks: the states of its tasks.
    :param trace: first line of what a failed connector or task has reported.
    """

    name: str
    config: Mapping[str, str] = field(repr=False)
    kind: str
    state: str
    tasks: tuple[str, ...] = ()
    trace: str = ""

    @property
    def is_stopped(self) -> bool:
        """Whether it is stopped and its tasks are gone."""
        return self.state == STOPPED and not self.tasks


class ConnectCluster:
    """A live Connect cluster. Use it as a context manager.

    :raises ConfigError: see `RestClient`.
    """

    def __init__(self, access: Access, *, patience_s: float = 60.0) -> None:
        self._http = RestClient(access, patience_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def facts(self) -> ClusterFacts:
        """Version and Kafka cluster. :raises ServerError: something else than Connect answers."""
        try:
            answer = self._http.call("GET", "/")
        except NotFoundError:
            raise not_connect(self._http.url, "it has no path /") from None
        if not isinstance(answer, dict) or "kafka_cluster_id" not in answer:
            raise not_connect(self._http.url, "its answer to GET / has no `kafka_cluster_id`")
        return ClusterFacts(self._http.url, str(answer.get("version", "")), str(answer["kafka_cluster_id"]))

    def connectors(self) -> dict[str, ConnectorThere]:
        """All connectors by name, sorted."""
        answer = self._http.call("GET", "/connectors", expand=["info", "status"])
        if not isinstance(answer, dict):
            raise not_connect(self._http.url, "it lists no connectors with `expand`, which Connect does since 2.3")
        return {name: _connector(name, answer[name]) for name in sorted(answer)}

    def connector(self, name: str) -> ConnectorThere:
        """One connector. :raises NotFoundError: there is none of that name."""
        info = self._http.call("GET", _path(name))
        try:
            status = self._http.call("GET", f"{_path(name)}/status")
        except NotFoundError:  # its first status has not been written yet
            status = {}
        return _connector(name, {"info": info, "status": status})

    def plugins(self) -> list[str]:
        """Full class names of the connectors that are installed there."""
        return [str(plugin["class"]) for plugin in self._http.call("GET", "/connector-plugins")]

    def offsets(self, name: str) -> list[dict[str, Any]]:
        """The committed offsets: `[{"partition": {...}, "offset": {...}}]`.

        :raises DataError: this version cannot tell: it is older than 3.5.
        """
        try:
            return list(self._http.call("GET", f"{_path(name)}/offsets")["offsets"])
        except NotFoundError as error:
            text = f"connector {name}: Connect shows no offsets ({error}); it does since Kafka 3.5 (KIP-875)"
            raise DataError(text) from None

    def alter_offsets(self, name: str, offsets: Sequence[Mapping[str, Any]]) -> str:
        """Replace committed offsets of a stopped connector; returns Connect's message (since 3.6)."""
        answer = self._http.call("PATCH", f"{_path(name)}/offsets", {"offsets": list(offsets)})
        return str(answer["message"])

    def create_stopped(self, name: str, config: Mapping[str, Any]) -> None:
        """Create a connector that does not start (KIP-980, since 3.7; older versions refuse the request)."""
        body = {"name": name, "config": {**config, "name": name}, "initial_state": STOPPED}
        self._http.call("POST", "/connectors", body)

    def stop(self, name: str, *, timeout_s: float = 120.0) -> None:
        """Stop a connector (since 3.5) and wait until it has no tasks. It is not an error if it is stopped.

        :raises RetriableError: not within that time: its tasks do not end.
        """
        try:
            self._http.call("PUT", f"{_path(name)}/stop")
        except NotFoundError as error:
            text = f"connector {name} cannot be stopped in Connect ({error}); `stop` exists since Kafka 3.5 (KIP-875)"
            raise DataError(text) from None
        deadline_s = time.monotonic() + timeout_s
        while not (connector := self.connector(name)).is_stopped:
            if time.monotonic() > deadline_s:
                tasks = f" with {counted(len(connector.tasks), 'task')}" if connector.tasks else ""
                text = (
                    f"connector {name} is still {connector.state}{tasks} in Connect {timeout_s:.0f} s after it was told"
                )
                raise RetriableError(f"{text} to stop. Run the command again, or restart the worker of its tasks")
            time.sleep(_PAUSE_S)

    def resume(self, name: str, *, timeout_s: float = 60.0) -> ConnectorThere:
        """Resume a connector and wait until it is no longer stopped; returns its state then.

        :raises RetriableError: it is still stopped after that time.
        """
        self._http.call("PUT", f"{_path(name)}/resume")
        deadline_s = time.monotonic() + timeout_s
        while True:
            connector = self.connector(name)
            if connector.state == "FAILED" or (connector.state == "RUNNING" and connector.tasks):
                return connector
            if time.monotonic() > deadline_s:
                if connector.state == STOPPED:
                    raise RetriableError(f"connector {name} is still STOPPED {timeout_s:.0f} s after it was resumed")
                return connector
            time.sleep(_PAUSE_S)


def _path(name: str) -> str:
    return f"/connectors/{quote(name, safe='')}"


def _connector(name: str, answer: Mapping[str, Any]) -> ConnectorThere:
    info, status = answer.get("info") or {}, answer.get("status") or {}
    connector, tasks = status.get("connector") or {}, status.get("tasks") or []
    traces = [part.get("trace") for part in (connector, *tasks) if part.get("state") == "FAILED"]
    return ConnectorThere(
        name,
        {key: str(value) for key, value in (info.get("config") or {}).items() if value is not None},
        str(info.get("type") or status.get("type") or "unknown"),
        str(connector.get("state") or "UNKNOWN"),
        tuple(str(task.get("state")) for task in tasks),
        first_line(traces[0]) if traces and traces[0] else "",
    )
