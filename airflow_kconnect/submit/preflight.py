"""Reads a connector's configuration as users write it (dict, text or file), and checks it before Spark starts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.submit.registered import Connector, RegisteredConnector
from airflow_kconnect.submit.yaml_file import YAML_SUFFIXES, load_yaml_file
from airflow_kconnect.validation.before_variables import inspect_without_references
from airflow_kconnect.validation.connector import load_connector_file
from airflow_kconnect.variables.providers import NEEDS_AIRFLOW, printable
from airflow_kconnect.variables.resolver import task_variables


def connector_config(connector: Connector, folder: Path | None = None) -> dict[str, Any]:
    """The flat configuration of a connector, with its `name` in it.

    :param connector: Connect's JSON or just the configuration, as a dict or a JSON string; or the path of a file.
    :param folder: base folder of relative paths.
    :raises ConfigError: it is none of these.
    """
    if isinstance(connector, str) and connector.lstrip().startswith("{"):
        connector = _parsed(connector)
    if isinstance(connector, RegisteredConnector) and connector.file is not None:
        connector = Path(connector.file)
    if isinstance(connector, Mapping):
        return _flat(connector)
    if not isinstance(connector, str | Path) or not str(connector).strip():
        raise _wrong(f"is {connector!r}; expected a dict, a JSON text or the path of a file")
    path = (folder or Path()) / connector
    return load_yaml_file(path) if path.suffix in YAML_SUFFIXES else dict(load_connector_file(path))


def check_configuration(
    config: Mapping[str, Any],
    worker: Mapping[str, Any],
    kind: str | None,
    variables: Mapping[str, str] | None = None,
) -> list[str]:
    """Check the configurations of connector and worker; makes no connections.

    Only the job knows what a config provider returns: values with variables such as `${file:...}`, and what depends on
    them, are checked there.

    :param variables: values of Airflow's variables, as in `RunSpec`; None without Airflow, in which case such variables
        are errors.
    :returns: warnings.
    :raises ConfigError: with all errors.
    """
    inspection = inspect_without_references(config, worker, kind)
    errors = inspection.errors
    if variables is None:
        errors |= _without_airflow(config, worker)
    if errors:
        raise ConfigError(errors, connector=inspection.props.get("name"))
    return inspection.warnings


def _without_airflow(config: Mapping[str, Any], worker: Mapping[str, Any]) -> dict[str, list[str]]:
    errors: dict[str, list[str]] = {}
    for key, variable in (*task_variables(config, worker), *task_variables(worker, worker)):
        errors.setdefault(key, []).append(f"variable {printable(variable.text)} {NEEDS_AIRFLOW}")
    return errors


def _parsed(text: str) -> dict[str, Any]:
    try:
        parsed: dict[str, Any] = json.loads(text)
    except json.JSONDecodeError as error:
        raise _wrong(f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None
    return parsed


def _flat(connector: Mapping[str, Any]) -> dict[str, Any]:
    inner = connector.get("config")
    if not isinstance(inner, Mapping):
        return dict(connector)
    name = connector.get("name")
    if name is not None and inner.get("name", name) != name:
        raise _wrong("has one `name` outside and another inside `config`; remove one")
    return {**inner} if name is None else {**inner, "name": name}


def _wrong(what: str) -> ConfigError:
    return ConfigError({"connector": [what]})
