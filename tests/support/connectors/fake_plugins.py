"""Small connectors, converters and stages, and the validation results for configurations that name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from airflow_kconnect.connect.config import ConfigDef, Importance, NonEmptyString, Type, ValidList
from airflow_kconnect.connect.connector.base import Connector
from airflow_kconnect.connect.connector.source import ExactlyOnceSupport, SourceConnector
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.plugins import registry as plugins
from airflow_kconnect.validation.connector import (
    validate_connector,
)
from airflow_kconnect.worker_config.keys import WorkerConfig


class FakeSource(SourceConnector):
    @classmethod
    def config(cls) -> ConfigDef:
        return (
            ConfigDef()
            .define("file", Type.STRING, None, Importance.HIGH)
            .define("topic", Type.STRING, importance=Importance.HIGH, validator=NonEmptyString())
            .define("batch.size", Type.INT, 2000, Importance.LOW)
            .define("password", Type.PASSWORD, None)
        )

    @classmethod
    def validate(cls, props: Mapping[str, str]) -> dict[str, list[str]]:
        if int(props.get("batch.size", "1")) > 1000 and props.get("file") == "tiny":
            return {"batch.size": ["too large for this file"]}
        return {}

    @classmethod
    def exactly_once_support(cls, props: Mapping[str, str]) -> ExactlyOnceSupport | None:
        match props.get("file"):
            case "boom":
                raise RuntimeError("disk on fire")
            case "silent boom":
                raise RuntimeError
            case "unknown":
                return None
            case None:
                return ExactlyOnceSupport.UNSUPPORTED
        return ExactlyOnceSupport.SUPPORTED


class FakeSink(Connector):
    kind = "sink"

    @classmethod
    def config(cls) -> ConfigDef:
        return ConfigDef().define("file", Type.STRING, None)


class FakeConverter:
    def __init__(self, config: Mapping[str, str], *, is_key: bool) -> None:
        self.config_values = config

    @classmethod
    def config(cls) -> ConfigDef:
        return ConfigDef().define("schemas.enable", Type.BOOLEAN, True)


class FakeHeaderConverter(FakeConverter):
    for_headers_only = True


class FakeTransform:
    @classmethod
    def validate(cls, config: Mapping[str, str]) -> dict[str, list[str]]:
        return {}

    @classmethod
    def config(cls) -> ConfigDef:
        return (
            ConfigDef()
            .define("replacement", Type.STRING, None, Importance.LOW)
            .define("fields", Type.LIST, importance=Importance.HIGH, validator=ValidList())
            .define("predicate", Type.INT, 1)
        )


class FakePredicate:
    @classmethod
    def validate(cls, config: Mapping[str, str]) -> dict[str, list[str]]:
        return {}

    @classmethod
    def config(cls) -> ConfigDef:
        return ConfigDef().define("pattern", Type.STRING)


@dataclass
class Entry:
    name: str
    target: Any
    value: str = "x:Y"

    def load(self) -> Any:
        return self.target


REGISTRY = plugins.PluginRegistry(
    {
        plugins.CONNECTORS: [
            Entry("org.acme.FakeSourceConnector", FakeSource),
            Entry("org.acme.FakeSinkConnector", FakeSink),
        ],
        plugins.CONVERTERS: [
            Entry("org.acme.FakeConverter", FakeConverter),
            Entry("org.acme.FakeHeaderConverter", FakeHeaderConverter),
        ],
        plugins.TRANSFORMS: [Entry("org.acme.Mask$Value", FakeTransform)],
        plugins.PREDICATES: [Entry("org.acme.Matches", FakePredicate)],
    }
)

SOURCE = {"name": "s", "connector.class": "FakeSource", "topic": "t", "file": "in.txt"}
SINK = {"name": "k", "connector.class": "FakeSink", "topics": "t1,t2"}


def worker(**props: str) -> WorkerConfig:
    named = {key.replace("_", "."): value for key, value in props.items()}
    return WorkerConfig.from_props({"bootstrap.servers": "localhost:9092", **named})


def errors_of(config: Mapping[str, Any], **options: Any) -> dict[str, list[str]]:
    with pytest.raises(ConfigError) as caught:
        validate_connector(config, **options)
    return caught.value.errors


def warnings_of(config: Mapping[str, Any]) -> list[str]:
    return validate_connector(config).warnings
