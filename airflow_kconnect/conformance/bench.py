"""What a trial of a connector works with: its runs, its topics, and what is known about the connector."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from airflow_kconnect.conformance.findings import Guarantee
from airflow_kconnect.conformance.harness import Arrived, Harness
from airflow_kconnect.conformance.runs import Ended, Runs
from airflow_kconnect.conformance.subject import Subject
from airflow_kconnect.conformance.topics import Topics
from airflow_kconnect.connect.connector.sink import SinkConnector
from airflow_kconnect.variables.resolver import ConfigResolver

HarnessOf = Callable[[Path, str], Harness]


@dataclass(frozen=True)
class Reference:
    """An undisturbed run of a source.

    :param arrived: the identities of its records. :param topic: that of its harness. :param topics: all it wrote to.
    :param took_s: from the start of its process to its end.
    :param expected: the values that the harness expects.
    """

    ended: Ended
    records: Sequence[Arrived]
    arrived: Counter[str]
    topic: str
    topics: frozenset[str]
    took_s: float
    expected: Sequence[Any] | None

    @property
    def duration_s(self) -> float:
        """How long it took, from its first phase on."""
        return float(self.ended.report["durations_s"]["total"]) if self.ended.report else 0.0


@dataclass
class Bench(ABC):
    """What all checks of a connector share.

    :param new_harness: makes the harness of a check. :param folder: for all files. :param seed: of random kills.
    """

    subject: Subject
    new_harness: HarnessOf
    worker: Mapping[str, str]
    folder: Path
    seed: int = 0

    @cached_property
    def topics(self) -> Topics:
        """The Kafka side."""
        return Topics(self.worker)

    @cached_property
    def runs(self) -> Runs:
        """Starts runs."""
        return Runs(self.subject, self.worker, self.folder)

    @property
    def is_sink(self) -> bool:
        """Whether the connector reads from Kafka."""
        return issubclass(self.subject.connector, SinkConnector)

    @cached_property
    def resolver(self) -> ConfigResolver:
        """Looks up variables of configurations, and hides their values."""
        return ConfigResolver.from_worker(self.worker)

    @property
    @abstractmethod
    def claims(self) -> Guarantee:
        """What the connector claims."""

    @property
    @abstractmethod
    def reference(self) -> Reference:
        """What an undisturbed run of all records delivers."""

    @property
    @abstractmethod
    def reads_all_again(self) -> bool:
        """Whether the connector is a source without offsets."""
