"""The configuration keys of converters that reach a schema registry: Confluent's names and defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from airflow_kconnect.connect.config import (
    NO_DEFAULT,
    ConfigDef,
    Importance,
    Range,
    Type,
    ValidString,
    invalid,
    nullable,
)
from airflow_kconnect.registry.authentication import authentication_keys
from airflow_kconnect.registry.guarded import NOT_HTTP, is_http
from airflow_kconnect.registry.subjects import NAMES, TOPIC_NAME
from airflow_kconnect.registry.tls import encryption_keys

_PACKAGE = "io.confluent.kafka.serializers.schema.id."
_PREFIX_SERIALIZER, _HEADER_SERIALIZER = "PrefixSchemaIdSerializer", "HeaderSchemaIdSerializer"
_PREFIX_DESERIALIZER, _DUAL_DESERIALIZER = "PrefixSchemaIdDeserializer", "DualSchemaIdDeserializer"
PREFIX_SERIALIZER, DUAL_DESERIALIZER = _PACKAGE + _PREFIX_SERIALIZER, _PACKAGE + _DUAL_DESERIALIZER
SERIALIZERS = tuple(p + name for p in (_PACKAGE, "") for name in (_PREFIX_SERIALIZER, _HEADER_SERIALIZER))
DESERIALIZERS = tuple(p + name for p in (_PACKAGE, "") for name in (_PREFIX_DESERIALIZER, _DUAL_DESERIALIZER))

CACHED = "all schemas of a run are known while it lasts"


def registry_config(base: ConfigDef) -> ConfigDef:
    """Add the keys of the registry to those of a converter."""
    for part in (_registration, _subjects_and_ids, client_keys, _caches):
        part(base)
    return base


def client_keys(config: ConfigDef, *, required: bool = True) -> ConfigDef:
    """Add the keys of the client alone.

    :param required: whether there must be a registry.
    """
    _connection(config, required=required)
    authentication_keys(config)
    encryption_keys(config)
    return config


def writes_headers(values: Mapping[str, Any], role: str) -> bool:
    """Whether the ids of a role's schemas are written into headers."""
    return str(values[f"{role}.schema.id.serializer"]).endswith(_HEADER_SERIALIZER)


def reads_headers(values: Mapping[str, Any], role: str) -> bool:
    """Whether the ids of a role's schemas are looked for in headers."""
    return str(values[f"{role}.schema.id.deserializer"]).endswith(_DUAL_DESERIALIZER)


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
        "use.latest.with.metadata",
        Type.LIST,
        None,
        Importance.LOW,
        "`key=value,...`: data are written with the newest schema of the subject that has these properties in its"
        " metadata; only if `auto.register.schemas` is false.",
        validator=_check_metadata,
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


def _subjects_and_ids(config: ConfigDef) -> None:
    for role in ("key", "value"):
        config.define(
            f"{role}.subject.name.strategy",
            Type.STRING,
            TOPIC_NAME,
            Importance.MEDIUM,
            f"How the subject is named under which the schemas of {role}s are registered.",
            validator=ValidString.in_(*NAMES),
        )
        config.define(
            f"{role}.schema.id.serializer",
            Type.STRING,
            PREFIX_SERIALIZER,
            Importance.MEDIUM,
            f"Where the ids of the schemas of {role}s are written: before the payload, or as a GUID in the header"
            f" `__{role}_schema_id` (HeaderSchemaIdSerializer).",
            validator=ValidString.in_(*SERIALIZERS),
        )
        config.define(
            f"{role}.schema.id.deserializer",
            Type.STRING,
            DUAL_DESERIALIZER,
            Importance.MEDIUM,
            f"Where the ids of the schemas of {role}s are looked for: in that header and then before the payload"
            " (DualSchemaIdDeserializer), or only before the payload (PrefixSchemaIdDeserializer).",
            validator=ValidString.in_(*DESERIALIZERS),
        )


def _connection(config: ConfigDef, *, required: bool) -> None:
    config.define(
        "schema.registry.url",
        Type.LIST,
        NO_DEFAULT if required else None,
        Importance.HIGH,
        "URLs of the registry's instances, separated by commas: http or https.",
        validator=_check_urls if required else nullable(_check_urls),
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


def _caches(config: ConfigDef) -> None:
    for name, default in (("max.schemas.per.subject", 1000), ("latest.cache.size", 1000), ("latest.cache.ttl.sec", -1)):
        config.define(name, Type.INT, default, Importance.LOW, "The size of a cache of schemas.", without_effect=CACHED)


def latest_metadata(values: Mapping[str, Any]) -> dict[str, str]:
    """The properties of ``use.latest.with.metadata``; empty if there are none."""
    entries = (entry.partition("=") for entry in values["use.latest.with.metadata"] or ())
    return {name.strip(): value.strip() for name, _, value in entries}


def _check_metadata(name: str, value: Any) -> None:
    if any(not (entry.partition("=")[0].strip() and "=" in entry) for entry in value or ()):
        raise invalid(name, ",".join(value), "Each property must be key=value")


def _check_urls(name: str, value: Any) -> None:
    urls: Sequence[str] = value or ()
    if not urls:
        raise invalid(name, value, "At least one URL is needed")
    if not all(is_http(url) for url in urls):
        raise invalid(name, "...", NOT_HTTP)
