"""Creates tasks from a folder of connector files."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.connector.sink import SinkConnector
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hosting.inspection import hosted_kind
from airflow_kconnect.operators.kafka_connect import KafkaSinkOperator, KafkaSourceOperator
from airflow_kconnect.plugins.registry import registry
from airflow_kconnect.submit.folder import connector_files, in_file, read_files
from airflow_kconnect.submit.literal_secrets import is_literal_secret

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
    files, errors = read_files(connector_files(path))
    operators: dict[str, type[KafkaSourceOperator] | type[KafkaSinkOperator]] = {}
    for name, connector in files.items():
        try:
            operators[name] = _operator(connector.config, shared.get("worker_config"))
        except ConfigError as error:
            errors[str(connector.file)] = in_file(connector.file, error)
    for name in sorted(set(each or {}) - set(files)):
        errors[f"each.{name}"] = [f"there is no connector of this name in {path}"]
    if errors:
        raise ConfigError(dict(sorted(errors.items())))
    return {
        name: operators[name](
            **{
                "task_id": _NOT_IN_TASK_IDS.sub("_", name),
                "connector": _connector(connector.file, connector.config),
                **shared,
                **(each or {}).get(name, {}),
            }
        )
        for name, connector in sorted(files.items())
    }


def _needed(config: Mapping[str, Any], key: str) -> str:
    if not config.get(key):
        raise ConfigError({key: ["is missing"]})
    return str(config[key])


def _operator(config: Mapping[str, Any], worker: Any) -> type[KafkaSourceOperator] | type[KafkaSinkOperator]:
    name = _needed(config, "connector.class")
    if kind := hosted_kind(config, worker if isinstance(worker, Mapping) else {}):
        return KafkaSinkOperator if kind == "sink" else KafkaSourceOperator
    connector = registry().connector(name)
    return KafkaSinkOperator if issubclass(connector, SinkConnector) else KafkaSourceOperator


def _connector(file: Path, config: dict[str, Any]) -> dict[str, Any] | str:
    return str(file) if any(is_literal_secret(key, value) for key, value in config.items()) else config
