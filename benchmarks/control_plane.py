"""The REST API with many registered connectors: start, list, status under load, a write seen by another server.

    python -m benchmarks.control_plane --connectors 1000

One process of `kconnect rest` with a token, an embedded broker next to it, and a client that asks at a fixed rate.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx

from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.partitions import partition_of
from airflow_kconnect.kafka.producers import FlushingProducer
from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.local.broker_files import worker_config
from airflow_kconnect.stores.config_topic import records
from airflow_kconnect.stores.config_topic.records import RecordKey
from airflow_kconnect.stores.config_topic.store import ConfigStore
from airflow_kconnect.stores.status_topic.records import State, Status
from airflow_kconnect.stores.status_topic.run_records import MOST_RUNS, ConnectorRuns, RunRecord, RunsKey, RunState
from airflow_kconnect.stores.status_topic.store import StatusStore
from airflow_kconnect.worker_config.keys import WorkerConfig

_STATUS_PARTITIONS = 5
TOKEN = "a-token-of-a-benchmark"
_CONFIG = {
    "connector.class": "FileStreamSource",
    "tasks.max": "2",
    "file": "/data/orders.csv",
    "topic": "orders",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    "transforms": "insert",
    "transforms.insert.type": "org.apache.kafka.connect.transforms.InsertHeader",
    "transforms.insert.header": "source",
    "transforms.insert.value.literal": "orders",
}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connectors", type=int, default=1000)
    parser.add_argument("--rate", type=int, default=200, help="requests per second")
    parser.add_argument("--seconds", type=int, default=15)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, _broker(Path(folder)) as broker:
        props = worker_config(broker.bootstrap)
        _register(props, options.connectors)
        _measure(props, Path(folder), options)


def _measure(props: dict[str, str], folder: Path, options: argparse.Namespace) -> None:
    worker = folder / "worker.properties"
    worker.write_text("".join(f"{key}={value}\n" for key, value in props.items()))
    started = time.monotonic()
    with _server(worker) as url, httpx.Client(base_url=url, headers={"Authorization": f"Bearer {TOKEN}"}) as client:
        assert len(client.get("/connectors").json()) == options.connectors
        print(f"process started, topics read, first answer: {time.monotonic() - started:.2f} s")
        for path in ("/connectors", "/connectors?expand=status&expand=info", "/v1/connectors?known="):
            times = [_ms(client, path) for _ in range(20)]
            print(f"GET {path}: median {statistics.median(times):.1f} ms, worst {max(times):.1f} ms")
        times = _load(url, options)
        times.sort()
        print(
            f"GET status, {options.rate}/s for {options.seconds} s: median {statistics.median(times):.1f} ms,"
            f" p99 {times[int(len(times) * 0.99)]:.1f} ms, worst {times[-1]:.1f} ms, {len(times)} answers"
        )
        with _server(worker) as other, httpx.Client(base_url=other, headers=client.headers) as reader:
            times = [_seen_ms(client, reader, f"connector-{number}") for number in range(20)]
            print(
                f"seen by another server after a write was answered: median {statistics.median(times):.0f} ms,"
                f" worst {max(times):.0f} ms"
            )


def _load(url: str, options: argparse.Namespace) -> list[float]:
    """Milliseconds from the moment when each request was due to its answer."""
    local = threading.local()
    begin = time.monotonic() + 0.5

    def ask(number: int) -> float:
        if not hasattr(local, "client"):
            local.client = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {TOKEN}"})
        due = begin + number / options.rate
        time.sleep(max(0.0, due - time.monotonic()))
        local.client.get(f"/connectors/connector-{number % options.connectors}/status").raise_for_status()
        return float((time.monotonic() - due) * 1000)

    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(ask, range(options.rate * options.seconds)))


def _seen_ms(writer: httpx.Client, reader: httpx.Client, name: str) -> float:
    """Milliseconds from the answer to a write until another server knows it."""
    writer.put(f"/connectors/{name}/pause").raise_for_status()
    answered = time.perf_counter()
    while reader.get(f"/connectors/{name}/status").json()["connector"]["state"] != "PAUSED":
        time.sleep(0.005)
    return (time.perf_counter() - answered) * 1000


def _ms(client: httpx.Client, path: str) -> float:
    began = time.perf_counter()
    client.get(path).raise_for_status()
    return (time.perf_counter() - began) * 1000


def _register(props: dict[str, str], count: int) -> None:
    """Write the records of this many connectors, without validating each."""
    worker = WorkerConfig.from_props(props)
    clients = ClientConfigs(worker.props)
    store = ConfigStore(worker)
    with store.writing():
        pass  # makes the topic
    producer = FlushingProducer(clients.producer(None), "registering connectors")
    statuses, running = StatusStore(worker), Status(State.RUNNING, "benchmark:8083", 0, version="1.0")
    names = [f"connector-{number}" for number in range(count)]
    statuses.put_all_states((name, running, range(2)) for name in names)
    for name in names:
        value = records.encode_properties({**_CONFIG, "name": name})
        producer.produce_patiently(worker.config_topic, value, RecordKey(records.CONNECTOR, name).encode(), 0)
        key = RunsKey(name).encode()
        partition = partition_of(key, _STATUS_PARTITIONS)
        producer.produce_patiently(worker.status_topic, _runs(name).encode(), key, partition)
    producer.flush()
    producer.close()
    statuses.close()
    store.close()


def _runs(name: str) -> ConnectorRuns:
    """As many runs as are remembered, with a report each."""
    now_ms = int(time.time() * 1000)
    counts = {"read": 1_000, "written": 990, "filtered": 8, "dead_lettered": 2}
    runs = [
        RunRecord(
            f"{name}-{number}",
            RunState.SUCCESS,
            now_ms - number * 900_000,
            now_ms - number * 900_000 + 12_000,
            counts,
            ("2 records could not be moved and are dead letters",),
            ("dead_letters",),
            complete=True,
            origin={"dag": f"kconnect.{name}", "task": "run", "run": f"scheduled__{number}", "map_index": -1, "try": 1},
        )
        for number in range(MOST_RUNS)
    ]
    return ConnectorRuns(_CONFIG, "FileStreamSource", "source", ("orders",), runs=tuple(runs))


@contextmanager
def _broker(folder: Path) -> Iterator[EmbeddedBroker]:
    broker = EmbeddedBroker(folder / "broker")
    broker.start()
    try:
        yield broker
    finally:
        broker.stop()


@contextmanager
def _server(worker: Path) -> Iterator[str]:
    command = [str(Path(sys.executable).with_name("kconnect")), "rest", "--port", "0", "--worker", str(worker)]
    environment = {**os.environ, "KCONNECT_REST_TOKEN": TOKEN}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            assert server.stdout is not None
            match = re.search(r"http://\S+", server.stdout.readline())
            assert match, "the server has not started"
            yield match[0]
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
