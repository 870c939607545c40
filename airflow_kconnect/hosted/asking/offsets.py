"""Has the Java class of a connector check offsets that are to be altered or reset, as Connect does (KIP-875)."""

from __future__ import annotations

import logging

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.hosted.asking.definitions import OFFSETS_S
from airflow_kconnect.hosted.asking.warm import PATIENCE_S, WARM
from airflow_kconnect.hosted.jvm import libraries
from airflow_kconnect.hosting.installed import java_plugins
from airflow_kconnect.hosting.keys import java_props
from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.machine.java import find_java
from airflow_kconnect.stores.offset_changes.asking import AskClass, ClassChange
from airflow_kconnect.validation.connector import ValidatedConfig
from airflow_kconnect.validation.inspection import CONNECTOR_CLASS
from airflow_kconnect.worker_config.keys import WorkerConfig
from airflow_kconnect.worker_config.plugin_keys import coordinates_of

log = logging.getLogger("kconnect.hosted")


def asking_java(config: ValidatedConfig, worker: WorkerConfig) -> AskClass | None:
    """The question to the class of a hosted connector; None for connectors that are not hosted.

    The question raises ConfigError, keyed by `offsets`, if the class refuses, and RetriableError if it does not answer.
    Without Java on this machine its answer is False: the class has altered nothing.

    :param config: variables resolved.
    """
    if config.hosted is None:
        return None
    props = java_props(config.props) | {CONNECTOR_CLASS: config.hosted.name}
    plugins = java_plugins(worker, coordinates_of(config.props))

    def ask(changes: list[ClassChange]) -> bool:
        try:
            _prepare()
            return WARM.ask(
                plugins, worker, lambda jvm: jvm.alter_offsets(props, changes), patience_s=PATIENCE_S + OFFSETS_S
            )
        except SetupError as error:
            log.warning("%s is not asked about the offsets of %s: %s", props[CONNECTOR_CLASS], config.name, error)
            return False

    return ask


def _prepare() -> None:
    """:raises SetupError: there is no Java, or Connect's runtime is not here and cannot be downloaded."""
    try:
        libraries.class_path(find_java())
    except RetriableError as error:
        raise SetupError(str(error)) from None
