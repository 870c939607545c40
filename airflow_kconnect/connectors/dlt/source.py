"""dlt's sources as a connector: resources are read in parallel, and each is exactly once in Kafka."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.connector.source import (
    ExactlyOnceSupport,
    Offset,
    PollSourceConnector,
    RecordShapes,
)
from airflow_kconnect.connect.connector.task import SourceTask
from airflow_kconnect.connect.data import ConnectSchema, Shape
from airflow_kconnect.connectors.dlt import settings
from airflow_kconnect.connectors.dlt.loading import loaded
from airflow_kconnect.connectors.dlt.records import disposition_warning
from airflow_kconnect.connectors.dlt.schemas import declared_schema
from airflow_kconnect.connectors.dlt.settings import (
    ARGUMENTS,
    HINTS,
    OF_TASK,
    SCHEMAS_OF_TASK,
    DltSettings,
    dlt_config,
)
from airflow_kconnect.connectors.dlt.task import DltSourceTask
from airflow_kconnect.connectors.rows import key_schema
from airflow_kconnect.converters.json.schemas import to_json_schema
from airflow_kconnect.runs.warnings import RunWarning
from airflow_kconnect.worker_config.keys import DLT_SOURCES

if TYPE_CHECKING:
    from dlt.extract.source import DltSource

    from airflow_kconnect.worker_config.keys import WorkerConfig


class DltSourceConnector(PollSourceConnector):
    """At most `tasks.max` tasks, each with some of the resources."""

    summary = "Reads any source of dlt: REST APIs by configuration alone, databases, files, and hundreds of services."
    key_prefixes: ClassVar[tuple[str, ...]] = (ARGUMENTS, HINTS)
    first_keys: ClassVar[tuple[str, ...]] = (settings.SOURCE, settings.REST_API, settings.RESOURCES, settings.PREFIX)

    def __init__(self, props: Mapping[str, str]) -> None:
        super().__init__(props)
        self._settings = DltSettings.of(self.props)

    @classmethod
    def config(cls) -> ConfigDef:
        return dlt_config()

    @classmethod
    def validate(cls, props: Mapping[str, str]) -> dict[str, list[str]]:
        return settings.problems_of(props)

    @classmethod
    def forbidden(cls, props: Mapping[str, str], worker: WorkerConfig) -> dict[str, list[str]]:
        return settings.forbidden(props, worker.get(DLT_SOURCES))

    @classmethod
    def exactly_once_support(cls, props: Mapping[str, str]) -> ExactlyOnceSupport:
        return ExactlyOnceSupport.SUPPORTED

    @classmethod
    def alter_offsets(
        cls, props: Mapping[str, str], offsets: Sequence[tuple[Mapping[str, Any], Offset | None]]
    ) -> bool:
        cls.refuse_wrong_offsets(props, offsets, settings.offset_problems)
        return True

    def check(self) -> None:
        """Make the source, which may connect to what it reads."""
        _ = self._source

    def commits_at_offsets(self) -> bool:
        return True

    def task_class(self) -> type[SourceTask]:
        return DltSourceTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        names = list(self._source.selected_resources)
        count = min(max_tasks, len(names))
        schemas = json.dumps({name: to_json_schema(schema) for name, (schema, _) in self._schemas.items()})
        own = (names[n::count] for n in range(count))
        return [{**self.props, OF_TASK: json.dumps(each), SCHEMAS_OF_TASK: schemas} for each in own]

    def shapes(self) -> RecordShapes:
        values = [Shape(schema) for schema, _ in self._schemas.values()]
        keys = [Shape(found) for schema, names in self._schemas.values() if (found := key_schema(schema, names))]
        return RecordShapes(tuple(dict.fromkeys(keys)), tuple(dict.fromkeys(values)))

    def run_warnings(self) -> list[RunWarning]:
        resources = self._source.selected_resources.items()
        return [warning for name, resource in resources if (warning := disposition_warning(name, resource))]

    @cached_property
    def _source(self) -> DltSource:
        """:raises ConfigError: it cannot be made."""
        return loaded(self._settings)

    @cached_property
    def _schemas(self) -> dict[str, tuple[ConnectSchema, list[str]]]:
        """The schema of each resource that declares one, and the columns of its key."""
        found = {}
        resources = self._source.selected_resources.items() if self._settings.schemas == "declared" else ()
        for name, resource in resources:
            if resource.has_dynamic_table_name or resource.has_other_dynamic_hints:
                continue
            columns = resource.compute_table_schema()["columns"]
            if schema := declared_schema(name, columns):
                found[name] = schema, [column for column, hints in columns.items() if hints.get("primary_key")]
        return found
