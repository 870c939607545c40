"""The configuration keys of converters that reach AWS Glue's schema registry: Amazon's names and defaults.

Source: ``GlueSchemaRegistryConfiguration`` and ``AWSSchemaRegistryConstants``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.config import (
    ConfigDef,
    Importance,
    Password,
    Range,
    Type,
    ValidString,
    invalid,
    nullable,
)
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.registry.authentication import check_authentication
from airflow_kconnect.registry.guarded import NOT_HTTP, is_http
from airflow_kconnect.registry.keys import CACHED, client_keys

REGION, ENDPOINT, PROXY, ROLE = "region", "endpoint", "proxyUrl", "assumeRoleArn"
REGISTRY, SCHEMA, AUTO = "registry.name", "schemaName", "schemaAutoRegistrationEnabled"
COMPRESSION, SECONDARY = "compression", "secondaryDeserializer"
ZLIB = "ZLIB"
URL = "schema.registry.url"

_NAMING = "com.amazonaws.services.schemaregistry.common.AWSSchemaNamingStrategyDefaultImpl"
_COMPATIBILITIES = ("NONE", "DISABLED", "BACKWARD", "BACKWARD_ALL", "FORWARD", "FORWARD_ALL", "FULL", "FULL_ALL")
_NAME = re.compile(r"[A-Za-z0-9$_.#-]{1,255}")
_OF_OBJECTS = "it is about the Java class of what is read; a converter always reads Connect's data"
_NEEDS_URL = f"must be provided with `{SECONDARY}`: its schemas are in a registry of Confluent's kind"


def glue_config(base: ConfigDef, deserializer: str) -> ConfigDef:
    """Add the keys of the registry to those of a converter.

    :param deserializer: Confluent's deserializer of the same format, which may be the secondary one.
    """
    for part in (_place, _schemas, _waiting):
        part(base)
    base.define(
        SECONDARY,
        Type.STRING,
        None,
        Importance.MEDIUM,
        f"`{deserializer}`: messages that begin as Confluent's do are read, too; their registry is `{URL}`.",
        validator=nullable(ValidString.in_(deserializer, deserializer.rpartition(".")[2])),
    )
    return client_keys(base, required=False)


def check_secondary(values: Mapping[str, Any]) -> None:
    """:raises ConfigError: the keys of the secondary deserializer do not fit together."""
    if not values[SECONDARY]:
        return
    if not values[URL]:
        raise ConfigError({URL: [_NEEDS_URL]})
    check_authentication(values)


def _place(config: ConfigDef) -> None:
    config.define(
        REGION,
        Type.STRING,
        None,
        Importance.HIGH,
        "Region of the registry, such as `eu-central-1`; not set: that of the driver's environment.",
    )
    config.define(
        ENDPOINT,
        Type.STRING,
        None,
        Importance.MEDIUM,
        "URL of Glue's API, such as that of a VPC endpoint; not set: that of the region.",
        validator=nullable(_check_url),
    )
    config.define(
        REGISTRY,
        Type.STRING,
        "default-registry",
        Importance.HIGH,
        "Name of the registry in which schemas are registered.",
        validator=_check_name,
    )
    config.define(
        ROLE,
        Type.STRING,
        None,
        Importance.MEDIUM,
        "ARN of a role of IAM that the driver assumes to reach the registry.",
    )
    config.define(
        "assumeRoleSessionName",
        Type.STRING,
        "kafka-connect-session",
        Importance.LOW,
        "Name of the session of that role, for Amazon's logs.",
    )
    config.define(
        PROXY,
        Type.PASSWORD,
        None,
        Importance.LOW,
        "URL of a proxy for requests to Amazon; it may have user and password.",
        validator=nullable(_check_url),
    )


def _schemas(config: ConfigDef) -> None:
    config.define(
        SCHEMA,
        Type.STRING,
        None,
        Importance.HIGH,
        "Name of the schema under which versions are registered; not set: the topic's.",
        validator=nullable(_check_name),
    )
    config.define(
        "schemaNameGenerationClass",
        Type.STRING,
        _NAMING,
        Importance.LOW,
        f"How schemas are named if `{SCHEMA}` is not set. Only by the topic: other Java classes do not run here.",
        validator=ValidString.in_(_NAMING, _NAMING.rpartition(".")[2]),
    )
    config.define(
        AUTO,
        Type.BOOLEAN,
        False,
        Importance.HIGH,
        "Whether schemas and versions are registered when their first record is written; else they must be there.",
    )
    config.define(
        "compatibility",
        Type.STRING,
        "BACKWARD",
        Importance.MEDIUM,
        "Which versions a schema accepts that is created here; those that exist keep their setting.",
        validator=ValidString.in_case_insensitive(*_COMPATIBILITIES),
    )
    config.define("description", Type.STRING, None, Importance.LOW, "Description of the schemas that are created here.")
    config.define(
        COMPRESSION,
        Type.STRING,
        "NONE",
        Importance.MEDIUM,
        "Whether payloads are compressed where they are written: NONE or ZLIB. Both are read in any case.",
        validator=ValidString.in_case_insensitive("NONE", ZLIB),
    )


def _waiting(config: ConfigDef) -> None:
    for name, type_, default in (("cacheSize", Type.INT, 200), ("timeToLiveMillis", Type.LONG, 86_400_000)):
        config.define(
            name,
            type_,
            default,
            Importance.LOW,
            "Size of the cache of schemas, and how long they stay in it, in milliseconds.",
            validator=Range.at_least(0),
            without_effect=CACHED,
        )
    config.define(
        "userAgentApp",
        Type.STRING,
        "default",
        Importance.LOW,
        "How the client calls itself.",
        without_effect="requests say that they are botocore's",
    )


def define_record_type(config: ConfigDef, name: str, *allowed: str) -> ConfigDef:
    """Add the key for the Java class of what is read, which has no effect here."""
    return config.define(
        name,
        Type.STRING,
        None,
        Importance.LOW,
        f"The Java class of what is read: {' or '.join(allowed)}.",
        validator=nullable(ValidString.in_(*allowed)),
        without_effect=_OF_OBJECTS,
    )


def _check_name(name: str, value: Any) -> None:
    if not _NAME.fullmatch(value):
        raise invalid(name, value, "A name has 1 to 255 letters, digits, hyphens, underscores, dots, $ or #")


def _check_url(name: str, value: Any) -> None:
    if not is_http(value.value if isinstance(value, Password) else value):
        raise invalid(name, "...", NOT_HTTP)
