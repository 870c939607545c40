"""Singer taps as a connector: exactly once in Kafka, from one STATE to the next."""

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
from airflow_kconnect.connect.run_warnings import RunWarning
from airflow_kconnect.connect.validation.worker_keys import SINGER_TAPS
from airflow_kconnect.connectors.programs.known import KnownRows
from airflow_kconnect.connectors.programs.settings import (
    CATALOG_OF_TASK,
    KNOWN_OF_TASK,
    PREFIX,
    forbidden,
    problems_of,
)
from airflow_kconnect.connectors.singer.catalog import Catalog, keys_of
from airflow_kconnect.connectors.singer.settings import HINTS, KEYS, offset_problems, settings_of, singer_config
from airflow_kconnect.connectors.singer.taps import catalog_of
from airflow_kconnect.connectors.singer.task import SingerSourceTask

if TYPE_CHECKING:
    from airflow_kconnect.connect.validation.worker_keys import WorkerConfig


class SingerSourceConnector(PollSourceConnector):
    """One task: a tap is a process, and its state is about all of its streams."""

    summary = "Reads any source that has a Singer tap: hundreds of services, databases and files."
    key_prefixes: ClassVar[tuple[str, ...]] = (KEYS.config, KEYS.hints)
    open_prefixes: ClassVar[tuple[str, ...]] = key_prefixes
    first_keys: ClassVar[tuple[str, ...]] = (KEYS.package, KEYS.command, KEYS.streams, PREFIX)

    def __init__(self, props: Mapping[str, str]) -> None:
        super().__init__(props)
        self._settings = settings_of(self.props)
        self._known = KnownRows()

    @classmethod
    def config(cls) -> ConfigDef:
        return singer_config()

    @classmethod
    def validate(cls, props: Mapping[str, str]) -> dict[str, list[str]]:
        return problems_of(KEYS, HINTS, props)

    @classmethod
    def forbidden(cls, props: Mapping[str, str], worker: WorkerConfig) -> dict[str, list[str]]:
        return forbidden(KEYS, props, worker.get(SINGER_TAPS), SINGER_TAPS)

    @classmethod
    def exactly_once_support(cls, props: Mapping[str, str]) -> ExactlyOnceSupport:
        return ExactlyOnceSupport.SUPPORTED

    @classmethod
    def alter_offsets(
        cls, props: Mapping[str, str], offsets: Sequence[tuple[Mapping[str, Any], Offset | None]]
    ) -> bool:
        cls.refuse_wrong_offsets(props, offsets, offset_problems)
        return True

    def check(self) -> None:
        """Install the tap, and have it discover its streams, which may connect to what it reads."""
        _ = self._catalog

    def commits_at_offsets(self) -> bool:
        return True

    def task_class(self) -> type[SourceTask]:
        return SingerSourceTask

    def learn(self, known: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        self._known.learn(known)
        return self._known.facts if known else {}

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        catalog = "" if self._catalog is None else json.dumps(self._catalog.document)
        return [{**self.props, CATALOG_OF_TASK: catalog, KNOWN_OF_TASK: self._expected.text}]

    def shapes(self) -> RecordShapes:
        return self._expected.shapes()

    def run_warnings(self) -> list[RunWarning]:
        return [] if self._catalog is None else self._catalog.warnings()

    @cached_property
    def _catalog(self) -> Catalog | None:
        """:raises ConnectError: the tap cannot be run, or the catalog is wrong."""
        return catalog_of(self._settings)

    @property
    def _expected(self) -> KnownRows:
        """What is known, and what the catalog lets expect: most taps declare in messages what they do in catalogs."""
        expected = KnownRows.of(self._known.text)
        for name, stream in () if self._catalog is None else self._catalog.selected():
            expected.add(self._settings.rows(name, stream.get("schema") or {}, keys_of(stream)))
        return expected
