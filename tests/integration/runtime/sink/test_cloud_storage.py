"""Confluent's sinks, from Kafka into S3, Google's store and Azure: runs in turn, killed runs, two runs at once.

They write by the rules of the directory sink, whose runs are killed in front of a store by `test_store_failures`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import pytest

from airflow_kconnect.runs.events import EXIT_FENCED
from tests.integration.runtime.conftest import STRING, Jobs, Run
from tests.support import unique
from tests.support.confluent_sinks import confluent_sink
from tests.support.kafka import produce
from tests.support.objects import objects_of
from tests.support.stores import Store, azure_store, google_store

pytestmark = pytest.mark.spark_submit

_RECORDS = 8_000

# Where the run is killed, and whether anything of it was visible by then.
_KILL_POINTS = [("mid-write", False), ("before-visible", False), ("after-visible", True), ("after-final-commit", True)]


_OTHERS = [pytest.param(each, marks=pytest.mark.exhaustive) for each in (azure_store, google_store)]


@pytest.fixture(scope="module", params=[None, *_OTHERS], ids=lambda made: "s3_store" if made is None else made.__name__)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, s3: Store) -> Iterator[Store]:
    with nullcontext(s3) if request.param is None else request.param(tmp_path_factory.mktemp("store")) as opened:
        yield opened


@pytest.fixture
def sink(topic: Callable[..., str], bootstrap: str, store: Store) -> dict[str, str]:
    """The sink over a topic with numbered records: a folder for each of ten fields, and keys next to them."""
    name = topic(partitions=2)
    send(bootstrap, name, 0, _RECORDS)
    return {
        "name": unique("sink"),
        **confluent_sink(store),
        "topics": name,
        "format.class": "JsonFormat",
        "partitioner.class": "io.confluent.connect.storage.partitioner.FieldPartitioner",
        "partition.field.name": "last",
        "flush.size": "280",
        "value.converter": "org.apache.kafka.connect.json.JsonConverter",
        "value.converter.schemas.enable": "false",
        "key.converter": STRING,
    }


def send(bootstrap: str, topic: str, first: int, after: int) -> None:
    produce(bootstrap, topic, [json.dumps({"n": n, "last": n % 10}) for n in range(first, after)])


Objects = Callable[[], dict[str, list[Any]]]


@pytest.fixture
def objects(sink: dict[str, str], store: Store) -> Objects:
    """Rows of each visible object of the topic, by the rest of its name."""

    def found() -> dict[str, list[Any]]:
        of_topic = objects_of(store, f"topics/{sink['topics']}/").items()
        return {
            name: [json.loads(line) for line in data.splitlines()]
            for name, data in of_topic
            if not name.startswith(".") and "/." not in name
        }

    return found


def numbers(objects: Objects) -> list[int]:
    return sorted(row["n"] for rows in objects().values() for row in rows)


def test_runs_in_turn(sink: dict[str, str], objects: Objects, bootstrap: str, run_here: Run) -> None:
    report = run_here(sink)
    assert report.records["written"] == _RECORDS
    assert numbers(objects) == list(range(_RECORDS))
    found = objects()
    assert all(name.startswith("last=") and len(rows) <= 280 for name, rows in found.items())
    assert {row["last"] for name, rows in found.items() for row in rows if name.startswith("last=3/")} == {3}
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
    assert any("year=1970/month=01/day=01/hour=00/" in name for name in objects())
    assert run_here(sink).records["written"] == 0
    assert numbers(objects) == list(range(_RECORDS + 10))


@pytest.mark.exhaustive
@pytest.mark.parametrize(("point", "visible"), _KILL_POINTS)
def test_killed_run_leaves_every_record_once(
    point: str, visible: bool, sink: dict[str, str], objects: Objects, bootstrap: str, run_here: Run, jobs: Jobs
) -> None:
    jobs.killed_at(point, sink)
    assert bool(objects()) is visible
    send(bootstrap, sink["topics"], _RECORDS, _RECORDS + 50)
    run_here({**sink, "flush.size": "200"})
    assert numbers(objects) == list(range(_RECORDS + 50))


@pytest.mark.parametrize("point", ["after-last-write", "before-visible", "after-visible"])
@pytest.mark.exhaustive
def test_older_of_two_runs_leaves_the_newer_ones_files(
    point: str, sink: dict[str, str], objects: Objects, run_here: Run, jobs: Jobs
) -> None:
    """The newer run's files begin at other offsets: to the older one they look like left-overs."""
    older = {**sink, "flush.size": "1000000"}
    assert jobs.overtaken_at(point, older, lambda: run_here(sink)) == EXIT_FENCED
    assert numbers(objects) == list(range(_RECORDS))
