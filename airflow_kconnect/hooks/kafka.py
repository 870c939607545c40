"""Turns a Kafka connection of Airflow into the worker keys of a connector run."""

from __future__ import annotations

import json
from typing import Any

from airflow.sdk import BaseHook, Connection
from airflow.sdk.exceptions import AirflowNotFoundException

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.masking import register_secrets

CONN_TYPES = ("kafka",)

_SHARED_PREFIXES = ("security.", "sasl.", "ssl.")
_EXAMPLE = '{"bootstrap.servers": "broker:9092"}'


class KafkaWorkerHook(BaseHook):
    """Reads a connection of type `kafka`, as apache-airflow-providers-apache-kafka defines it.

    Its extra is a configuration of librdkafka, the C client: `bootstrap.servers`, `security.protocol`,
    `sasl.username`, ... What says how to reach the brokers becomes worker keys. What is about one consumer or one
    producer (`group.id`, `auto.offset.reset`, ...) has another meaning for a Connect worker and is left out.
    Host and port stand in for `bootstrap.servers`, login and password for `sasl.username` and `sasl.password`.

    :param kafka_conn_id: the connection.
    """

    conn_name_attr = "kafka_conn_id"
    default_conn_name = "kafka_default"
    conn_type = "kafka"
    hook_name = "Apache Kafka"

    def __init__(self, kafka_conn_id: str = default_conn_name) -> None:
        super().__init__()
        self.kafka_conn_id = kafka_conn_id

    def worker_config(self) -> dict[str, str]:
        """Worker keys of the connection. Called in `execute`; connects to no broker.

        Secrets are registered with Airflow's masker before this returns.

        :raises ConfigError: there is no such connection, or it does not say how to reach Kafka.
        """
        connection = self._connection()
        extra = self._extra(connection)
        register_secrets(extra)
        if "oauth_cb" in extra:
            raise self._wrong(
                "extra has `oauth_cb`, a Python function, which Spark's processes cannot call; "
                "use another SASL mechanism, or `sasl.oauthbearer.*` settings"
            )
        shared = {key: _text(value) for key, value in extra.items() if key.startswith(_SHARED_PREFIXES)}
        if ignored := sorted(set(extra) - set(shared) - {"bootstrap.servers", "metadata.broker.list"}):
            self.log.debug("Keys without meaning for a worker in connection %s: %s", self.kafka_conn_id, ignored)
        return {"bootstrap.servers": self._servers(connection, extra), **self._login(connection), **shared}

    def _connection(self) -> Connection:
        try:
            connection = self.get_connection(self.kafka_conn_id)
        except AirflowNotFoundException:
            raise self._wrong(
                "does not exist. Create it: airflow connections add "
                f"{self.kafka_conn_id} --conn-type kafka --conn-extra '{_EXAMPLE}'"
            ) from None
        if connection.conn_type not in CONN_TYPES:
            raise self._wrong(f"has type `{connection.conn_type}`, expected `{'` or `'.join(CONN_TYPES)}`")
        return connection

    def _extra(self, connection: Connection) -> dict[str, Any]:
        try:
            extra = json.loads(connection.extra or "{}")
        except ValueError as error:
            raise self._wrong(f"has an extra that is not JSON: {_position(error)}; expected {_EXAMPLE}") from None
        if not isinstance(extra, dict):
            raise self._wrong(f"has an extra that is no JSON object; expected {_EXAMPLE}")
        return extra

    def _servers(self, connection: Connection, extra: dict[str, Any]) -> str:
        if named := extra.get("bootstrap.servers") or extra.get("metadata.broker.list"):
            return ",".join(named) if isinstance(named, list) else str(named)
        if connection.host:
            return f"{connection.host}:{connection.port}" if connection.port else connection.host
        raise self._wrong(f"names no brokers: set `bootstrap.servers` in its extra, for example {_EXAMPLE}")

    def _login(self, connection: Connection) -> dict[str, str]:
        if not connection.login:
            return {}
        password = connection.password or ""
        register_secrets({"sasl.password": password})
        return {"sasl.username": connection.login, "sasl.password": password}

    def _wrong(self, what: str) -> ConfigError:
        return ConfigError({"kafka_conn_id": [f"Kafka connection `{self.kafka_conn_id}` {what}"]})


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _position(error: ValueError) -> str:
    """The parser's message without the text that it quotes: an extra holds secrets."""
    return f"{error.msg} at character {error.pos}" if isinstance(error, json.JSONDecodeError) else "malformed"
