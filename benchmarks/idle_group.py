"""``python -m benchmarks.idle_group``: a group of connectors none of which has anything new, from start to end."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from airflow_kconnect.connect.group import GroupSpec
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connect.run import RunSpec
from airflow_kconnect.connect.validation.worker_keys import WorkerConfig
from airflow_kconnect.kafka.clients import ClientConfigs
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.kafka.producers import FlushingProducer, TransactionalProducer
from airflow_kconnect.stores.offset_topic.records import offset_key, offset_value
from airflow_kconnect.stores.sink_positions import SinkPositions
from airflow_kconnect.stores.topics import ensure_offset_topic
from benchmarks import environment
from benchmarks.measure import Say
from benchmarks.settings import STRING, our_worker
from tests.support.kafka import create_topic, produce

app = typer.Typer(add_completion=False)

_TOPICS, _PARTITIONS = 5, 3
_JOB = Path(__file__).parent.parent / "jobs" / "connector_job.py"
# At the end, so that an earlier reader of the list of a group's options finds them as they are.
_SPARK = ["--master", "local[2]", "--driver-memory", "1g"]


@app.command()
def main(
    sinks: Annotated[int, typer.Option(help="File sinks.")] = 500,
    sources: Annotated[int, typer.Option(help="File sources.")] = 500,
    others: Annotated[int, typer.Option(help="Source partitions of others in the offset topic.")] = 0,
    passes: Annotated[int, typer.Option(help="Passes.")] = 3,
    statuses: Annotated[bool, typer.Option(help="With the statuses and entries of the runs.")] = True,
) -> None:
    """Print seconds of the clock and of CPU of each pass, the first of which finds no entries of earlier runs."""
    say = environment.console()
    with environment.broker(say) as place:
        worker = our_worker(place.bootstrap) | ({"status.storage.topic": "connect-status"} if statuses else {})
        configs = [*_sinks(place.folder, worker, sinks), *_sources(place.folder, worker, sources)]
        _fill(worker, others)
        for _ in range(passes):
            _pass(place.folder, worker, configs, say)


def _sinks(folder: Path, worker: dict[str, str], count: int) -> list[dict[str, str]]:
    """Sinks that have read their topics, as a run leaves them."""
    topics = [create_topic(worker["bootstrap.servers"], f"idle-{n}", _PARTITIONS) for n in range(_TOPICS)]
    for topic in topics:
        produce(worker["bootstrap.servers"], topic, map(str, range(1000)))
    keys, clients = WorkerConfig.from_props(worker), ClientConfigs(worker)
    admin = GroupAdmin(clients.admin())
    ensure_offset_topic(admin, keys, keys.offset_topic)
    producer = TransactionalProducer(clients.producer("idle-group"), "benchmark")
    configs = []
    for n in range(count):
        topic = topics[n % _TOPICS]
        config = {"name": f"sink-{n}", "connector.class": "FileStreamSink", "topics": topic}
        configs.append({**config, "file": str(folder / f"out-{n}.txt"), "value.converter": STRING})
        positions = SinkPositions(clients, keys, admin, f"connect-sink-{n}")
        ends = admin.bounds([TopicPartition(topic, p) for p in range(_PARTITIONS)])
        positions.look_up([topic])
        positions.commit(producer, {tp: bounds.end for tp, bounds in ends.items()})
    producer.close()
    return configs


def _sources(folder: Path, worker: dict[str, str], count: int) -> list[dict[str, str]]:
    """Sources that have read their files, as a run leaves them apart from fingerprints."""
    from airflow_kconnect.connectors.file.inputs import fingerprint
    from airflow_kconnect.stores.offset_topic.records import facts_key

    producer = FlushingProducer(ClientConfigs(worker).small_producer(), "benchmark")
    topic, configs = WorkerConfig.from_props(worker).offset_topic, []
    for n in range(count):
        path = folder / f"in-{n}.txt"
        path.write_text("a line of a log\n" * 1000)
        size, partition, name = path.stat().st_size, {"filename": str(path)}, f"source-{n}"
        producer.produce_patiently(topic, offset_value({"position": size}), offset_key(name, partition))
        facts = facts_key(name, json.dumps(partition, separators=(",", ":")))
        producer.produce_patiently(topic, offset_value(fingerprint(path, size)), facts)
        config = {"name": name, "connector.class": "FileStreamSource", "topic": "lines", "file": str(path)}
        configs.append({**config, "value.converter": STRING})
    producer.flush()
    producer.close()
    return configs


def _fill(worker: dict[str, str], others: int) -> None:
    producer = FlushingProducer(ClientConfigs(worker).producer(None), "benchmark")
    topic = WorkerConfig.from_props(worker).offset_topic
    for n in range(others):
        key = offset_key(f"other-{n % 100}", {"filename": f"/data/of/others/{n}.txt"})
        producer.produce_patiently(topic, offset_value({"position": n}), key)
    producer.flush()
    producer.close()


def _pass(folder: Path, worker: dict[str, str], configs: list[dict[str, str]], say: Say) -> None:
    group = GroupSpec(tuple(RunSpec(config, worker) for config in configs))
    path = folder / "group.json"
    path.write_text(json.dumps(group.as_dict()))
    path.chmod(0o600)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(
        [sys.executable, str(_JOB), "--run", str(path)],
        env={**os.environ, "KCONNECT_SPARK_OPTIONS": json.dumps(_SPARK)},
        capture_output=True,
        text=True,
        check=False,
    )
    took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode or done.stdout.count('"event":"report"') != len(configs) or '"fencing"' in done.stdout:
        raise RuntimeError(f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    each = cpu / len(configs) * 1000
    say(f"{len(configs):,} connectors: {took:.1f} s, {cpu:.1f} s CPU, {each:.1f} ms CPU each")


if __name__ == "__main__":
    app()
