"""What the class of a configuration is, of this package or in Java: its name, `source` or `sink`, its version."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hosting.choice import VERSION
from airflow_kconnect.hosting.inspection import hosted_class, looks_hosted
from airflow_kconnect.hosting.keys import HOSTED
from airflow_kconnect.plugins import registry as plugins
from airflow_kconnect.validation.inspection import CONNECTOR_CLASS
from airflow_kconnect.worker_config.keys import WorkerConfig
from airflow_kconnect.worker_config.plugin_keys import COORDINATES, PLUGIN_PATH

UNKNOWN = "unknown"

# How long a plug-in may be installed without being seen: a list asks for a thousand connectors.
_FRESH_S = 10.0
_KEYS = (CONNECTOR_CLASS, HOSTED, VERSION, COORDINATES)


class _Class(NamedTuple):
    kind: str
    version: str | None
    name: str


def kind(config: Mapping[str, str], worker: WorkerConfig) -> str:
    """`source`, `sink`, or `unknown` if the class is not known."""
    return _class(config, worker).kind


def version(config: Mapping[str, str], worker: WorkerConfig) -> str | None:
    """The version of the class; None if it is not known."""
    return _class(config, worker).version


def full_name(config: Mapping[str, str], worker: WorkerConfig) -> str:
    """The full name of the class; what the configuration says if the class is not known."""
    return _class(config, worker).name


def _class(config: Mapping[str, str], worker: WorkerConfig) -> _Class:
    keys = tuple((key, config[key]) for key in _KEYS if key in config)
    return _found(keys, _Worker(worker), int(time.monotonic() / _FRESH_S))


class _Worker:
    """A worker as a key of the cache: those with the same plug-ins are the same."""

    def __init__(self, worker: WorkerConfig) -> None:
        self.worker = worker
        self._plugins = (worker.props.get(PLUGIN_PATH), worker.props.get(COORDINATES))

    def __hash__(self) -> int:
        return hash(self._plugins)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Worker) and self._plugins == other._plugins


@lru_cache(maxsize=1000)
def _found(keys: tuple[tuple[str, str], ...], of: _Worker, moment: int) -> _Class:
    props, registry = dict(keys), plugins.registry()
    name = props.get(CONNECTOR_CLASS, "")
    try:
        if looks_hosted(props):
            java = hosted_class(props, of.worker)
            return _Class(UNKNOWN, None, name) if java is None else _Class(java.kind, java.version, java.name)
        full = registry.resolve(plugins.CONNECTORS, name, key=CONNECTOR_CLASS)
        return _Class(registry.connector(full).kind, registry.version(plugins.CONNECTORS, full), full)
    except ConfigError:
        return _Class(UNKNOWN, None, name)
