"""dlt's sources as a connector: resources are read in parallel, and each is exactly once in Kafka."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.connector.source import ExactlyOnceSupport, Offset, PollSourceConnector
from airflow_kconnect.connect.connector.task import SourceTask
from airflow_kconnect.connect.validation.worker_keys import DLT_SOURCES
from airflow_kconnect.connectors.dlt import settings
from airflow_kconnect.connectors.dlt.loading import loaded
from airflow_kconnect.connectors.dlt.settings import ARGUMENTS, HINTS, OF_TASK, DltSettings, dlt_config
from airflow_kconnect.connectors.dlt.task import DltSourceTask

if TYPE_CHECKING:
    from airflow_kconnect.connect.validation.worker_keys import WorkerConfig


class DltSourceConnector(PollSourceConnector):
    """At most `tasks.max` tasks, each with some of the resources."""

    summary = "Reads any source of dlt: REST APIs by configuration alone, databases, files, and hundreds of services."
    key_prefixes: ClassVar[tuple[str, ...]] = (ARGUMENTS, HINTS)
    first_keys: ClassVar[tuple[str, ...]] = (settings.SOURCE, settings.REST_API, settings.RESOURCES, settings.PREFIX)

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
        _ = self._resources

    def commits_at_offsets(self) -> bool:
        return True

    def task_class(self) -> type[SourceTask]:
        return DltSourceTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        names = self._resources
        count = min(max_tasks, len(names))
        return [{**self.props, OF_TASK: json.dumps(names[n::count])} for n in range(count)]

    @cached_property
    def _resources(self) -> list[str]:
        """The names of the resources to read. :raises ConfigError: the source cannot be made."""
        return list(loaded(DltSettings.of(self.props)).selected_resources)
