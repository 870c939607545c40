"""Fixtures for tests of connectors: `pytest -p airflow_kconnect.pytest_plugin`, or `addopts` in pyproject.toml.

Nothing is imported and nothing is started before a test asks for it.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from airflow_kconnect.conformance import Arrived, SinkHarness, SourceHarness
    from airflow_kconnect.conformance.findings import Verdict
    from airflow_kconnect.conformance.runs import Ended
    from airflow_kconnect.connect.connector.base import Connector
    from airflow_kconnect.functions.decorated import Decorated
    from airflow_kconnect.local.broker import EmbeddedBroker

__all__ = [
    "Conforms",
    "Moved",
    "RunSink",
    "RunSource",
    "broker",
    "conforms",
    "kconnect_worker",
    "run_sink",
    "run_source",
    "spark",
]

_SECONDS = 180.0
_OF_SINKS = {
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
}


@dataclass(frozen=True)
class Moved:
    """What a run of a connector has done.

    :param report: see `kconnect run --json`; empty if it has failed. :param error: how it has failed, in one line.
    :param records: those that a source has written in this run.
    """

    report: Mapping[str, Any]
    exit_code: int = 0
    error: str | None = None
    records: list[Arrived] = field(default_factory=list)

    @property
    def values(self) -> list[Any]:
        """The values of the records, as JSON data without schemas."""
        return [record.plain() for record in self.records]


class RunSource(Protocol):
    """Runs a source."""

    def __call__(self, config: Mapping[str, Any], *, check: bool = True) -> Moved:
        """A run, as `kconnect run` makes it.

        :param config: its `connector.class` may be a class that is not installed. Without a `name` it gets one. A run
            with the same name resumes.
        :param check: a run that fails is a failure of the test.
        """


class RunSink(Protocol):
    """Runs a sink."""

    def __call__(self, config: Mapping[str, Any], records: Iterable[Any] = (), *, check: bool = True) -> Moved:
        """Write records to the sink's topic, then run it.

        :param config: as for sources. Without `topics` it gets one; without converters values are plain JSON.
        :param records: values: JSON data, bytes, or None for a tombstone; or pairs of a key and such a value.
        :param check: a run that fails is a failure of the test.
        """


class Conforms(Protocol):
    """Makes the checks of `kconnect conformance`."""

    def __call__(
        self,
        connector: type[Connector] | Decorated[..., Any] | str,
        harness: type[SourceHarness] | type[SinkHarness],
        *only: str,
    ) -> Verdict:
        """The verdict. A check that fails is a failure of the test. :param only: names of checks; none: all."""


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    """A real Kafka broker for all tests."""
    from airflow_kconnect.local.broker import EmbeddedBroker

    embedded = EmbeddedBroker(tmp_path_factory.mktemp("broker"))
    embedded.start()
    yield embedded
    embedded.stop()


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A Spark session with the settings that jobs have."""
    import os
    import sys

    from pyspark.sql import SparkSession

    from airflow_kconnect.converters.types import SESSION_CONF
    from airflow_kconnect.runtime.process.session import START_CONF

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("tests")
    for key, value in {**START_CONF, **SESSION_CONF, "spark.ui.enabled": "false", "spark.log.level": "ERROR"}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def kconnect_worker(broker: EmbeddedBroker) -> dict[str, str]:
    """The worker's keys for the broker."""
    from airflow_kconnect.local.broker_files import worker_config
    from airflow_kconnect.submit.worker_defaults import with_defaults

    return with_defaults({**worker_config(broker.bootstrap), "group.id": f"tests-{uuid.uuid4().hex[:8]}"})


@pytest.fixture
def run_source(kconnect_worker: dict[str, str], tmp_path: Path) -> RunSource:
    """Runs a source; see `RunSource`."""
    from airflow_kconnect.conformance.topics import Topics

    topics = Topics(kconnect_worker)

    def run(config: Mapping[str, Any], *, check: bool = True) -> Moved:
        begins = topics.ends()
        moved = _moved(config, kconnect_worker, tmp_path, check=check)
        return Moved(moved.report, moved.exit_code, moved.error, topics.since(begins, moved.report.get("topics", ())))

    return run


@pytest.fixture
def run_sink(kconnect_worker: dict[str, str], tmp_path: Path) -> RunSink:
    """Runs a sink; see `RunSink`."""
    from airflow_kconnect.conformance.topics import Topics

    topics, unnamed = Topics(kconnect_worker), f"topic-{uuid.uuid4().hex[:8]}"

    def run(config: Mapping[str, Any], records: Iterable[Any] = (), *, check: bool = True) -> Moved:
        complete = {**_OF_SINKS, "topics": unnamed, **config}
        topics.create(complete["topics"])
        topics.write(complete["topics"], map(_message, records))
        return _moved(complete, kconnect_worker, tmp_path, check=check)

    return run


@pytest.fixture
def conforms(kconnect_worker: dict[str, str], tmp_path: Path) -> Conforms:
    """Makes checks; see `Conforms`."""
    from airflow_kconnect.conformance.findings import Status
    from airflow_kconnect.conformance.lab import Lab
    from airflow_kconnect.conformance.subject import Subject
    from airflow_kconnect.conformance.suite import checks_of, examined

    def check(
        connector: type[Connector] | Decorated[..., Any] | str,
        harness: type[SourceHarness] | type[SinkHarness],
        *only: str,
    ) -> Verdict:
        subject = Subject.of(connector, tmp_path)
        lab = Lab(subject, harness, kconnect_worker, tmp_path)
        verdict = examined(lab, checks_of(subject, only))
        if failed := [f"{each.check}: {each.text}" for each in verdict.findings if each.status is Status.FAILED]:
            pytest.fail("\n".join(failed), pytrace=False)
        return verdict

    return check


def _moved(config: Mapping[str, Any], worker: Mapping[str, str], folder: Path, *, check: bool) -> Moved:
    from airflow_kconnect.conformance.runs import Runs
    from airflow_kconnect.conformance.subject import Subject

    subject = Subject.of(config["connector.class"], folder)
    named = {"name": f"test-{uuid.uuid4().hex[:8]}", **config, "connector.class": subject.name}
    with Runs(subject, worker, folder).started(named) as job:
        ended = job.wait(_SECONDS)
    if ended is None:
        pytest.fail(f"the run has not ended within {_SECONDS:.0f} s", pytrace=False)
    if check and ended.report is None:
        pytest.fail(ended.text, pytrace=False)
    return _as_moved(ended)


def _as_moved(ended: Ended) -> Moved:
    return Moved(ended.report or {}, ended.exit_code, None if ended.report is not None else ended.text)


def _message(record: Any) -> tuple[bytes | None, bytes | None]:
    key, value = record if isinstance(record, tuple) else (None, record)
    return (key.encode() if isinstance(key, str) else key), _bytes(value)


def _bytes(value: Any) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    return json.dumps(value, ensure_ascii=False).encode()
