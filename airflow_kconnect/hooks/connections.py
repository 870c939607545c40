"""Worker keys from the Airflow connection that says how runs reach Kafka, and the form for its type `kconnect`.

Type `kconnect` has a form: host (`bootstrap.servers`), login and password (SASL), and the fields of `FIELDS`.
Everything else in its extra is used unchanged as worker keys (`producer.compression.type`, ...), which override fields.
For type `kafka` see `airflow_kconnect.hooks.kafka`; type `generic` is read in the same way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from airflow.providers.common.compat.sdk import AirflowNotFoundException
from airflow.sdk import BaseHook

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.kafka import extra_of, kafka_worker_keys, login_of, servers_of, text_of, wrong
from airflow_kconnect.hooks.masking import register_secrets
from airflow_kconnect.worker_config.oauth_keys import PROVIDER

if TYPE_CHECKING:
    from airflow.sdk import Connection

_STATUS_TOPIC = "status.storage.topic"
# The form's fields and the worker keys that they set. Airflow hides values by the names of fields: those for secrets
# contain `password` or `private_key`, unlike Kafka's own `ssl.keystore.key`.
_FIELDS = {
    "group_id": "group.id",
    "security_protocol": "security.protocol",
    "sasl_mechanism": "sasl.mechanism",
    "oauth_provider": PROVIDER,
    "ssl_key_password": "ssl.key.password",
    "offset_storage_topic": "offset.storage.topic",
    "config_storage_topic": "config.storage.topic",
    "status_storage_topic": _STATUS_TOPIC,
}
# Fields with a path or with PEM text: the keys for each of the two.
_PEM_FIELDS = {
    "ssl_ca": ("ssl.ca.location", "ssl.truststore.certificates"),
    "ssl_certificate": ("ssl.certificate.location", "ssl.keystore.certificate.chain"),
    "ssl_private_key": ("ssl.key.location", "ssl.keystore.key"),
}
_REGISTRY_FIELDS = ("schema_registry_url", "schema_registry_username", "schema_registry_password")
FIELDS = (*_FIELDS, *_PEM_FIELDS, *_REGISTRY_FIELDS)
"""Names of the form's fields, besides Airflow's own: host, login, password."""


_PEM = re.compile(r"(-----BEGIN [A-Z0-9 ]+-----)(.*?)(-----END [A-Z0-9 ]+-----)", re.DOTALL)


def connection_worker_keys(conn_id: str) -> dict[str, str]:
    """Worker keys from a connection; its secrets are registered with Airflow's masker. Makes no connection to a broker.

    :raises ConfigError: there is no such connection, or it does not say how to reach Kafka.
    """
    try:
        connection = BaseHook.get_connection(conn_id)
    except AirflowNotFoundException:
        raise wrong(
            conn_id,
            "does not exist. Create it: airflow connections add "
            f"{conn_id} --conn-type kconnect --conn-host broker:9092",
        ) from None
    if connection.conn_type not in _READERS:
        raise wrong(conn_id, f"has type `{connection.conn_type}`, expected `kconnect` or `kafka`")
    return _READERS[connection.conn_type](connection)


def kconnect_worker_keys(connection: Connection) -> dict[str, str]:
    """Worker keys from a connection of type `kconnect`; its secrets are registered with Airflow's masker.

    :raises ConfigError: it names no brokers, has a login that would not be used, or an extra that is not flat.
    """
    given = extra_of(connection)
    extra = {key: value for key, value in given.items() if value not in (None, "")}
    register_secrets(extra)
    if nested := sorted(key for key, value in extra.items() if isinstance(value, dict)):
        raise wrong(connection.conn_id, f"has keys in its extra that are not texts: {', '.join(nested)}")
    fields = {key: text_of(extra.pop(key)) for key in FIELDS if key in extra}
    keys = {
        "bootstrap.servers": servers_of(connection, extra.pop("bootstrap.servers", None)),
        **login_of(connection),
        **{_FIELDS[name]: value for name, value in fields.items() if name in _FIELDS},
        **_ssl(fields),
        **_registry(connection, fields),
        **{key: text_of(value) for key, value in extra.items()},
    }
    if given.get(_STATUS_TOPIC) == "":  # an empty field of the form says nothing; the key itself switches statuses off
        keys[_STATUS_TOPIC] = ""
    _refuse_unused_login(connection, keys)
    return keys


def _refuse_unused_login(connection: Connection, keys: Mapping[str, str]) -> None:
    """The client would connect without the login, and a broker without authentication would accept that."""
    if not connection.login:
        return
    protocol = keys.get("security.protocol", "PLAINTEXT")
    if not protocol.upper().startswith("SASL_"):
        what = f"has a login, which security protocol {protocol} does not use; choose SASL_SSL, or remove the login"
        raise wrong(connection.conn_id, what)
    if "sasl.mechanism" not in keys:
        raise wrong(connection.conn_id, "has a login and no SASL mechanism; choose one, such as SCRAM-SHA-512")


def _ssl(fields: Mapping[str, str]) -> dict[str, str]:
    keys: dict[str, str] = {}
    for name, (for_path, for_text) in _PEM_FIELDS.items():
        if name in fields:
            is_text = "-----BEGIN" in fields[name]
            keys[for_text if is_text else for_path] = _lines(fields[name]) if is_text else fields[name].strip()
    if private_key := keys.get("ssl.keystore.key"):
        # With its line breaks restored it differs from the text that was registered.
        register_secrets({"ssl_private_key": private_key})
    return keys


def _registry(connection: Connection, fields: Mapping[str, str]) -> dict[str, str]:
    """Keys of the worker's converters, for connectors that name no converter of their own.

    :raises ConfigError: a login without the URL, or a part of a login.
    """
    url, user, password = (fields.get(name) for name in _REGISTRY_FIELDS)
    if bool(user) != bool(password) or (user and not url):
        what = "has a part of what a schema registry needs: set schema_registry_url, and user and password both or none"
        raise wrong(connection.conn_id, what)
    keys = {"schema.registry.url": url} if url else {}
    if user:
        keys |= {"basic.auth.credentials.source": "USER_INFO", "basic.auth.user.info": f"{user}:{password}"}
    return {f"{role}.converter.{key}": value for role in ("key", "value") for key, value in keys.items()}


def _lines(pem: str) -> str:
    r"""PEM with its line breaks, which a password field removes and an environment variable may write as `\n`."""

    def block(match: re.Match[str]) -> str:
        begin, body, end = match.groups()
        if ":" in body:  # headers of an old encrypted key, whose lines matter
            return match[0]
        base64 = re.sub(r"\\n|\\r|\s", "", body)
        lines = (base64[at : at + 64] for at in range(0, len(base64), 64))
        return "\n".join((begin, *lines, end))

    return "\n".join(block(match) for match in _PEM.finditer(pem)) + "\n"


def _generic_worker_keys(connection: Connection) -> dict[str, str]:
    """Airflow's command line stores type `generic` for `--conn-type kafka` where the Kafka provider is not installed.

    :raises ConfigError: it does not say how to reach Kafka.
    """
    try:
        return kafka_worker_keys(connection)
    except ConfigError as error:
        (problem,) = error.errors["kafka_conn_id"]
        cure = (
            "It has type `generic`, which `airflow connections add --conn-type kafka` stores where the Kafka provider "
            "is not installed; use `--conn-type kconnect`"
        )
        raise ConfigError({"kafka_conn_id": [f"{problem}. {cure}"]}) from None


_READERS: dict[Any, Callable[[Connection], dict[str, str]]] = {
    "kconnect": kconnect_worker_keys,
    "kafka": kafka_worker_keys,
    "generic": _generic_worker_keys,
}
