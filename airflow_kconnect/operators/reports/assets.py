"""Topics as Airflow assets: what they are called, and which of them a sink reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from airflow.sdk import Asset, AssetAlias

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.kafka.sink_topics import named_topics
from airflow_kconnect.operators.reports.moved import kafka_namespace
from airflow_kconnect.plugins.registry import CONNECTORS, registry
from airflow_kconnect.submit.preflight import connector_config
from airflow_kconnect.submit.registered import Connector, RegisteredConnector
from airflow_kconnect.validation.topic_rules import check_topic_name

_UNKNOWN_YET = ("{{", "{%", "${")
"""Prefixes of templates and variables: their values are not known when a DAG is parsed."""


def topic_asset(topic: str, kafka_conn_id: str = "kafka_default") -> Asset:
    """The asset of a topic, for `schedule`, `inlets` and `outlets`.

    Its name and its URI are ``kafka://<connection id>/<topic>``: independent of the brokers' addresses, known without
    looking up the connection, and without secrets.

    :param kafka_conn_id: the connection of the operators; ``host:port`` of a broker for operators without one.
    :raises ValueError: no topic can have this name.
    """
    if problem := check_topic_name(topic):
        raise ValueError(problem)
    return Asset(f"kafka://{quote(kafka_conn_id, safe=':')}/{topic}")


def connector_alias(name: str) -> AssetAlias:
    """The alias for a source connector's events, whichever topics it writes to; for `schedule`.

    :param name: the connector's name; for a connector that is a file or whose name is a template, ``<dag>.<task>``.
    """
    return AssetAlias(f"kconnect/{name}")


def static_config(connector: Connector) -> dict[str, str]:
    """What is known about a connector when a DAG is parsed: nothing from a file, and no values that are yet to be
    rendered.

    A wrong configuration yields nothing either; the task will report what is wrong.
    """
    if isinstance(connector, RegisteredConnector):
        return {"name": connector.name}
    if not isinstance(connector, Mapping):
        return {}
    try:
        config = {key: str(value) for key, value in connector_config(connector).items()}
    except ConfigError:
        return {}
    return {key: text for key, text in config.items() if not any(mark in text for mark in _UNKNOWN_YET)}


def static_kind(connector: Connector) -> str | None:
    """Whether a connector is a source or a sink, if that is known when a DAG is parsed."""
    name = static_config(connector).get("connector.class")
    if name is None or not registry().knows(CONNECTORS, name):
        return None
    return registry().connector(name).kind


def asset_server(kafka_conn_id: str | None, worker_config: Mapping[str, Any] | None) -> str:
    """What identifies the cluster in the names of assets: the connection, or without one the first broker."""
    servers = str((worker_config or {}).get("bootstrap.servers", ""))
    return kafka_conn_id or kafka_namespace(servers).removeprefix("kafka://")


def topic_inlets(config: Mapping[str, str], server: str) -> list[Asset]:
    """The assets for the topics in a sink's configuration; wrong names are left to the validation."""
    return [topic_asset(topic, server) for topic in named_topics(config) if check_topic_name(topic) is None]
