"""Worker keys from connections of type `kafka`, as defined by apache-airflow-providers-apache-kafka.

Such a connection's extra is a configuration of librdkafka, the C client: `bootstrap.servers`, `security.protocol`,
`sasl.username`, ... Settings for reaching the brokers become worker keys. Settings for a single consumer or producer
(`group.id`, `auto.offset.reset`, ...) have another meaning for a Connect worker and are left out. Host and port can
replace `bootstrap.servers`, login and password `sasl.username` and `sasl.password`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.masking import register_secrets
from airflow_kconnect.worker_config.client_keys import SHARED_PREFIXES
from airflow_kconnect.worker_config.oauth_keys import OWN, PREFIX, PROVIDER

if TYPE_CHECKING:
    from airflow.sdk import Connection

_EXAMPLE = '{"bootstrap.servers": "broker:9092"}'

log = logging.getLogger(__name__)


def kafka_worker_keys(connection: Connection) -> dict[str, str]:
    """Worker keys from a connection of type `kafka`; its secrets are registered with Airflow's masker.

    :raises ConfigError: the connection does not say how to reach Kafka, or in a way that Spark cannot use.
    """
    extra = extra_of(connection)
    register_secrets(extra)
    if "oauth_cb" in extra:
        raise wrong(
            connection.conn_id,
            "extra has `oauth_cb`, a Python function, which Spark's processes cannot call; "
            f"use `{PROVIDER}` ({', '.join(OWN)}), `sasl.oauthbearer.*` settings, or another SASL mechanism",
        )
    shared = {key: text_of(value) for key, value in extra.items() if key.startswith((*SHARED_PREFIXES, PREFIX))}
    if ignored := sorted(set(extra) - set(shared) - {"bootstrap.servers", "metadata.broker.list"}):
        log.debug("Keys without meaning for a worker in connection %s: %s", connection.conn_id, ignored)
    servers = extra.get("bootstrap.servers") or extra.get("metadata.broker.list")
    return {"bootstrap.servers": servers_of(connection, servers), **login_of(connection), **shared}


def extra_of(connection: Connection) -> dict[str, Any]:
    """The extra of a connection.

    :raises ConfigError: it is not a JSON object; the text of an extra, which may contain secrets, is not quoted.
    """
    try:
        extra = json.loads(connection.extra or "{}")
    except ValueError as error:
        what = f"has an extra that is not JSON: {_position(error)}; expected {_EXAMPLE}"
        raise wrong(connection.conn_id, what) from None
    if not isinstance(extra, dict):
        raise wrong(connection.conn_id, f"has an extra that is not a JSON object; expected {_EXAMPLE}")
    return extra


def servers_of(connection: Connection, servers: Any) -> str:
    """`bootstrap.servers`: those in the extra, else host and port.

    :raises ConfigError: there are none.
    """
    if servers:
        return ",".join(map(str, servers)) if isinstance(servers, list) else str(servers)
    if connection.host:
        return f"{connection.host}:{connection.port}" if connection.port else connection.host
    what = f"names no brokers: set its host, or `bootstrap.servers` in its extra, for example {_EXAMPLE}"
    raise wrong(connection.conn_id, what)


def login_of(connection: Connection) -> Mapping[str, str]:
    """Login and password as SASL keys, if there is a login."""
    if not connection.login:
        return {}
    password = connection.password or ""
    register_secrets({"sasl.password": password})
    return {"sasl.username": connection.login, "sasl.password": password}


def text_of(value: Any) -> str:
    """A JSON value as text in Kafka's configuration format."""
    if isinstance(value, list):
        return ",".join(map(text_of, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def wrong(conn_id: str, what: str) -> ConfigError:
    """An error about a connection."""
    return ConfigError({"kafka_conn_id": [f"Kafka connection `{conn_id}` {what}"]})


def _position(error: ValueError) -> str:
    """The parser's message without the text that it quotes."""
    return f"{error.msg} at character {error.pos}" if isinstance(error, json.JSONDecodeError) else "malformed"
