"""Validates configurations whose variables cannot be resolved yet: reports only what holds for any values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_kconnect.validation import hosted_rules
from airflow_kconnect.validation.connector import Inspection, inspect_connector
from airflow_kconnect.validation.inspection import inspect_keys
from airflow_kconnect.variables.syntax import has_reference
from airflow_kconnect.worker_config.keys import WorkerConfig

_UNEXPECTED = "An unexpected error occurred during validation"
# Which keys a key affects, beyond those that begin with its own name.
_DEPENDENTS = {"predicates": ("transforms.",), "topic.creation.groups": ("topic.creation.",)}


def inspect_without_references(
    config: Mapping[str, Any], worker: Mapping[str, Any], kind: str | None = None
) -> Inspection:
    """Validate as far as possible where variables cannot be resolved: before the job, perhaps on another machine.

    Errors and warnings of the inspection are those that hold whatever the values of the variables. The job validates
    everything.

    :param config: the connector's configuration, variables not resolved.
    :param worker: the worker's keys, variables not resolved.
    :param kind: `source` or `sink` if only such connectors are allowed.
    :raises ConfigError: keys of the worker that have no variable are wrong.
    """
    known = WorkerConfig.from_props(_without_references(worker))
    inspection = inspect_connector(config, worker=known, kind=kind)
    unknown = {key for key, value in config.items() if has_reference(value)}
    if not unknown:
        return inspection
    sure = {}
    if unknown & inspection.own.keys.keys():
        # The connector's own rules may involve several keys; only errors of single keys are certain.
        single = inspect_keys(config, worker=known).errors
        sure = {key: single.get(key, []) for key in inspection.own.keys}
    prefixes = tuple(prefix for key in unknown for prefix in _depending(key))
    for key, value in inspection.values.items():
        undecided = key in unknown or key.startswith(prefixes)
        value.errors[:] = [] if undecided else _certain(sure.get(key, value.errors))
    hosted_rules.check_variables(inspection)  # these are wrong whatever other variables become
    quoted = tuple(f"`{prefix}" for prefix in prefixes)
    inspection.warnings[:] = [warning for warning in inspection.warnings if not warning.startswith(quoted)]
    return inspection


def worker_without_references(worker: Mapping[str, Any]) -> WorkerConfig:
    """What is known of a worker whose variables are not resolved; no Kafka need be named.

    :raises ConfigError: keys that have no variable are wrong.
    """
    return WorkerConfig.from_props({"bootstrap.servers": "localhost:9092", **_without_references(worker)})


def _depending(key: str) -> list[str]:
    """Prefixes of the keys whose meaning depends on a key: for `ssl.keystore.type`, all keys of that store."""
    return [f"{key}.", *_DEPENDENTS.get(key, ()), *([key.removesuffix("type")] if key.endswith(".type") else [])]


def _without_references(worker: Mapping[str, Any]) -> dict[str, Any]:
    unknown = [key for key, value in worker.items() if has_reference(value)]
    stores = tuple(key.removesuffix("type") for key in unknown if key.endswith("store.type"))
    known = {key: text for key, text in worker.items() if key not in unknown and not key.startswith(stores)}
    servers = "bootstrap.servers"
    return {servers: "localhost:9092", **known} if servers in worker else known


def _certain(messages: list[str]) -> list[str]:
    """A connector's code may fail on the unresolved text of a variable."""
    return [message for message in messages if not message.startswith(_UNEXPECTED)]
