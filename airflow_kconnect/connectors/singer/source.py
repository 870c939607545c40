"""Singer taps as a connector: exactly once in Kafka, from one STATE to the next."""

from __future__ import annotations

import json
from functools import cached_property
from typing import ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.connector.task import SourceTask
from airflow_kconnect.connectors.programs.json_types import Rows
from airflow_kconnect.connectors.programs.settings import CATALOG_OF_TASK, KNOWN_OF_TASK, PREFIX
from airflow_kconnect.connectors.programs.source import ProgramSourceConnector
from airflow_kconnect.connectors.singer import settings
from airflow_kconnect.connectors.singer.catalog import Catalog, keys_of
from airflow_kconnect.connectors.singer.settings import HINTS, KEYS
from airflow_kconnect.connectors.singer.taps import catalog_of
from airflow_kconnect.connectors.singer.task import SingerSourceTask
from airflow_kconnect.runs.warnings import RunWarning
from airflow_kconnect.worker_config.keys import SINGER_TAPS


class SingerSourceConnector(ProgramSourceConnector):
    """One task: a tap is a process, and its state is about all of its streams."""

    summary = "Reads any source that has a Singer tap: hundreds of services, databases and files."
    keys, hints, allowed_by = KEYS, HINTS, SINGER_TAPS
    key_prefixes: ClassVar[tuple[str, ...]] = (KEYS.config, KEYS.hints)
    open_prefixes: ClassVar[tuple[str, ...]] = key_prefixes
    first_keys: ClassVar[tuple[str, ...]] = (KEYS.package, KEYS.command, KEYS.streams, PREFIX)
    settings_of = staticmethod(settings.settings_of)
    offset_problems = staticmethod(settings.offset_problems)

    @classmethod
    def config(cls) -> ConfigDef:
        return settings.singer_config()

    def check(self) -> None:
        """Install the tap, and have it discover its streams, which may connect to what it reads."""
        _ = self._catalog

    def task_class(self) -> type[SourceTask]:
        return SingerSourceTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        catalog = "" if self._catalog is None else json.dumps(self._catalog.document)
        return [{**self.props, CATALOG_OF_TASK: catalog, KNOWN_OF_TASK: self._expected.text}]

    def run_warnings(self) -> list[RunWarning]:
        return [] if self._catalog is None else self._catalog.warnings()

    def declared(self) -> list[Rows]:
        streams = () if self._catalog is None else self._catalog.selected()
        return [self._settings.rows(name, stream.get("schema") or {}, keys_of(stream)) for name, stream in streams]

    @cached_property
    def _catalog(self) -> Catalog | None:
        """:raises ConnectError: the tap cannot be run, or the catalog is wrong."""
        return catalog_of(self._settings)
