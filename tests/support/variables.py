"""Configurations with variables, and the results of resolving them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.variables.resolver import ConfigResolver

CANARY = "S3cr3t-canary"
CONNECT = re.compile(r"\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}")
PACKAGE = "org.apache.kafka.common.config.provider."
KAFKA = {"bootstrap.servers": "localhost:9092"}
SOURCE = {"name": "orders", "connector.class": "FileStreamSource", "file": "/data/orders.csv", "topic": "orders"}
SINK = {"name": "lake", "connector.class": "DirectorySinkConnector", "topics": "orders", "directory": "/data"}


def resolver(**worker: str) -> ConfigResolver:
    """A resolver for a worker; `_` in names stands for `.`."""
    return ConfigResolver.from_worker({f"config.providers{k.replace('_', '.')}": v for k, v in worker.items()})


def resolved(value: str) -> str:
    return str(resolver().resolve({"key": value})["key"])


def errors_of(resolver: ConfigResolver, **props: Any) -> dict[str, list[str]]:
    with pytest.raises(ConfigError) as caught:
        resolver.resolve(props)
    assert CANARY not in str(caught.value)
    return caught.value.errors
