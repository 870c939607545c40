"""Registered connectors over Connect's REST API: kconnect's own, or that of a Connect cluster."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

from airflow_kconnect.cli.connectors.api import Answer
from airflow_kconnect.connect.errors import ConfigError, first_line
from airflow_kconnect.control import secrets
from airflow_kconnect.control.errors import NotFoundError
from airflow_kconnect.kafka.connector_keys import kafka_keys
from airflow_kconnect.remote.client import RestClient
from airflow_kconnect.remote.errors import ServerError
from airflow_kconnect.submit.operations import PAUSED, STARTED, STOPPED, connector_name, is_name
from airflow_kconnect.submit.preflight import connector_config
from airflow_kconnect.validation.inspection import CONNECTOR_CLASS

_VERBS = {STARTED: "resume", PAUSED: "pause", STOPPED: "stop"}
_INITIAL = {STARTED: "RUNNING", PAUSED: "PAUSED", STOPPED: "STOPPED"}
_TARGETS = {PAUSED, STOPPED}
_NO_LAG = "knows no lag, which only Kafka does: name the brokers with --bootstrap-servers or --worker"


class OverRest:
    """See `Connectors`."""

    def __init__(self, client: RestClient) -> None:
        self._client = client

    @property
    def target(self) -> str:
        return self._client.url

    def expanded(self) -> dict[str, Answer]:
        return dict(self._client.call("GET", "/connectors", expand=["info", "status"]))

    def rows(self) -> list[Answer]:
        try:
            return list(self._client.call("GET", "/v1/connectors")["connectors"])
        except NotFoundError:  # a Connect cluster
            return [_cluster_row(name, parts) for name, parts in sorted(self.expanded().items())]

    def runs(self, name: str) -> list[Answer]:
        try:
            return list(self._client.call("GET", f"/v1{_path(name)}")["history"])
        except NotFoundError:
            self.info(name)
            raise ConfigError({"--server": [f"{self.target} is a Connect cluster, which has no runs"]}) from None

    def info(self, name: str) -> Answer:
        return dict(self._client.call("GET", _path(name)))

    def config(self, connector: str) -> dict[str, Any]:
        return self.info(connector)["config"] if is_name(connector) else connector_config(connector)

    def in_kafka(self, connector: str, *also: str) -> dict[str, Any]:
        return kafka_keys(self.config(connector), also)

    def status(self, name: str) -> Answer:
        return dict(self._client.call("GET", _path(name, "status")))

    def tasks(self, name: str) -> list[Answer]:
        return list(self._client.call("GET", _path(name, "tasks")))

    def topics(self, name: str) -> list[str]:
        return sorted(self._client.call("GET", _path(name, "topics"))[name]["topics"])

    def reset_topics(self, name: str) -> None:
        self._client.call("PUT", _path(name, "topics/reset"))

    def create(self, name: str, config: Mapping[str, Any], initial: str | None) -> Answer:
        _check_hidden(config)
        body: Answer = {"name": name, "config": dict(config)}
        if initial is not None:
            body["initial_state"] = _INITIAL[initial]
        return dict(self._client.call("POST", "/connectors", body))

    def put_config(self, name: str, config: Mapping[str, Any]) -> tuple[bool, Answer]:
        known = self._registered(name)
        complete = dict(config)
        if secrets.HIDDEN in config.values():
            # A Connect cluster would take the word for the secret; our own servers restore it themselves.
            complete = secrets.restored(config, known or {})
            _check_hidden({key: value for key, value in complete.items() if key not in (known or {})})
        return known is None, dict(self._client.call("PUT", _path(name, "config"), complete))

    def patch_config(self, name: str, patch: Mapping[str, str | None]) -> Answer:
        try:
            return dict(self._client.call("PATCH", _path(name, "config"), dict(patch)))
        except ServerError as error:
            if error.status != HTTPStatus.METHOD_NOT_ALLOWED:
                raise
        # Connect before 3.8.
        known = self._client.call("GET", _path(name, "config"))
        merged = {key: value for key, value in {**known, **patch}.items() if value is not None}
        return dict(self._client.call("PUT", _path(name, "config"), merged))

    def delete(self, name: str) -> None:
        self._client.call("DELETE", _path(name))

    def set_target_state(self, connector: str, state: str, *, force: bool = False) -> None:
        self._client.call("PUT", _path(connector_name(connector), _VERBS[state]))

    def restart(self, name: str, *, include_tasks: bool, only_failed: bool) -> Answer | None:
        asked = {"includeTasks": str(include_tasks).lower(), "onlyFailed": str(only_failed).lower()}
        answer: Answer | None = self._client.call("POST", _path(name, "restart"), **asked)
        return answer

    def offsets(self, connector: str) -> list[Answer]:
        return list(self._client.call("GET", _path(connector_name(connector), "offsets"))["offsets"])

    def alter_offsets(self, connector: str, request: Any) -> str:
        body = {"offsets": request} if isinstance(request, list) else request
        return str(self._client.call("PATCH", _path(connector_name(connector), "offsets"), body)["message"])

    def reset_offsets(self, connector: str) -> str:
        return str(self._client.call("DELETE", _path(connector_name(connector), "offsets"))["message"])

    def overview(self, connectors: list[str] | None) -> list[Answer]:
        known = self.expanded()
        names = sorted(known) if connectors is None else [connector_name(each) for each in connectors]
        unknown = [name for name in names if name not in known]
        if unknown:
            raise NotFoundError(f"Connector {unknown[0]} not found at {self.target}")
        return [self._overview(name, known[name]) for name in names]

    def lag(self, connector: str) -> Answer:
        raise ConfigError({"--server": [_NO_LAG]})

    def lags(self) -> list[Answer]:
        raise ConfigError({"--server": [_NO_LAG]})

    def previewed(self, connector: str, wanted: Mapping[str, Any]) -> Answer:
        """Of servers of this package; a Connect cluster has no previews."""
        config = {} if is_name(connector) else {"config": connector_config(connector)}
        name = connector_name(config["config"] if config else connector)
        return dict(self._client.call("POST", f"/v1{_path(name, 'preview')}", {**wanted, **config}))

    def close(self) -> None:
        self._client.close()

    def _overview(self, name: str, parts: Answer) -> Answer:
        status = parts.get("status")
        state = status["connector"]["state"] if status else ""
        return {
            "name": name,
            "state": state if state in _TARGETS else STARTED,
            "kind": (parts.get("info") or status or {}).get("type"),
            "offsets": self._offsets_or_none(name),
            "lag": None,
            "status": status,
        }

    def _offsets_or_none(self, name: str) -> list[Answer] | None:
        """None where they cannot be had: from Connect before 3.5, or of a connector that is wrong."""
        try:
            return self.offsets(name)
        except (ServerError, NotFoundError):
            return None

    def _registered(self, name: str) -> dict[str, str] | None:
        try:
            return dict(self._client.call("GET", _path(name, "config")))
        except NotFoundError:
            return None


def _cluster_row(name: str, parts: Answer) -> Answer:
    info, status = parts.get("info") or {}, parts.get("status") or {"connector": {}, "tasks": []}
    failed = [task for task in status["tasks"] if task["state"] == "FAILED"]
    traces = [each.get("trace") for each in (status["connector"], *failed)]
    return {
        "name": name,
        "type": info.get("type", "unknown"),
        "class": info.get("config", {}).get(CONNECTOR_CLASS),
        "registered": True,
        "state": status["connector"].get("state", "UNASSIGNED"),
        "run_state": None,
        "tasks": len(status["tasks"]),
        "failed_tasks": len(failed),
        "cause": next((first_line(trace) for trace in traces if trace), None),
    }


def _path(name: str, of: str = "") -> str:
    return f"/connectors/{quote(name, safe='')}" + (f"/{of}" if of else "")


def _check_hidden(config: Mapping[str, Any]) -> None:
    errors = secrets.still_hidden(config)
    if errors:
        raise ConfigError(errors, str(config.get("name")) if config.get("name") else None)
