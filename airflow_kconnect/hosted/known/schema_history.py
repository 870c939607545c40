"""Debezium's schema history: a topic of some of its connectors, which reaches the brokers as the run's worker does."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.worker_config.client_keys import SHARED_PREFIXES
from airflow_kconnect.worker_config.override_policy import HARMLESS

_PREFIX = "schema.history.internal"
_SERVERS = f"{_PREFIX}.kafka.bootstrap.servers"
_IN_KAFKA = "io.debezium.storage.kafka.history.KafkaSchemaHistory"
# Those of PostgreSQL and MongoDB need no history.
_PACKAGES = ("mysql", "mariadb", "sqlserver", "oracle", "db2", "informix")
_CLIENTS = ("producer", "consumer")


def history_defaults(connector_class: str, props: Mapping[str, str], worker: Mapping[str, str]) -> dict[str, str]:
    """Keys of a connector by which its history reaches the worker's brokers: all of them, or none.

    None of them is given to a connector without such a history, with one elsewhere than in Kafka, or with brokers of
    its own for it.

    :param connector_class: full name.
    :param worker: with Java's names, see `java_client_keys`.
    :raises ConfigError: the connector names no brokers, but says itself how its clients reach some: they would take the
        worker's credentials there.
    """
    package = connector_class.removeprefix("io.debezium.connector.").partition(".")[0]
    elsewhere = props.get(_PREFIX, _IN_KAFKA).strip() != _IN_KAFKA
    if not connector_class.startswith("io.debezium.") or package not in _PACKAGES or elsewhere or _SERVERS in props:
        return {}
    if own := sorted(_reaching(props)):
        text = (
            f"is missing. The connector sets {', '.join(f'`{key}`' for key in own)} itself, so that its schema history "
            "does not get the worker's brokers and login: name the brokers and the whole login, or remove these keys"
        )
        raise ConfigError({_SERVERS: [text]}, props.get("name"))
    found = {_SERVERS: worker["bootstrap.servers"]} if worker.get("bootstrap.servers") else {}
    for client in _CLIENTS:
        shared = tuple(f"{client}.{prefix}" for prefix in SHARED_PREFIXES)
        found |= {f"{_PREFIX}.{key}": text for key, text in worker.items() if key.startswith(shared)}
    return found


def _reaching(props: Mapping[str, str]) -> Iterator[str]:
    """Keys of the history's clients other than sizes and timeouts: any might lead the login elsewhere."""
    for client in _CLIENTS:
        prefix = f"{_PREFIX}.{client}."
        yield from (key for key in props if key.startswith(prefix) and key.removeprefix(prefix) not in HARMLESS)
