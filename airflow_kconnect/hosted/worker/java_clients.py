"""Settings of Kafka clients for Java: those of librdkafka, the C client, get the names and forms that Java knows.

A worker has one set of settings for its brokers, in Java's names or in librdkafka's (connections of Airflow have the
latter). Kafka Connect wants them once for itself and again for the clients of connectors, below a prefix each.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hosted.worker.run_tokens import login_keys
from airflow_kconnect.worker_config.client_keys import CLIENTS, SHARED_PREFIXES, worker_client_keys
from airflow_kconnect.worker_config.oauth_keys import OAUTHBEARER, mechanism_of

_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}
_LOGIN = ("sasl.username", "sasl.password")
_RENAMED = {"sasl.mechanisms": "sasl.mechanism"}
# Texts in PEM, or files with them: librdkafka's names, Java's name of the text, and of what says that it is PEM.
_PEM = {
    "ssl.ca.pem": ("ssl.truststore.certificates", "ssl.truststore.type"),
    "ssl.certificate.pem": ("ssl.keystore.certificate.chain", "ssl.keystore.type"),
    "ssl.key.pem": ("ssl.keystore.key", "ssl.keystore.type"),
}
_PEM_FILES = {
    "ssl.ca.location": "ssl.ca.pem",
    "ssl.certificate.location": "ssl.certificate.pem",
    "ssl.key.location": "ssl.key.pem",
}
_NOT_IN_JAVA = (
    *("sasl.oauthbearer.method", "sasl.oauthbearer.client.", "sasl.oauthbearer.config", "sasl.kerberos.principal"),
    *("sasl.kerberos.keytab", "enable.ssl.certificate.verification", "ssl.ca.certificate.stores", "ssl.crl.location"),
)


def java_client_keys(worker: Mapping[str, str]) -> dict[str, str]:
    """How Java reaches the brokers: keys of the worker itself, and again below `producer.`, `consumer.` and `admin.`.

    :param worker: its keys, variables resolved.
    :raises ConfigError: with each key that Java has nothing for, or whose file cannot be read.
    """
    result: dict[str, str] = {}
    errors: dict[str, list[str]] = {}
    login = login_keys(worker)
    own = {key: text for key, text in worker.items() if key.startswith(SHARED_PREFIXES)}
    for prefix, keys in [("", own), *((f"{client}.", _reaching(worker, client)) for client in CLIENTS)]:
        translated, problems = _translated(keys)
        has_tokens = mechanism_of(translated) == OAUTHBEARER
        tokens = {key: text for key, text in login.items() if has_tokens or key == "security.protocol"}
        result |= {f"{prefix}{key}": text for key, text in (tokens | translated).items()}
        # What is wrong for all clients is said once.
        errors |= {f"{prefix}{key}" if f"{prefix}{key}" in worker else key: [why] for key, why in problems.items()}
    if errors:
        raise ConfigError(errors)
    return result


def is_librdkafkas(key: str) -> bool:
    """Whether a key, with or without the prefix of a client, is replaced by `java_client_keys`."""
    name = next((key.removeprefix(f"{client}.") for client in CLIENTS if key.startswith(f"{client}.")), key)
    return name in (*_LOGIN, *_RENAMED, *_PEM, *_PEM_FILES)


def _reaching(worker: Mapping[str, str], client: str) -> dict[str, str]:
    return {key: text for key, text in worker_client_keys(worker, client).items() if key.startswith(SHARED_PREFIXES)}


def _translated(keys: Mapping[str, str]) -> tuple[dict[str, str], dict[str, str]]:
    """Java's keys, and what is wrong by key."""
    problems = {
        key: "is a setting of librdkafka that Java's clients do not have: a Java connector needs Java's"
        for key in keys
        if key.startswith(_NOT_IN_JAVA)
    }
    result: dict[str, str] = {}
    for key, text in keys.items():
        if key in _PEM_FILES:
            try:
                result |= _pem(_PEM_FILES[key], Path(text).read_text(encoding="utf-8"))
            except (OSError, UnicodeDecodeError) as error:
                problems[key] = f"{text} cannot be read: {getattr(error, 'strerror', None) or 'it is not PEM'}"
        elif key in _PEM:
            result |= _pem(key, text)
        elif key == "ssl.endpoint.identification.algorithm":
            result[key] = "" if text.lower() == "none" else text
        elif key not in _LOGIN and key not in problems:
            result[_RENAMED.get(key, key)] = text
    if "sasl.username" in keys and "sasl.jaas.config" not in keys:
        mechanism = result.get("sasl.mechanism", "")
        if mechanism in _MODULES:
            result["sasl.jaas.config"] = _jaas(_MODULES[mechanism], keys)
        else:
            known = ", ".join(_MODULES)
            problems["sasl.mechanism"] = (
                f"is {mechanism or 'not set'}; with user and password it must be one of {known}"
            )
    return result, problems


def _pem(key: str, text: str) -> dict[str, str]:
    name, kind = _PEM[key]
    return {name: text, kind: "PEM"}


def _jaas(module: str, keys: Mapping[str, str]) -> str:
    user, password = (_quoted(keys.get(key, "")) for key in _LOGIN)
    return f"{module} required username={user} password={password};"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
