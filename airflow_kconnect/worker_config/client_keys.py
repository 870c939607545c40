"""Translates keys of Java's Kafka clients to librdkafka's, and lists the keys that must not be set.

Text to text only: no connections, no file access.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.errors import ConfigError

CLIENTS = ("producer", "consumer", "admin")
"""The kinds of clients, whose keys a worker sets under `producer.`, `consumer.` and `admin.`."""

SHARED_PREFIXES = ("security.", "sasl.", "ssl.")
"""Of keys by which brokers are reached: a worker sets them once for every kind of client."""

_SHARED_KEYS = ("bootstrap.servers", "client.dns.lookup", "request.timeout.ms", "metadata.max.age.ms")

# Java's names for keys that librdkafka names differently.
_RENAMED = {
    "max.request.size": "message.max.bytes",
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "request.timeout.ms": "socket.timeout.ms",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
}
# Keys of Java clients that have no meaning here; they do no harm and are dropped.
_DROPPED = re.compile(
    r"(key|value)\.(de)?serializer|max\.block\.ms|max\.poll\.records|interceptor\.classes|metric.*|metrics\..*"
    r"|partition\.assignment\.strategy|client\.dns\.lookup|partitioner\.class|partitioner\..*\.keys"
    r"|security\.providers|ssl\.provider|ssl\.protocol|ssl\.enabled\.protocols|ssl\.keymanager\.algorithm"
    r"|ssl\.trustmanager\.algorithm|ssl\.secure\.random\.implementation|ssl\.truststore\.type|ssl\.keystore\.type"
    r"|ssl\.truststore\.password|sasl\.login\..*|auto\.include\.jmx\.reporter|exclude\.internal\.topics"
    r"|default\.api\.timeout\.ms|enable\.metrics\.push|metadata\.max\.idle\.ms|compression\.\w+\.level"
    r"|socket\.connection\.setup\.timeout\.max\.ms|partitioner\.(adaptive|availability)\..*"
    r"|sasl\.kerberos\.(ticket\.renew.*|min\.time\.before\.relogin)"
)
# Would load code, run a program, write files, replace a broker by a mock, or are objects of the client's program.
_REFUSED = re.compile(
    r"plugin\.library\.paths|ssl\.providers|ssl[._]engine[._].*|.*callback\.handler\.class|sasl\.login\.class"
    r"|config\.providers.*|sasl\.kerberos\.kinit\.cmd|test\.mock\..*|internal\..*|.*_cb|on_(delivery|commit)|logger"
    r"|opaque|interceptors|default[._]topic[._]conf(ig)?|enabled_events|offset\.store\.(path|method)"
)
# librdkafka inserts them as they are into a command that a shell runs.
_KERBEROS = re.compile(r"sasl\.kerberos\.(principal|keytab|service\.name)")
_KERBEROS_VALUE = re.compile(r"[\w./@][\w./@-]*")
_JAAS = re.compile(r"\s*(?P<module>[\w.$]+)\s+(?:required|requisite|sufficient|optional)\s*(?P<options>.*?);?\s*", re.S)
_JAAS_OPTION = re.compile(r"""(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s"';]+))""")


def refused(key: str) -> str | None:
    """Why a key of a client must not be set; None if it may be set."""
    if _REFUSED.fullmatch(key):
        return "is refused: it would load code, run a program or break exactly-once; remove it"
    return None


def worker_client_keys(worker: Mapping[str, str], client: str) -> dict[str, str]:
    """A worker's settings for a kind of client: the keys for all clients, overridden by the client's own.

    :param client: one of `CLIENTS`.
    """
    prefix = f"{client}."
    shared = {key: text for key, text in worker.items() if key.startswith(SHARED_PREFIXES) or key in _SHARED_KEYS}
    return shared | {key.removeprefix(prefix): text for key, text in worker.items() if key.startswith(prefix)}


def worker_client_errors(worker: Mapping[str, str]) -> dict[str, list[str]]:
    """Key -> messages for the worker's keys that no client supports."""
    errors: dict[str, list[str]] = {}
    for client in CLIENTS:
        _, problems = translated(worker_client_keys(worker, client))
        for key, messages in problems.items():
            own = f"{client}.{key}"
            errors[own if own in worker else key] = messages
    return errors


def to_librdkafka(java: Mapping[str, str], prefix: str = "") -> dict[str, Any]:
    """Translate a Java client configuration.

    :param prefix: how the keys were written, for error texts.
    :raises ConfigError: for unsupported keys (custom classes), all at once.
    """
    config, errors = translated(java)
    if errors:
        raise ConfigError({f"{prefix}{key}": messages for key, messages in errors.items()})
    return config


def translated(java: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """A Java client configuration as librdkafka's, and key -> messages for what is not supported."""
    errors: dict[str, list[str]] = {}
    config: dict[str, Any] = {}
    for key, value in java.items():
        if (why := refused(key)) is not None:
            errors[key] = [why]
        elif _KERBEROS.fullmatch(key) and not _KERBEROS_VALUE.fullmatch(value):
            errors[key] = [
                "has characters other than letters, digits and `_./@-`; a shell would take them for commands"
            ]
        elif key == "sasl.jaas.config":
            _jaas(value, config, errors)
        elif key in ("ssl.truststore.location", "ssl.keystore.location"):
            _store(key, value, java, config, errors)
        elif key == "buffer.memory":
            if value.isdecimal():
                config["queue.buffering.max.kbytes"] = max(int(value) // 1024, 1)
            else:
                errors[key] = [f"Invalid value {value}: expected a number of bytes"]
        elif key == "ssl.endpoint.identification.algorithm":
            config[key] = value or "none"
        elif not (_DROPPED.fullmatch(key) or _is_of_unread_store(key, java)):
            config[_RENAMED.get(key, key)] = value
    return config, errors


def _jaas(value: str, config: dict[str, Any], errors: dict[str, list[str]]) -> None:
    key = "sasl.jaas.config"
    match = _JAAS.fullmatch(value)
    module = match["module"].rpartition(".")[2] if match else ""
    if not match or module not in ("PlainLoginModule", "ScramLoginModule"):
        errors[key] = [
            "only PlainLoginModule and ScramLoginModule are understood here;"
            " for others a worker can set librdkafka's own `sasl.*` keys (e.g. `sasl.oauthbearer.method`)"
        ]
        return
    options = {name: _unescaped("".join(value)) for name, *value in _JAAS_OPTION.findall(match["options"])}
    missing = [name for name in ("username", "password") if name not in options]
    if missing:
        errors[key] = [f"lacks the option {' and '.join(missing)}"]
        return
    config["sasl.username"] = options["username"]
    config["sasl.password"] = options["password"]


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def store_type(java: Mapping[str, str], store: str) -> str | None:
    """The type of a store of files, in capitals, as Java's default is; None if there is none.

    :param store: `truststore` or `keystore`.
    """
    return java.get(f"ssl.{store}.type", "JKS").upper() if f"ssl.{store}.location" in java else None


def _is_of_unread_store(key: str, java: Mapping[str, str]) -> bool:
    return key == "ssl.keystore.password" and store_type(java, "keystore") != "PKCS12"


def _store(key: str, value: str, java: Mapping[str, str], config: dict[str, Any], errors: dict[str, list[str]]) -> None:
    """Files that librdkafka reads itself; others are read for it when a client is configured."""
    store = key.split(".")[1]
    kind = store_type(java, store)
    if kind == "PEM" and store == "truststore":
        config["ssl.ca.location"] = value
    elif kind == "PEM":
        config["ssl.certificate.location"] = config["ssl.key.location"] = value
    elif kind == "PKCS12" and store == "keystore":
        config[key] = value
    elif kind not in ("JKS", "PKCS12"):
        errors[key] = [f"a {kind} store cannot be read here: convert it to PKCS12, JKS or PEM"]
