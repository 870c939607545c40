"""Airbyte's Python sources as a connector: exactly once in Kafka, from one STATE of a stream to the next."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.connector.task import SourceTask
from airflow_kconnect.connectors.airbyte import settings, sources
from airflow_kconnect.connectors.airbyte.catalog import Catalog, keys_of
from airflow_kconnect.connectors.airbyte.settings import HINTS, KEYS
from airflow_kconnect.connectors.airbyte.task import SCOPE, SCOPE_OF_TASK, SECRETS_OF_TASK, AirbyteSourceTask
from airflow_kconnect.connectors.programs.json_types import Rows
from airflow_kconnect.connectors.programs.settings import CATALOG_OF_TASK, KNOWN_OF_TASK, PREFIX
from airflow_kconnect.connectors.programs.source import ProgramSourceConnector
from airflow_kconnect.runs.warnings import RunWarning
from airflow_kconnect.worker_config.keys import AIRBYTE_SOURCES


class AirbyteSourceConnector(ProgramSourceConnector):
    """One task: a source is a process, which reads its streams one after the other, or at once."""

    summary = "Reads any source that Airbyte has in Python: hundreds of services, by their APIs."
    keys, hints, allowed_by = KEYS, HINTS, AIRBYTE_SOURCES
    key_prefixes: ClassVar[tuple[str, ...]] = (KEYS.config, KEYS.hints)
    open_prefixes: ClassVar[tuple[str, ...]] = key_prefixes
    first_keys: ClassVar[tuple[str, ...]] = (KEYS.package, KEYS.command, KEYS.streams, PREFIX)
    settings_of = staticmethod(settings.settings_of)
    offset_problems = staticmethod(settings.offset_problems)

    def __init__(self, props: Mapping[str, str]) -> None:
        super().__init__(props)
        self._scope: str | None = None

    @classmethod
    def config(cls) -> ConfigDef:
        return settings.airbyte_config()

    def check(self) -> None:
        """Install the source, and have it discover its streams, which may connect to what it reads."""
        if self._settings.checks:
            sources.check(self._settings, self._secrets)
        _ = self._catalog

    def task_class(self) -> type[SourceTask]:
        return AirbyteSourceTask

    def learn(self, known: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        scopes = [each[SCOPE] for each in known if SCOPE in each]
        self._scope = scopes[-1] if scopes else self._scope
        facts = super().learn(known)
        return facts | {SCOPE: self._scope} if self._scope else facts

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        found_out = {
            CATALOG_OF_TASK: json.dumps(self._catalog.configured),
            KNOWN_OF_TASK: self._expected.text,
            SECRETS_OF_TASK: json.dumps(sorted(self._secrets)),
            SCOPE_OF_TASK: self._scope or "",
        }
        return [{**self.props, **found_out}]

    def run_warnings(self) -> list[RunWarning]:
        return self._catalog.warnings()

    def declared(self) -> list[Rows]:
        return [
            self._settings.rows(name, each["stream"].get("json_schema") or {}, keys_of(each))
            for name, each in self._catalog.streams.items()
        ]

    @cached_property
    def _secrets(self) -> frozenset[str]:
        return sources.secrets_of(self._settings)

    @cached_property
    def _catalog(self) -> Catalog:
        """:raises ConnectError: the source cannot be run, or the catalog is wrong."""
        return sources.catalog_of(self._settings, self._secrets)
