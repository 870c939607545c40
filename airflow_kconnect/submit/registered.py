"""Connectors that are registered in the config topic of a worker, as Connect's REST API and `kconnect apply` do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.worker_config.keys import WorkerConfig

if TYPE_CHECKING:
    from airflow_kconnect.stores.config_topic.state import ClusterConfig


@dataclass(frozen=True)
class RegisteredConnector:
    """Names a connector that is registered; a task reads its configuration when it runs.

    Unlike a plain name it is never a template, and never taken for the path of a file.

    :param file: the task reads the configuration from here instead; absolute, or relative to the DAG file.
    """

    name: str
    file: str | None = None

    def __str__(self) -> str:
        return f"registered connector {self.name}"

    def serialize(self) -> dict[str, str]:
        """What Airflow stores and shows of it."""
        return {"name": self.name, "from": self.file or "config.storage.topic"}


Connector = Mapping[str, Any] | str | Path | RegisteredConnector
"""How connectors are given: Connect's JSON as a dict or a text, the path of a file, or a registered one."""


def read_registered(worker: Mapping[str, Any], timeout_s: float = 20.0) -> ClusterConfig:
    """What the worker's config topic says; nothing if there is no topic.

    :param worker: worker keys, variables resolved.
    :param timeout_s: how long to wait for an unreachable broker, and for a read that makes no progress.
    :raises ConfigError: reading the topic is not permitted. :raises RetriableError: the broker is unavailable.
    """
    from airflow_kconnect.kafka.admin import KafkaAdmin
    from airflow_kconnect.kafka.clients import ClientConfigs
    from airflow_kconnect.kafka.log_reader import LogReader
    from airflow_kconnect.stores.config_topic.state import ConfigTopicState

    known = WorkerConfig.from_props(worker)
    clients = ClientConfigs(known.props)
    KafkaAdmin(clients.admin(), timeout_s).check_reachable()
    reader = LogReader(clients, known.config_topic, ConfigTopicState, f"{known.group_id}-configs")
    reader.read_to_end(timeout_s, committed=True)
    return reader.look(ConfigTopicState.snapshot)


def registered_config(
    name: str, worker: Mapping[str, Any], timeout_s: float = 20.0, *, cluster: ClusterConfig | None = None
) -> dict[str, str]:
    """The configuration of a registered connector, with its `name` in it; variables not resolved.

    :param worker: worker keys, variables resolved. :param timeout_s: as for `read_registered`.
    :param cluster: what that has read before.
    :raises ConfigError: there is no such connector. :raises DataError: its record cannot be read.
    :raises RetriableError: the broker is unavailable.
    """
    cluster = cluster or read_registered(worker, timeout_s)
    registered = cluster.connector(name)
    if registered is None:
        similar = get_close_matches(name, cluster.connectors, n=1)
        hint = f"; did you mean `{similar[0]}`?" if similar else ""
        topic = WorkerConfig.from_props(worker).config_topic
        text = f"there is no connector `{name}` in topic {topic}, nor a file of this name{hint}"
        raise ConfigError({"connector": [text]})
    return {**registered.texts, "name": name}
