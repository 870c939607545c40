"""A tuned Kafka Connect has the client settings that our runs have."""

from __future__ import annotations

import pytest

from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.runtime.settings import run_settings
from airflow_kconnect.validation.connector import validate_connector
from airflow_kconnect.worker_config.client_keys import to_librdkafka
from airflow_kconnect.worker_config.keys import WorkerConfig
from benchmarks import settings

OURS = ClientConfigs({"bootstrap.servers": "localhost:9092"})


def overrides(config: dict[str, str], client: str) -> dict[str, str]:
    prefix = f"{client}.override."
    return {key.removeprefix(prefix): value for key, value in config.items() if key.startswith(prefix)}


@pytest.mark.parametrize("key", ["linger.ms", "batch.size", "compression.type", "acks", "queue.buffering.max.kbytes"])
def test_the_tuned_producer_is_ours(key: str) -> None:
    tuned = to_librdkafka(overrides(settings.tuned_source(), "producer"))
    assert str(tuned[key]) == str(OURS.producer("any")[key])


@pytest.mark.parametrize("key", ["fetch.wait.max.ms", "isolation.level"])
def test_the_tuned_consumer_is_ours(key: str) -> None:
    tuned = to_librdkafka(overrides(settings.tuned_sink(), "consumer"))
    assert str(tuned[key]) == str(OURS.consumer("any", bulk=True)[key])


def test_the_tuned_consumer_reads_as_far_ahead_as_ours() -> None:
    kilobytes = OURS.consumer("any", bulk=True)["queued.max.messages.kbytes"]
    assert overrides(settings.tuned_sink(), "consumer")["max.partition.fetch.bytes"] == str(kilobytes * 1024)


def test_our_transactions_end_when_those_of_a_tuned_source_do() -> None:
    worker = WorkerConfig.from_props(settings.our_worker("localhost:9092"))
    config = {"name": "x", "connector.class": "FileStreamSource", "file": "/tmp/x", "topic": "x"}
    ours = run_settings(validate_connector(config | settings.our_source(), worker=worker), worker, "run")
    assert str(ours.chunk_ms) == settings.tuned_source()["transaction.boundary.interval.ms"]
