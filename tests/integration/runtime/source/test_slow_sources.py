"""Python sources that deliver little, or nothing for a while: what they have delivered does not wait for more."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runtime.process.session import LazySession
from airflow_kconnect.runtime.settings import run_settings
from airflow_kconnect.runtime.source.run import SourceRun
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support import unique
from tests.support.connectors.quiet_source import QuietSource
from tests.support.kafka import read_values

SCHEMALESS = {
    "key.converter": "org.apache.kafka.connect.json.JsonConverter",
    "key.converter.schemas.enable": "false",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
    "transaction.boundary.interval.ms": "500",
    # The broker aborts what is open for longer.
    "producer.override.transaction.timeout.ms": "5000",
}


@pytest.fixture
def background() -> Iterator[ThreadPoolExecutor]:
    """For a run that the test looks on at."""
    with ThreadPoolExecutor(1) as pool:
        yield pool


def arrived_during(run: Future[RunReport], bootstrap: str, topic: str, count: int) -> list[int]:
    """The committed numbers in a topic as soon as there are that many, while the run is in progress."""
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline and not run.done():
        found = [int(json.loads(value or b"")) for value in read_values(bootstrap, topic)]
        if len(found) >= count and not run.done():
            return found
        time.sleep(0.1)
    return []


@pytest.fixture
def slow_source(
    topic: Callable[..., str], worker_props: dict[str, str], spark: SparkSession, tmp_path: Path
) -> Callable[[int, int], tuple[SourceRun, str]]:
    """`slow_source(records, then)`: a run that continues until the file ``over`` is there, and its topic."""

    def make(records: int, then: int) -> tuple[SourceRun, str]:
        own = {"topic": topic(), "records": str(records), "then": str(then), "until": str(tmp_path / "over")}
        base = {"name": unique("slow"), "connector.class": "VerifiableSource", "topic": own["topic"]}
        config = validate_connector({**base, **SCHEMALESS})
        settings = run_settings(config, WorkerConfig.from_props(worker_props), "run")
        return SourceRun(settings, QuietSource({**config.props, **own}), LazySession("slow", spark)), own["topic"]

    return make


@pytest.mark.parametrize(("records", "then"), [(6000, 0), (1, 1)], ids=["a burst, then silence", "a trickle"])
def test_records_are_visible_and_safe_while_the_source_is_polled(
    records: int,
    then: int,
    slow_source: Callable[[int, int], tuple[SourceRun, str]],
    bootstrap: str,
    background: ThreadPoolExecutor,
    tmp_path: Path,
) -> None:
    source, topic = slow_source(records, then)
    run = background.submit(source.run)
    try:
        found = arrived_during(run, bootstrap, topic, records)
        time.sleep(6.5)  # longer than a transaction may be open
    finally:
        (tmp_path / "over").touch()
    report = run.result()
    assert found[:records] == list(range(records))
    assert len(read_values(bootstrap, topic)) == report.records["read"] == report.records["written"]


def test_a_connector_that_does_not_say_so_is_not_reported_as_exactly_once(
    slow_source: Callable[[int, int], tuple[SourceRun, str]], tmp_path: Path
) -> None:
    """It does not say whether its offsets identify its records."""
    (tmp_path / "over").touch()
    assert slow_source(1, 0)[0].run().guarantee == "at_least_once"
