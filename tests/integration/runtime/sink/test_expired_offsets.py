"""A broker that forgets the offsets of groups after a minute: no sink begins again because of that."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from confluent_kafka import Consumer

from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.local.broker_files import worker_config
from airflow_kconnect.runs.report import RunReport
from tests.integration.runtime.conftest import STRING, Run
from tests.support import unique
from tests.support.kafka import create_topic, produce

pytestmark = [pytest.mark.exhaustive, pytest.mark.timeout(600)]

_FORGETFUL = {"offsets.retention.minutes": "1", "offsets.retention.check.interval.ms": "2000"}


@pytest.fixture(scope="module")
def forgetful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`host:port` of a broker of its own."""
    broker = EmbeddedBroker(tmp_path_factory.mktemp("forgetful"), heap_mb=256, settings=_FORGETFUL)
    broker.start()
    yield broker.bootstrap
    broker.stop()


class Sink:
    """A file sink over a topic of that broker."""

    def __init__(self, bootstrap: str, folder: Path, run_here: Run) -> None:
        name = unique("sink")
        self.bootstrap, self.group, self.topic = bootstrap, f"connect-{name}", create_topic(bootstrap, unique("topic"))
        self._file, self._run_here = folder / "out.txt", run_here
        self._config: Mapping[str, str] = {
            "name": name,
            "connector.class": "FileStreamSink",
            "topics": self.topic,
            "file": str(self._file),
            "value.converter": STRING,
        }

    def run(self) -> RunReport:
        return self._run_here(self._config, **worker_config(self.bootstrap))

    def lines(self) -> list[str]:
        return self._file.read_text().splitlines()

    def produce(self, *values: str) -> None:
        produce(self.bootstrap, self.topic, values)

    def committed(self) -> list[int]:
        return list(KafkaAdmin({"bootstrap.servers": self.bootstrap}).committed_offsets(self.group).values())


@pytest.fixture
def sink(forgetful: str, tmp_path: Path, run_here: Run) -> Sink:
    return Sink(forgetful, tmp_path, run_here)


def test_offsets_that_have_expired_double_nothing(sink: Sink) -> None:
    sink.produce("one", "two")
    sink.run()
    deadline_s = time.monotonic() + 180
    while sink.committed():
        assert time.monotonic() < deadline_s, "the broker has not forgotten the offsets"
        time.sleep(1)
    sink.produce("three")
    warnings = sink.run().warnings
    assert sink.lines() == ["one", "two", "three"]
    assert any("has lost its offsets" in text for text in warnings)


def test_offsets_of_a_group_of_connect_stay_while_runs_commit(sink: Sink) -> None:
    sink.produce("of Connect", "first")
    member = Consumer({"bootstrap.servers": sink.bootstrap, "group.id": sink.group, "auto.offset.reset": "earliest"})
    member.subscribe([sink.topic])
    assert member.poll(60) is not None
    member.commit(asynchronous=False)
    member.close()
    left_s = time.monotonic()
    while time.monotonic() < left_s + 100:  # well after the minute since the last consumer has left
        sink.run()
        assert sink.committed() == [2]
        time.sleep(15)
    assert sink.lines() == ["first"]
