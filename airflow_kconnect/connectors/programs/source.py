"""What connectors of programs have in common: validation, learned schemas, transactions that end at states."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from airflow_kconnect.connect.connector.source import (
    ExactlyOnceSupport,
    Offset,
    PollSourceConnector,
    RecordShapes,
)
from airflow_kconnect.connectors.programs.json_types import Rows
from airflow_kconnect.connectors.programs.known import KnownRows
from airflow_kconnect.connectors.programs.settings import Keys, ProgramSettings, forbidden, problems_of

if TYPE_CHECKING:
    from airflow_kconnect.worker_config.keys import WorkerConfig


class ProgramSourceConnector(PollSourceConnector):
    """A source whose records a program writes.

    :cvar hints: what a hint may have. :cvar allowed_by: the worker's key.
    """

    keys: ClassVar[Keys]
    hints: ClassVar[Sequence[str]]
    allowed_by: ClassVar[str]

    def __init__(self, props: Mapping[str, str]) -> None:
        super().__init__(props)
        self._settings = self.settings_of(self.props)
        self._known = KnownRows()

    @staticmethod
    @abstractmethod
    def settings_of(props: Mapping[str, str]) -> ProgramSettings:
        """A configuration, parsed."""

    @staticmethod
    @abstractmethod
    def offset_problems(partition: Mapping[str, Any], offset: Offset) -> list[str]:
        """What is wrong with an offset that is to be committed."""

    @abstractmethod
    def declared(self) -> Iterable[Rows]:
        """What the catalog lets expect: most programs declare in messages what they do in catalogs."""

    @classmethod
    def validate(cls, props: Mapping[str, str]) -> dict[str, list[str]]:
        return problems_of(cls.keys, cls.hints, props)

    @classmethod
    def forbidden(cls, props: Mapping[str, str], worker: WorkerConfig) -> dict[str, list[str]]:
        return forbidden(cls.keys, props, worker.get(cls.allowed_by), cls.allowed_by)

    @classmethod
    def exactly_once_support(cls, props: Mapping[str, str]) -> ExactlyOnceSupport:
        return ExactlyOnceSupport.SUPPORTED

    @classmethod
    def alter_offsets(
        cls, props: Mapping[str, str], offsets: Sequence[tuple[Mapping[str, Any], Offset | None]]
    ) -> bool:
        cls.refuse_wrong_offsets(props, offsets, cls.offset_problems)
        return True

    def commits_at_offsets(self) -> bool:
        return True

    def learn(self, known: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        self._known.learn(known)
        return self._known.facts if known else {}

    def shapes(self) -> RecordShapes:
        return self._expected.shapes()

    @property
    def _expected(self) -> KnownRows:
        """What is known, and what is declared."""
        expected = KnownRows.of(self._known.text)
        for rows in self.declared():
            expected.add(rows)
        return expected
