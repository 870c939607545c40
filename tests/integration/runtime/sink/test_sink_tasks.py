"""Runs of a Python sink whose task pauses, goes back, or asks for time: nothing is lost, and the report says so."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.local.broker_files import worker_config
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runtime.process.session import LazySession
from airflow_kconnect.runtime.settings import run_settings
from airflow_kconnect.runtime.sink.run import SinkRun
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support import unique
from tests.support.connectors.asking_sink import AskingSink
from tests.support.kafka import create_topic, produce

Asking = Callable[..., RunReport]


@pytest.fixture
def asking(worker_props: dict[str, str], spark: SparkSession, tmp_path: Path) -> Asking:
    """`asking(topic, what, **keys)` runs the sink; runs of a test are of one connector."""
    name = unique("asking")

    def go(topic: str, asks: str = "", *, worker: dict[str, str] = worker_props, **keys: str) -> RunReport:
        base = {"name": name, "connector.class": "VerifiableSink", "topics": topic}
        config = validate_connector({**base, "value.converter": "StringConverter", **keys})
        settings = run_settings(config, WorkerConfig.from_props(worker), "run")
        connector = AskingSink({**config.props, "asks": asks, "folder": str(tmp_path)})
        return SinkRun(settings, connector, LazySession("asking", spark)).run()

    return go


def _put(folder: Path) -> list[int]:
    return [offset for line in (folder / "put").read_text().splitlines() for offset in json.loads(line)]


def test_what_a_task_that_has_paused_was_not_put_is_for_the_next_run(
    asking: Asking, topic: Callable[..., str], bootstrap: str, tmp_path: Path
) -> None:
    name = topic()
    produce(bootstrap, name, ["a", "b", "c"])
    paused = asking(name, "pause", **{"kconnect.max.duration.ms": "500"})
    assert (paused.complete, paused.incomplete, paused.records["read"]) == (False, ["paused"], 0)
    assert paused.offsets == [{"topic": name, "partition": 0, "offset": 0}]
    assert asking(name).records["written"] == 3
    assert _put(tmp_path) == [0, 1, 2]


@pytest.mark.parametrize(("timeout_ms", "put_at_once"), [("0", False), ("60000", True)])
def test_a_failure_that_passes_ends_the_run_or_is_retried_within_it(
    timeout_ms: str, put_at_once: bool, asking: Asking, topic: Callable[..., str], bootstrap: str, tmp_path: Path
) -> None:
    name = topic()
    produce(bootstrap, name, ["a", "b", "c"])
    keys = {"errors.retry.timeout": timeout_ms, "errors.retry.delay.max.ms": "1"}
    with nullcontext() if put_at_once else pytest.raises(RetriableError, match="the target is unavailable"):
        asking(name, "unavailable", **keys)
    assert (tmp_path / "put").exists() is put_at_once


@pytest.fixture
def many(topic: Callable[..., str], bootstrap: str) -> str:
    """A topic with more records than a batch has."""
    name = topic()
    produce(bootstrap, name, [f"record-{n}" for n in range(12_000)])
    return name


def test_records_before_the_last_commit_are_read_again_in_the_same_run(
    asking: Asking, many: str, tmp_path: Path
) -> None:
    report = asking(many, "back")
    assert (report.complete, report.notes["rounds"], report.offsets[0]["offset"]) == (True, 2, 12_000)
    assert _put(tmp_path) == [*range(12_000), *range(5000, 12_000)]


def test_a_run_that_ends_after_its_task_went_back_loses_nothing(asking: Asking, many: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="after it went back"):
        asking(many, "fail")
    (tmp_path / "put").unlink()
    asking(many)
    assert _put(tmp_path)[0] <= 5000 and _put(tmp_path)[-1] == 11_999


@pytest.mark.exhaustive
def test_a_broker_may_restart_while_a_task_asks_for_time(
    asking: Asking, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    broker = EmbeddedBroker(tmp_path_factory.mktemp("broker"), heap_mb=256)
    broker.start()
    try:
        create_topic(broker.bootstrap, "numbers")
        produce(broker.bootstrap, "numbers", map(str, range(100)))

        def restart() -> None:
            while not (tmp_path / "asked").exists():
                time.sleep(0.05)
            broker.stop()
            broker.start()
            (tmp_path / "there").touch()

        thread = threading.Thread(target=restart)
        thread.start()
        worker = worker_config(broker.bootstrap)
        with suppress(RetriableError):  # Kafka's client may not survive a restart: the next run is for that
            asking("numbers", "time", worker=worker)
        thread.join()
        asking("numbers", worker=worker)
        assert set(_put(tmp_path)) == {*range(100)}
        assert asking("numbers", worker=worker).records["read"] == 0
    finally:
        broker.stop()
