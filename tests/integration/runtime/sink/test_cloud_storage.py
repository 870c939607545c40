"""Confluent's S3 sink, from Kafka into S3 (moto): runs in turn, killed runs, two runs at once.

Its 22 CPU seconds are those of a job of its own, which can be killed, and of Spark in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.run import EXIT_FENCED, EXIT_RETRIABLE
from tests.integration.runtime.conftest import STRING, Run
from tests.support import kill_points, unique
from tests.support.kafka import produce
from tests.support.spark.jobs import end_of_overtaken, kill_job_at
from tests.support.stores import Store, moto_store

pytestmark = pytest.mark.spark_submit

_RECORDS = 20_000

# Where the run is killed, and whether anything of it was visible by then.
_KILL_POINTS = [("mid-write", False), ("before-visible", False), ("after-visible", True), ("after-final-commit", True)]


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    with moto_store() as opened:
        yield opened


@pytest.fixture
def sink(topic: Callable[..., str], bootstrap: str, store: Store) -> dict[str, str]:
    """The sink over a topic with numbered records: a folder for each of ten fields, and keys beside."""
    name = topic(partitions=2)
    send(bootstrap, name, 0, _RECORDS)
    return {
        "name": unique("sink"),
        "connector.class": "io.confluent.connect.s3.S3SinkConnector",
        "topics": name,
        "s3.bucket.name": store.address.removeprefix("s3://"),
        "s3.region": "us-east-1",
        "store.url": store.settings["store.endpoint"],
        "aws.access.key.id": store.settings["store.access.key.id"],
        "aws.secret.access.key": store.settings["store.secret.access.key"],
        "storage.class": "io.confluent.connect.s3.storage.S3Storage",
        "format.class": "io.confluent.connect.s3.format.json.JsonFormat",
        "partitioner.class": "io.confluent.connect.storage.partitioner.FieldPartitioner",
        "partition.field.name": "last",
        "flush.size": "700",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        "key.converter": STRING,
    }


def send(bootstrap: str, topic: str, first: int, after: int) -> None:
    produce(bootstrap, topic, [json.dumps({"n": n, "last": n % 10}) for n in range(first, after)])


def objects(sink: dict[str, str]) -> dict[str, list[Any]]:
    import boto3

    client = boto3.client(
        "s3",
        endpoint_url=sink["store.url"],
        region_name="us-east-1",
        aws_access_key_id=sink["aws.access.key.id"],
        aws_secret_access_key=sink["aws.secret.access.key"],
    )
    bucket = sink["s3.bucket.name"]
    pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"topics/{sink['topics']}/")
    names = [each["Key"] for page in pages for each in page.get("Contents", ())]
    bodies = {name: client.get_object(Bucket=bucket, Key=name)["Body"].read().decode() for name in names}
    return {name: [json.loads(line) for line in body.splitlines()] for name, body in bodies.items()}


def numbers(sink: dict[str, str]) -> list[int]:
    return sorted(row["n"] for rows in objects(sink).values() for row in rows)


def test_runs_in_turn(sink: dict[str, str], bootstrap: str, run_here: Run) -> None:
    report = run_here(sink)
    assert report.records["written"] == _RECORDS
    assert numbers(sink) == list(range(_RECORDS))
    begin = f"topics/{sink['topics']}/last="
    found = objects(sink)
    assert all(name.startswith(begin) and len(rows) <= 700 for name, rows in found.items())
    assert {row["last"] for name, rows in found.items() for row in rows if name.startswith(f"{begin}3/")} == {3}
    send(bootstrap, sink["topics"], _RECORDS, _RECORDS + 10)
    produce(bootstrap, sink["topics"], ['{"n": -1}', None])
    tolerant = {
        **sink,
        "partitioner.class": "HourlyPartitioner",
        "locale": "en",
        "timezone": "UTC",
        "timestamp.extractor": "RecordField",
        "timestamp.field": "last",
        "behavior.on.null.values": "ignore",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": f"{sink['topics']}-dead",
    }
    records = run_here(tolerant).records
    assert (records["written"], records["dead_lettered"], records["filtered"]) == (10, 1, 1)
    assert any("/year=1970/month=01/day=01/hour=00/" in name for name in objects(sink))
    assert run_here(sink).records["written"] == 0
    assert numbers(sink) == list(range(_RECORDS + 10))


@pytest.mark.parametrize(("point", "visible"), kill_points(_KILL_POINTS, always=("after-visible",)))
def test_killed_run_leaves_every_record_once(
    point: str,
    visible: bool,
    sink: dict[str, str],
    worker_props: dict[str, str],
    bootstrap: str,
    run_here: Run,
    tmp_path: Path,
) -> None:
    kill_job_at(point, sink, worker_props, tmp_path)
    assert bool(objects(sink)) is visible
    send(bootstrap, sink["topics"], _RECORDS, _RECORDS + 50)
    run_here({**sink, "flush.size": "500"})
    assert numbers(sink) == list(range(_RECORDS + 50))


# moto answers with an error of its own where an upload is gone.
@pytest.mark.parametrize(
    ("point", "code"),
    [("after-last-write", EXIT_FENCED), ("before-visible", EXIT_RETRIABLE), ("after-visible", EXIT_FENCED)],
)
@pytest.mark.exhaustive
def test_older_of_two_runs_leaves_the_newer_ones_files(
    point: str, code: int, sink: dict[str, str], worker_props: dict[str, str], run_here: Run, tmp_path: Path
) -> None:
    """The newer run's files begin at other offsets: to the older one they look like left-overs."""
    older = {**sink, "flush.size": "1000000"}
    assert end_of_overtaken(point, older, worker_props, tmp_path, lambda: run_here(sink)) == code
    assert numbers(sink) == list(range(_RECORDS))
