"""The kinds of Java plug-ins: interface or base class of each, and the suffix that an alias may leave out."""

from __future__ import annotations

from typing import Literal

Kind = Literal[
    "source",
    "sink",
    "converter",
    "header_converter",
    "transformation",
    "predicate",
    "config_provider",
    "rest_extension",
    "override_policy",
]

CONNECTORS: tuple[Kind, ...] = ("source", "sink")
# Base class or interface, which also names the file in META-INF/services.
KINDS: dict[str, Kind] = {
    "org.apache.kafka.connect.source.SourceConnector": "source",
    "org.apache.kafka.connect.sink.SinkConnector": "sink",
    "org.apache.kafka.connect.storage.Converter": "converter",
    "org.apache.kafka.connect.storage.HeaderConverter": "header_converter",
    "org.apache.kafka.connect.transforms.Transformation": "transformation",
    "org.apache.kafka.connect.transforms.predicates.Predicate": "predicate",
    "org.apache.kafka.common.config.provider.ConfigProvider": "config_provider",
    "org.apache.kafka.connect.rest.ConnectRestExtension": "rest_extension",
    "org.apache.kafka.connect.connector.policy.ConnectorClientConfigOverridePolicy": "override_policy",
}
_SUFFIXES: dict[Kind, str] = {
    "source": "Connector",
    "sink": "Connector",
    "converter": "Converter",
    "header_converter": "HeaderConverter",
    "transformation": "Transformation",
    "predicate": "Predicate",
    "config_provider": "ConfigProvider",
    "rest_extension": "ConnectRestExtension",
    "override_policy": "ConnectorClientConfigOverridePolicy",
}


def is_name(text: str, kind: Kind, full_name: str) -> bool:
    """Whether a text names a class: its full name, its simple name, or that without the suffix of its kind."""
    simple = full_name.rpartition(".")[2]
    return text in (full_name, simple, simple.removesuffix(_SUFFIXES[kind]))
