"""A connector's configuration: the main entry point for validating one, and the definitions of its keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, InternalError
from airflow_kconnect.plugins.java import JavaPlugin
from airflow_kconnect.runs.warnings import Kind, RunWarning
from airflow_kconnect.validation.connector_file import load_connector_file
from airflow_kconnect.validation.connector_keys import (
    CONVERTER_KINDS,
    common_config,
    sink_config,
    source_config,
)
from airflow_kconnect.validation.inspection import Inspection, inspect_keys
from airflow_kconnect.validation.rules import check
from airflow_kconnect.validation.topic_rules import check_topic_name
from airflow_kconnect.worker_config.keys import WorkerConfig

__all__ = [
    "CONVERTER_KINDS",
    "Inspection",
    "ValidatedConfig",
    "check_topic_name",
    "common_config",
    "inspect_connector",
    "load_connector_file",
    "sink_config",
    "source_config",
    "validate_connector",
]


@dataclass(frozen=True)
class ValidatedConfig:
    """A connector configuration without errors. Its repr shows no values: they may be secrets.

    :param name: the connector's name.
    :param connector_class: full class name; `registry().connector(connector_class)` is the class.
    :param kind: `source` or `sink`.
    :param props: all keys as text, trimmed.
    :param common: typed values of Connect's keys, of transformations, predicates and topic creation groups.
    :param warnings: what is allowed but may not do what the user expects.
    :param hosted: the Java class, if that is what runs.
    """

    name: str
    connector_class: str
    kind: str
    props: dict[str, str] = field(repr=False)
    common: dict[str, Any] = field(repr=False)
    warnings: list[str] = field(default_factory=list)
    hosted: JavaPlugin | None = None


def inspect_connector(
    config: Mapping[str, Any], *, worker: WorkerConfig | None = None, kind: str | None = None
) -> Inspection:
    """All values, errors and warnings of a configuration; for Connect's `PUT config/validate`:

        inspection = inspect_connector(config, worker=worker)
        describe(inspection.definition, inspection.values.values(), name=inspection.connector_class)

    Parameters as for `validate_connector`; a wrong configuration does not raise an exception here.
    """
    inspection = inspect_keys(config, worker=worker)
    check(inspection, kind)
    return inspection


def validate_connector(
    config: Mapping[str, Any], *, worker: WorkerConfig | None = None, kind: str | None = None
) -> ValidatedConfig:
    """Validate a connector's configuration as Connect does before accepting it. Makes no connections.

    :param config: the configuration, variables such as `${env:HOME}` resolved; numbers and booleans become text.
    :param worker: default: `WorkerConfig.defaults()`.
    :param kind: `source` or `sink` if only such connectors are allowed.
    :raises ConfigError: with all errors.
    """
    inspection = inspect_connector(config, worker=worker, kind=kind)
    if inspection.errors:
        raise ConfigError(inspection.errors, connector=inspection.props.get("name"))
    if inspection.kind is None:
        raise InternalError("a configuration without a connector class was found valid")
    return ValidatedConfig(
        name=inspection.props["name"],
        connector_class=inspection.connector_class,
        kind=inspection.kind,
        props=inspection.props,
        common=inspection.parsed(inspection.framework),
        warnings=[RunWarning(Kind.CONFIGURATION, text) for text in inspection.warnings],
        hosted=inspection.hosted,
    )
