"""The configuration keys of converters that reach a schema registry: Confluent's names and defaults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from airflow_kconnect.connect.config import (
    ConfigDef,
    Importance,
    Range,
    Type,
    ValidString,
    invalid,
    nullable,
)
from airflow_kconnect.registry.subjects import NAMES, TOPIC_NAME

USER_INFO, URL = "USER_INFO", "URL"
STATIC_TOKEN = "STATIC_TOKEN"

_CACHED = "all schemas of a run are known while it lasts"
_FILE_TYPES = ("PEM",)


def registry_config(base: ConfigDef) -> ConfigDef:
    """Add the keys of the registry to those of a converter."""
    for part in (_registration, _connection, _authentication, _encryption, _caches):
        part(base)
    return base


def _registration(config: ConfigDef) -> None:
    config.define(
        "auto.register.schemas",
        Type.BOOLEAN,
        True,
        Importance.MEDIUM,
        "Whether schemas are registered when their first record is written; else they must be there already.",
    )
    config.define(
        "normalize.schemas",
        Type.BOOLEAN,
        False,
        Importance.MEDIUM,
        "Whether the registry brings schemas into a normal form before it compares them.",
    )
    config.define(
        "use.latest.version",
        Type.BOOLEAN,
        False,
        Importance.LOW,
        "Whether data are written with the newest schema of the subject; only if `auto.register.schemas` is false.",
    )
    config.define(
        "latest.compatibility.strict",
        Type.BOOLEAN,
        True,
        Importance.LOW,
        "Whether `use.latest.version` requires a newest schema that is compatible with that of the data.",
        without_effect="data that do not fit the newest schema are bad records in any case",
    )
    config.define(
        "use.schema.id",
        Type.INT,
        -1,
        Importance.LOW,
        "The id of the schema with which data are written; only if `auto.register.schemas` is false. -1: not set.",
    )
    for role in ("key", "value"):
        config.define(
            f"{role}.subject.name.strategy",
            Type.STRING,
            TOPIC_NAME,
            Importance.MEDIUM,
            f"How the subject is named under which the schemas of {role}s are registered.",
            validator=ValidString.in_(*NAMES),
        )


def _connection(config: ConfigDef) -> None:
    config.define(
        "schema.registry.url",
        Type.LIST,
        importance=Importance.HIGH,
        documentation="URLs of the registry's instances, separated by commas: http or https.",
        validator=_check_urls,
    )
    config.define(
        "max.retries",
        Type.INT,
        3,
        Importance.LOW,
        "How often a request is repeated if the registry is unavailable.",
        validator=Range.at_least(0),
    )
    config.define(
        "retries.wait.ms",
        Type.INT,
        1000,
        Importance.LOW,
        "Pause before the first repetition, in milliseconds; it doubles with each.",
        validator=Range.at_least(0),
    )
    config.define(
        "retries.max.wait.ms",
        Type.INT,
        20000,
        Importance.LOW,
        "The longest pause between repetitions, in milliseconds.",
        validator=Range.at_least(0),
    )
    for name, what in (("connect", "a connection"), ("read", "an answer")):
        config.define(
            f"http.{name}.timeout.ms",
            Type.INT,
            60000,
            Importance.LOW,
            f"How long to wait for {what} of the registry, in milliseconds.",
            validator=Range.at_least(1),
        )
    config.define("proxy.host", Type.STRING, "", Importance.LOW, "Host of a proxy for requests to the registry.")
    config.define(
        "proxy.port",
        Type.INT,
        -1,
        Importance.LOW,
        "Port of that proxy.",
        validator=Range.between(-1, 65535),
    )


def _authentication(config: ConfigDef) -> None:
    config.define(
        "basic.auth.credentials.source",
        Type.STRING,
        URL,
        Importance.MEDIUM,
        "Where user and password are: in `schema.registry.url` (URL), or in `basic.auth.user.info` (USER_INFO).",
        validator=ValidString.in_(URL, USER_INFO),
    )
    config.define(
        "basic.auth.user.info",
        Type.PASSWORD,
        "",
        Importance.MEDIUM,
        "`user:password`, for `basic.auth.credentials.source=USER_INFO`.",
    )
    config.define(
        "schema.registry.basic.auth.user.info",
        Type.PASSWORD,
        "",
        Importance.MEDIUM,
        "An older name of `basic.auth.user.info`.",
    )
    config.define(
        "bearer.auth.credentials.source",
        Type.STRING,
        STATIC_TOKEN,
        Importance.MEDIUM,
        "Where the bearer token is: in `bearer.auth.token` (STATIC_TOKEN).",
        validator=ValidString.in_(STATIC_TOKEN),
    )
    config.define("bearer.auth.token", Type.PASSWORD, "", Importance.MEDIUM, "The bearer token.")


def _encryption(config: ConfigDef) -> None:
    prefix = "schema.registry.ssl."
    for store, what in (("truststore", "certificates of authorities to trust"), ("keystore", "certificate and key")):
        config.define(
            f"{prefix}{store}.location",
            Type.STRING,
            None,
            Importance.MEDIUM,
            f"A PEM file with the {what}, for https.",
        )
        config.define(
            f"{prefix}{store}.type",
            Type.STRING,
            "PEM",
            Importance.LOW,
            "The format of that file: PEM. Convert other stores with `openssl pkcs12`.",
            validator=nullable(ValidString.in_(*_FILE_TYPES)),
        )
    config.define(
        f"{prefix}key.password",
        Type.PASSWORD,
        None,
        Importance.MEDIUM,
        f"The password of the key in `{prefix}keystore.location`.",
    )


def _caches(config: ConfigDef) -> None:
    for name, default in (("max.schemas.per.subject", 1000), ("latest.cache.size", 1000), ("latest.cache.ttl.sec", -1)):
        config.define(
            name, Type.INT, default, Importance.LOW, "The size of a cache of schemas.", without_effect=_CACHED
        )


def _check_urls(name: str, value: Any) -> None:
    urls: Sequence[str] = value or ()
    if not urls:
        raise invalid(name, value, "At least one URL is needed")
    for url in urls:
        try:
            parts = urlsplit(url)
            usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
        except ValueError:
            usable = False
        if not usable:
            raise invalid(
                name, "...", "Each URL must be http://host or https://host, with a port if it is not 80 or 443"
            )
