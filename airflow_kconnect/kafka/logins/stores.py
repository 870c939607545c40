"""Certificates and keys in Java's stores, as the texts in PEM that librdkafka wants.

They are read where a client is configured, so the processes of a run need no files.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from airflow_kconnect.credentials.java_stores import JKS, PKCS12, Store
from airflow_kconnect.worker_config.client_keys import store_type


def from_stores(java: Mapping[str, str], prefix: str = "") -> dict[str, str]:
    """librdkafka's keys for the stores of a client that it cannot read itself.

    :param java: keys of a Java client. :param prefix: how they were written, for error texts.
    :raises ConfigError: a store cannot be read, or its type is unknown.
    """
    found: dict[str, str] = {}
    if (trust := _store(java, "truststore", prefix, (JKS, PKCS12))) is not None:
        found["ssl.ca.pem"] = _authorities(trust, _version(trust))
    if (own := _store(java, "keystore", prefix, (JKS,))) is not None:
        found |= _identity(own, java.get("ssl.key.password"), _version(own))
    return found


def _store(java: Mapping[str, str], store: str, prefix: str, types: tuple[str, ...]) -> Store | None:
    kind, keys = store_type(java, store), f"{prefix}ssl.{store}."
    if kind is None or kind not in types:
        return None
    return Store(java[f"ssl.{store}.location"], kind, keys, java.get(f"ssl.{store}.password"))


def _version(store: Store) -> float | None:
    """Of its file. To read a store may take Java, and each client of a run wants it."""
    path = Path(store.location)
    return path.stat().st_mtime if path.is_file() else None


@lru_cache(maxsize=8)
def _authorities(store: Store, version: float | None) -> str:
    store.pem()  # says that it is PEM, if it is
    return store.authorities()


@lru_cache(maxsize=8)
def _identity(store: Store, key_password: str | None, version: float | None) -> Mapping[str, str]:
    store.pem()
    protect = secrets.token_urlsafe()
    key, end, certificates = (
        store.identity(key_password, protect).decode().partition("-----END ENCRYPTED PRIVATE KEY-----\n")
    )
    return {"ssl.key.pem": key + end, "ssl.key.password": protect, "ssl.certificate.pem": certificates}
