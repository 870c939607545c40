"""TLS for requests to a schema registry: keys and certificates of ``schema.registry.ssl.*``."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.config import ConfigDef, Importance, Type, ValidString
from airflow_kconnect.connect.errors import ConfigError, in_one_line
from airflow_kconnect.credentials.java_stores import JKS, PEM, TYPES, Store

if TYPE_CHECKING:
    import ssl

_PREFIX = "schema.registry.ssl."
_KEY_PASSWORD = f"{_PREFIX}key.password"


def encryption_keys(config: ConfigDef) -> None:
    """Add the keys of TLS."""
    for store, what in (("truststore", "certificates of authorities to trust"), ("keystore", "certificate and key")):
        config.define(
            f"{_PREFIX}{store}.location",
            Type.STRING,
            None,
            Importance.MEDIUM,
            f"A file with the {what}, for https.",
        )
        config.define(
            f"{_PREFIX}{store}.type",
            Type.STRING,
            JKS,
            Importance.LOW,
            "The format of that file: JKS, PKCS12 or PEM. JKS needs Java's keytool.",
            validator=ValidString.in_case_insensitive(*TYPES),
        )
        config.define(
            f"{_PREFIX}{store}.password",
            Type.PASSWORD,
            None,
            Importance.MEDIUM,
            "The password of that file; not for PEM.",
        )
    config.define(
        _KEY_PASSWORD,
        Type.PASSWORD,
        None,
        Importance.MEDIUM,
        f"The password of the key in `{_PREFIX}keystore.location`, if it is not that of the file.",
    )


def context(values: Mapping[str, Any], prefix: str) -> ssl.SSLContext:
    """The TLS settings of a registry.

    :param values: parsed values of `registry_config`.
    :param prefix: of the converter's keys in errors, such as ``value.converter.``.
    :raises ConfigError: a store cannot be used.
    """
    made = trusting(_store("truststore", values, prefix))
    if own := _store("keystore", values, prefix):
        key_password = values[_KEY_PASSWORD]
        _show(made, own, key_password.value if key_password else None, prefix + _KEY_PASSWORD)
    return made


def _store(name: str, values: Mapping[str, Any], prefix: str) -> Store | None:
    location, kind, password = (values[f"{_PREFIX}{name}.{part}"] for part in ("location", "type", "password"))
    key = f"{prefix}{_PREFIX}{name}."
    return Store(location, kind.upper(), key, password.value if password else None) if location else None


def trusting(store: Store | None) -> ssl.SSLContext:
    """A context that trusts the authorities of a store; those of the machine without one."""
    import ssl

    if store is None:
        return ssl.create_default_context()
    pem = store.pem()
    try:
        return ssl.create_default_context(cadata=store.authorities() if pem is None else pem.decode("ascii", "replace"))
    except (OSError, ssl.SSLError, ValueError) as error:
        raise store.error("location", f"{store.location}: {in_one_line(error)}") from error


def _show(context: ssl.SSLContext, store: Store, key_password: str | None, key: str) -> None:
    """Use the key and the certificate of a store; they are read from a file, so the key is encrypted there."""
    import ssl

    try:
        if store.pem() is not None:
            context.load_cert_chain(store.location, password=key_password or "")
            return
        protect = secrets.token_urlsafe()
        descriptor, name = tempfile.mkstemp(prefix="kconnect-", suffix=".pem")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(store.identity(key_password, protect))
            context.load_cert_chain(name, password=protect)
        finally:
            Path(name).unlink()
    except (OSError, ssl.SSLError) as error:
        wrong_password = store.type == PEM and key_password is not None
        named = key if wrong_password else f"{store.key}location"
        raise ConfigError({named: [f"{store.location}: {in_one_line(error)}"]}) from error
