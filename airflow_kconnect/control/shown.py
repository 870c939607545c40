"""Connectors as Connect's REST API shows them: secrets hidden, with the kind of their classes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from airflow_kconnect.control import answers
from airflow_kconnect.control.kinds import UNKNOWN, kind
from airflow_kconnect.control.stores import ControlStores
from airflow_kconnect.stores.config_topic.state import ConnectorState
from airflow_kconnect.stores.status_topic.state import ConnectorStatus
from airflow_kconnect.validation.hidden import shown_as_known


class Shown:
    """Answers about the connectors in some stores; makes no request once the topics have been read.

    :param status: the status of a connector by its name.
    """

    def __init__(self, stores: ControlStores, status: Callable[[str], ConnectorStatus]) -> None:
        self._stores, self._status = stores, status

    def info(self, state: ConnectorState) -> dict[str, Any]:
        """Connect's `ConnectorInfo`."""
        return answers.connector_info(state.name, shown(state.texts), self.task_ids(state.name), self._kind(state))

    def parts(self, state: ConnectorState, parts: set[str]) -> dict[str, Any]:
        """Its `status` and `info`, if they are among the parts."""
        answer: dict[str, Any] = {}
        if "status" in parts:
            status = self._status(state.name)
            if status.status is not None:
                answer["status"] = answers.connector_state(state.name, status, self._kind(state))
        if "info" in parts:
            answer["info"] = self.info(state)
        return answer

    def task_ids(self, name: str) -> list[int]:
        """The tasks that have a status, sorted."""
        return sorted(self._status(name).tasks)

    def kind_of(self, name: str) -> str:
        """`source`, `sink`, or `unknown` if it is not registered or its class is not known."""
        state = self._stores.config(name)
        return UNKNOWN if state is None else self._kind(state)

    def _kind(self, state: ConnectorState) -> str:
        return kind(state.texts, self._stores.worker)


def shown(config: Mapping[str, str]) -> dict[str, str]:
    """A configuration with its secrets `[hidden]`."""
    return shown_as_known(config)
