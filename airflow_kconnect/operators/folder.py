"""Creates tasks from a folder of connector files."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.plugins import registry
from airflow_kconnect.connect.sink_connector import SinkConnector
from airflow_kconnect.connect.variables.syntax import has_reference
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
from airflow_kconnect.hooks.masking import is_secret_key
from airflow_kconnect.operators.kafka_connect import KafkaSinkOperator, KafkaSourceOperator
from airflow_kconnect.submit.preflight import connector_config
from airflow_kconnect.submit.yaml_file import YAML_SUFFIXES

SUFFIXES = (".json", ".properties", *YAML_SUFFIXES)
_NOT_IN_TASK_IDS = re.compile(r"[^\w.-]+")


def connectors_from_folder(
    folder: str | Path, *, each: Mapping[str, Mapping[str, Any]] | None = None, **shared: Any
) -> dict[str, KafkaSourceOperator | KafkaSinkOperator]:
    """Create a task for each connector file in a folder: the operators by connector name, sorted by name.

    .. code-block:: python

        with DAG("connectors", schedule="@hourly"):
            tasks = connectors_from_folder("connectors", each={"orders-sink": {"driver_memory": "4g"}}, retries=2)
            tasks["orders-source"] >> tasks["orders-sink"]

    Call it inside a DAG; in a `TaskGroup` the tasks belong to the group. Files end with `.json`, `.properties`, `.yaml`
    or `.yml`; other files, hidden files and subfolders are ignored. The connector's class determines whether a task is
    a `KafkaSourceOperator` or a `KafkaSinkOperator`; its name becomes the task's id, with `_` for characters not
    allowed in ids.

    The files are read when the DAG is parsed, and their values are templates as in a connector given as a dict. A file
    with a literal secret is read by the task instead, so that Airflow does not store it.

    :param folder: absolute, or relative to the file that calls this.
    :param each: additional parameters of single operators, by connector name; they override the shared ones.
    :param shared: parameters of all operators, e.g. `worker_config`, `kafka_conn_id`, `spark_conn_id`, `pool`.
    :raises ConfigError: files that are not connectors, each by its path; two connectors with the same name; an unknown
        name in `each`. Airflow shows it as the import error of the DAG file.
    """
    path = Path(sys._getframe(1).f_code.co_filename).parent / folder
    found = _Found()
    for file in _files(path):
        found.add(file)
    for name in sorted(set(each or {}) - set(found.configs)):
        found.errors[f"each.{name}"] = [f"there is no connector of this name in {path}"]
    if found.errors:
        raise ConfigError(found.errors)
    return {
        name: found.operators[name](
            **{
                "task_id": _NOT_IN_TASK_IDS.sub("_", name),
                "connector": _connector(found.files[name], config),
                **shared,
                **(each or {}).get(name, {}),
            }
        )
        for name, config in sorted(found.configs.items())
    }


class _Found:
    """The content of a folder's files, by connector name."""

    def __init__(self) -> None:
        self.files: dict[str, Path] = {}
        self.configs: dict[str, dict[str, Any]] = {}
        self.operators: dict[str, type[KafkaSourceOperator] | type[KafkaSinkOperator]] = {}
        self.errors: dict[str, list[str]] = {}

    def add(self, file: Path) -> None:
        try:
            config = connector_config(file)
            name = _needed(config, "name")
            if name in self.files:
                raise ConfigError({"name": [f"`{name}` is the connector of {self.files[name].name} too"]})
            self.operators[name] = _operator(_needed(config, "connector.class"))
            self.files[name], self.configs[name] = file, config
        except ConfigError as error:
            # Errors of the file itself are already keyed by its path.
            texts = [
                text if key == str(file) else f"`{key}`: {text}" for key, all_ in error.errors.items() for text in all_
            ]
            self.errors[str(file)] = texts


def _files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise ConfigError({"folder": [f"{folder} is not a folder"]})
    return sorted(
        file
        for file in folder.iterdir()
        if file.suffix in SUFFIXES and not file.name.startswith(".") and file.is_file()
    )


def _needed(config: Mapping[str, Any], key: str) -> str:
    if not config.get(key):
        raise ConfigError({key: ["is missing"]})
    return str(config[key])


def _operator(connector_class: str) -> type[KafkaSourceOperator] | type[KafkaSinkOperator]:
    found = registry().connector(connector_class)
    return KafkaSinkOperator if issubclass(found, SinkConnector) else KafkaSourceOperator


def _connector(file: Path, config: dict[str, Any]) -> dict[str, Any] | str:
    return str(file) if any(_is_literal_secret(key, value) for key, value in config.items()) else config


def _is_literal_secret(key: str, value: Any) -> bool:
    if not is_secret_key(key) or not value or has_reference(value):
        return False
    if key != "connection.url":
        return True
    try:
        JdbcUrl.parse(str(value))  # one without credentials hides nothing
    except ValueError:
        return True
    return False
