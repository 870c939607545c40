"""A DAG for each registered connector."""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from airflow.sdk import DAG, Asset, Param, get_parsing_context

from airflow_kconnect.connect.errors import ConfigError, RetriableError, first_line
from airflow_kconnect.operators.group import KafkaConnectorGroupOperator
from airflow_kconnect.operators.groups.members import group_params
from airflow_kconnect.operators.intervals import run_params
from airflow_kconnect.operators.kafka_connect import KafkaSinkOperator, KafkaSourceOperator
from airflow_kconnect.operators.registered import reading
from airflow_kconnect.operators.registered.documentation import doc_md, group_doc_md
from airflow_kconnect.operators.registered.entries import Entry, broken_entry
from airflow_kconnect.operators.registered.groups import GroupEntry, grouped
from airflow_kconnect.operators.registered.invalid import InvalidConnectorOperator
from airflow_kconnect.operators.registered.settings import (
    checked_schedule,
    task_parameters,
    timetable,
    values_of,
)
from airflow_kconnect.operators.registered.snapshot import Snapshot, SnapshotFile
from airflow_kconnect.operators.reports.assets import asset_server, connector_alias, topic_inlets
from airflow_kconnect.submit.dag_ids import TASK_ID, dag_id_of, group_dag_id_of
from airflow_kconnect.submit.registered import RegisteredConnector
from airflow_kconnect.validation.dag_keys import SCHEDULE, TAGS

log = logging.getLogger(__name__)

TAG, INVALID_TAG, OLD_TAG = "kconnect", "kconnect-invalid", "kconnect-old-snapshot"

# A short absence of Kafka does not make a new version of a thousand DAGs.
_OLD_AFTER_S = 900.0
# Files are read again when they change; this is for changes of the worker and of plugins.
_FOLDER_MAX_AGE_S = 600.0
_OPERATORS = {"source": KafkaSourceOperator, "sink": KafkaSinkOperator}
_DAG_DEFAULTS: dict[str, Any] = {
    "start_date": datetime(2026, 1, 1),
    "catchup": False,
    "max_active_runs": 1,
    # Registering a connector starts it, as in Connect; its target state pauses it.
    "is_paused_upon_creation": False,
}


def registered_connector_dags(
    *,
    kafka_conn_id: str | None = "kafka_default",
    worker_config: Mapping[str, Any] | None = None,
    config_topic: bool = True,
    folder: str | Path | None = None,
    schedule: str | None = None,
    max_age_s: float = 30.0,
    dag: Mapping[str, Any] | None = None,
    group: Mapping[str, Any] | None = None,
    **operator: Any,
) -> dict[str, DAG]:
    """Create a DAG for each connector that is registered in the config topic, or is a file of a folder.

    .. code-block:: python

        from airflow_kconnect import registered_connector_dags

        registered_connector_dags(schedule="@hourly", pool="kafka_connect", retries=3)

    Call it at the top level of a DAG file. Connectors are registered by Connect's REST API or `kconnect apply`; a DAG
    appears and vanishes with its connector, once Airflow has parsed the file again. Its id is `kconnect.<name>`, and
    its only task reads the present configuration when it runs, so secrets do not become part of the DAG. A connector's
    own keys override the parameters here: `kconnect.schedule`, `kconnect.retries`, `kconnect.retry.delay.ms`,
    `kconnect.pool`, `kconnect.pool.slots`, `kconnect.owner`, `kconnect.tags`. Values of configurations are not
    templates.

    Connectors with the same `kconnect.group` have one DAG, `kconnect-group.<group>`, whose only task is a
    `KafkaConnectorGroupOperator`. Their keys about the DAG must agree, where they are set.

    One connector with an invalid configuration does not affect the others: its DAG has the tag `kconnect-invalid`, and
    its runs fail with the errors.

    :param kafka_conn_id: Airflow connection of type `kconnect` or `kafka`, for reading the topic and for the tasks;
        None if `worker_config` is enough.
    :param worker_config: worker keys; they override those of the connection.
    :param config_topic: whether the connectors in the worker's `config.storage.topic` become DAGs.
    :param folder: a folder whose `.json`, `.properties`, `.yaml` and `.yml` files become DAGs; absolute, or relative to
        the file that calls this. A connector that is also in the topic is run from its file.
    :param schedule: of connectors without `kconnect.schedule`, in its form; None or empty: only manual runs.
    :param max_age_s: how long the list of connectors is used before the topic is read again, by one process at a
        time. If Kafka is unavailable, the last list is used.
    :param dag: other parameters of all DAGs, e.g. `{"start_date": ..., "default_args": ..., "tags": [...]}`.
    :param operator: parameters of all operators, e.g. `spark_conn_id`, `pool`, `retries`, `driver_memory`.
    :param group: further parameters of the operators of groups, e.g. `max_parallel`, `driver_memory`.
    :returns: the DAGs by connector name, that of a group by the name of each of its connectors; in a task's process
        only the one that it belongs to.
    :raises ConfigError: a parameter is wrong. Airflow shows it as the import error of the DAG file.
    :raises RetriableError: the topic cannot be read, and never was; shown in the same way.
    """
    default = checked_schedule(schedule)
    maker = _Maker(kafka_conn_id, worker_config, folder, default, dict(dag or {}), dict(operator), dict(group or {}))
    caller = Path(sys._getframe(1).f_code.co_filename)
    from_folder = [] if folder is None else _in_folder(caller.parent / folder, kafka_conn_id, worker_config)
    from_topic = _in_topic(kafka_conn_id, worker_config, max_age_s) if config_topic else Snapshot()
    maker.old = _is_old(from_topic)
    alone, groups = grouped(reading.merged(from_topic.entries, from_folder))
    wanted = get_parsing_context().dag_id
    made = {entry.name: maker.dag(id_, entry) for entry in alone if wanted in (None, id_ := dag_id_of(entry.name))}
    for each in groups:
        if wanted in (None, id_ := group_dag_id_of(each.name)):
            made |= dict.fromkeys((member.name for member in each.members), maker.group_dag(id_, each))
    return made


def _in_topic(kafka_conn_id: str | None, worker_config: Mapping[str, Any] | None, max_age_s: float) -> Snapshot:
    identity = (_airflow(), "topic", kafka_conn_id, sorted((worker_config or {}).items()))
    file = SnapshotFile(identity, max_age_s)
    snapshot = file.get(lambda: reading.topic_entries(kafka_conn_id, worker_config, file.known()))
    if snapshot.problem is None:
        return snapshot
    if snapshot.read_s is None:
        text = "the registered connectors cannot be read, and there is no earlier list of them"
        raise RetriableError(f"{text}: {snapshot.problem}")
    age = snapshot.age_s(time.time())
    log.warning("Using the list of registered connectors of %.0f s ago: %s", age, first_line(snapshot.problem))
    return snapshot


def _in_folder(folder: Path, kafka_conn_id: str | None, worker_config: Mapping[str, Any] | None) -> list[Entry]:
    identity = (_airflow(), "folder", str(folder), kafka_conn_id, sorted((worker_config or {}).items()))

    def read() -> list[Entry]:
        return reading.folder_entries(folder, kafka_conn_id, worker_config)

    snapshot = SnapshotFile(identity, _FOLDER_MAX_AGE_S).get(read, reading.folder_signature(folder))
    if snapshot.problem is not None:
        raise ConfigError({"folder": [snapshot.problem]})
    return list(snapshot.entries)


def _airflow() -> str:
    """Which Airflow this is: in another one a connection of the same name may be another Kafka."""
    return os.environ.get("AIRFLOW_HOME", "")


def _is_old(snapshot: Snapshot) -> bool:
    age = snapshot.age_s(time.time())
    return snapshot.problem is not None and age is not None and age > _OLD_AFTER_S


@dataclass
class _Maker:
    """Makes the DAGs of one call.

    :param old: Kafka has been unavailable for a while.
    """

    kafka_conn_id: str | None
    worker_config: Mapping[str, Any] | None
    folder: str | Path | None
    schedule: str | None
    dag_parameters: dict[str, Any]
    operator: dict[str, Any]
    group_operator: dict[str, Any]
    old: bool = False
    _server: str = field(init=False)
    _params: dict[str, Param] = field(default_factory=lambda: _of_dag(run_params()))

    def __post_init__(self) -> None:
        self._server = asset_server(self.kafka_conn_id, self.worker_config)

    def dag(self, dag_id: str, entry: Entry) -> DAG:
        """The DAG of a connector; if Airflow refuses its parameters, one that says so."""
        try:
            return self._dag(dag_id, entry)
        except Exception as error:
            log.exception("No DAG can be created for connector %s", entry.name)
            return self._dag(dag_id, broken_entry(entry.name, _refused(error), entry.file))

    def group_dag(self, dag_id: str, group: GroupEntry) -> DAG:
        """The DAG of a group; if Airflow refuses its parameters, one that says so."""
        try:
            text = group.values.get(SCHEDULE, self.schedule)
            doc = group_doc_md(group, self.kafka_conn_id, old=self.old)
            kinds = sorted({member.kind for member in group.members if member.kind})
            tags = self._tags(["group", *kinds], group.values, invalid=bool(group.problems))
            with self._new_dag(dag_id, f"Group {group.name} of connectors", text, doc, tags) as made:
                self._group_task(group)
            self._add_params(made, {**self._params, **_of_dag(group_params())})
            return made
        except Exception as error:
            log.exception("No DAG can be created for the group %s", group.name)
            return self._dag(dag_id, broken_entry(group.name, _refused(error)))

    def _dag(self, dag_id: str, entry: Entry) -> DAG:
        values = values_of(entry.config)
        text = values.get(SCHEDULE, None if SCHEDULE in entry.problems else self.schedule)
        description = f"{entry.kind or 'Invalid'} connector {entry.name}"
        doc = doc_md(entry, self.kafka_conn_id, old=self.old)
        tags = self._tags([entry.kind] if entry.kind else [], values, invalid=bool(entry.problems))
        with self._new_dag(dag_id, description, text, doc, tags) as made:
            self._task(entry, task_parameters(values))
        if entry.kind is not None:
            self._add_params(made, self._params)
        return made

    def _new_dag(self, dag_id: str, description: str, schedule: str | None, doc: str, tags: list[str]) -> DAG:
        own = {"description": description, "schedule": timetable(schedule), "doc_md": doc}
        return DAG(dag_id, **{**_DAG_DEFAULTS, **own, **self.dag_parameters, "tags": tags})

    def _add_params(self, made: DAG, params: Mapping[str, Param]) -> None:
        """Given to the constructor they would be checked, which takes longer than everything else."""
        if "params" not in self.dag_parameters:
            for name, param in params.items():
                made.params[name] = param

    def _tags(self, what: list[str], values: Mapping[str, Any], *, invalid: bool) -> list[str]:
        marks = [INVALID_TAG] if invalid else []
        marks += [OLD_TAG] if self.old else []
        return sorted({TAG, *what, *marks, *values.get(TAGS, ()), *self.dag_parameters.get("tags", ())})

    def _task(self, entry: Entry, own: Mapping[str, Any]) -> None:
        if entry.kind is None:
            error = ConfigError(entry.problems, entry.name)
            InvalidConnectorOperator(task_id=TASK_ID, problem=str(error))
            return
        parameters = {"task_id": TASK_ID, "kafka_conn_id": self.kafka_conn_id, **self.operator, **own}
        if entry.kind == "sink":
            parameters["inlets"] = [*parameters.get("inlets", ()), *topic_inlets(entry.config, self._server)]
        connector = self._registered(entry)
        _OPERATORS[entry.kind](connector=connector, worker_config=self.worker_config, **parameters)

    def _group_task(self, group: GroupEntry) -> None:
        parameters = {
            **{"task_id": TASK_ID, "kafka_conn_id": self.kafka_conn_id},
            **self.operator,
            **self.group_operator,
            **task_parameters(group.values),
        }
        sinks = [member.config for member in group.members if member.kind == "sink"]
        inlets: list[Asset] = [asset for config in sinks for asset in topic_inlets(config, self._server)]
        parameters["inlets"] = [*parameters.get("inlets", ()), *dict.fromkeys(inlets)]
        if parameters.get("asset_events", True):
            sources = [connector_alias(member.name) for member in group.members if member.kind == "source"]
            parameters["outlets"] = [*parameters.get("outlets", ()), *sources]
        connectors = [self._registered(member) for member in group.members]
        KafkaConnectorGroupOperator(connectors=connectors, worker_config=self.worker_config, **parameters)

    def _registered(self, entry: Entry) -> RegisteredConnector:
        file = None if entry.file is None else str(Path(self.folder or "") / Path(entry.file).name)
        return RegisteredConnector(entry.name, file)


def _refused(error: Exception) -> str:
    return f"Airflow refuses the parameters of its DAG: {type(error).__name__}: {first_line(error)}"


def _of_dag(params: dict[str, Param]) -> dict[str, Param]:
    """As the constructor of a DAG would mark them."""
    for param in params.values():
        param.source = "dag"
    return params
