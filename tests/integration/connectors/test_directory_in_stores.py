"""The directory sink in an object store: what runs that end at any step leave for the next one."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pytest

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.errors import FencedError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.directory.encoders.texts import decompressed
from airflow_kconnect.connectors.directory.sink import DirectorySinkConnector
from airflow_kconnect.places.base import StagedFile
from airflow_kconnect.places.registry import open_place
from tests.support import unique
from tests.support.stores import Store

_PARTITION = TopicPartition("t", 0)
_SPLITS = (SinkSplit("t", 0, 0, 30), SinkSplit("t", 0, 30, 60))

Results = list[tuple[SinkSplit, dict[str, Any]]]


# Two that have little in common: multipart uploads, and blobs that are copied. All are in the tests of places.
_MORE = [pytest.param(each, marks=pytest.mark.exhaustive) for each in ("minio", "gs", "hdfs")]


@pytest.fixture(scope="module", params=["s3", "azure", *_MORE])
def store(request: pytest.FixtureRequest, store_of: Callable[[str], Store]) -> Store:
    return store_of(request.param)


class Lake:
    """A folder of a store, and runs of a sink that write the numbers that are offsets."""

    def __init__(self, store: Store) -> None:
        self.props = {"name": "lake", "directory": f"{store.address}/{unique('lake')}", **store.settings}
        self.place = open_place(self.props["directory"], store.settings)

    def sink(self, settings: Mapping[str, str] | None = None, start: int = 0) -> DirectorySinkConnector:
        """One that has begun."""
        sink = DirectorySinkConnector({**self.props, "flush.size": "10", **(settings or {})})
        sink.check()
        sink.prepare({_PARTITION: start})
        return sink

    def staged(self, sink: DirectorySinkConnector) -> Results:
        """Its files, as tasks have written them."""
        results = []
        for split in _SPLITS:
            offsets = list(range(split.start, split.end))
            writer = sink.writer()
            writer.open(split)
            writer.write(pa.record_batch({"line": [f"{n}\n".encode() for n in offsets], "kafka_offset": offsets}))
            results.append((split, writer.close(split.end)))
        return results

    def run(self, settings: Mapping[str, str] | None = None) -> None:
        """A whole run from the beginning."""
        sink = self.sink(settings)
        staged = self.staged(sink)
        sink.before_commit()
        sink.commit(staged)

    def numbers(self) -> list[int]:
        """What readers see."""
        texts = []
        for file in self.place.files():
            with self.place.read(file) as opened:
                texts.append(decompressed(io.BytesIO(opened.read()), file.name).read())
        return sorted(int(line) for text in texts for line in text.splitlines())


@pytest.fixture
def lake(store: Store) -> Lake:
    return Lake(store)


_OTHER_SETTINGS = [
    pytest.param({"flush.size": "7"}, id="other bounds"),
    pytest.param({"compression": "zstd", "flush.size": "30"}, id="another compression", marks=pytest.mark.exhaustive),
    pytest.param({"format": "text"}, id="another format", marks=pytest.mark.exhaustive),
]


@pytest.mark.parametrize("published", [0, 4])
@pytest.mark.parametrize("settings", _OTHER_SETTINGS)
def test_after_a_run_that_ended_between_files_each_record_is_there_once(
    lake: Lake, published: int, settings: dict[str, str]
) -> None:
    files = [StagedFile.from_json(file) for _, facts in lake.staged(lake.sink()) for file in facts["files"]]
    for file in files[:published]:
        lake.place.publish(file)
    lake.run(settings)
    assert lake.numbers() == list(range(60))
    assert list(lake.place.staged()) == []


def test_files_of_a_run_that_was_killed_are_seen_only_where_it_had_published_them(lake: Lake) -> None:
    results = lake.staged(lake.sink())
    lake.place.publish(StagedFile.from_json(results[0][1]["files"][0]))
    assert lake.numbers() == list(range(10))


def test_an_older_run_cannot_publish_after_a_newer_one_has_begun(lake: Lake) -> None:
    older = lake.sink()
    staged = lake.staged(older)
    lake.run({"flush.size": "30"})
    with pytest.raises(FencedError, match=r"another run of this connector has (ended|removed) it"):
        older.commit(staged)
    assert lake.numbers() == list(range(60))
    assert list(lake.place.staged()) == []


def test_an_older_run_that_was_overtaken_between_two_files_changes_nothing(lake: Lake) -> None:
    """It publishes the first of them, the newer run does all, and then it continues."""
    older = lake.sink()
    staged = lake.staged(older)
    lake.place.publish(StagedFile.from_json(staged[0][1]["files"][0]))
    lake.run({"flush.size": "7"})
    before = list(lake.place.files())
    with pytest.raises(FencedError):
        older.commit(staged)
    assert lake.numbers() == list(range(60))
    assert list(lake.place.files()) == before


def test_an_older_run_that_still_writes_while_a_newer_one_does_all_cannot_publish(lake: Lake) -> None:
    older = lake.sink()
    writer = older.writer()
    writer.open(_SPLITS[0])
    writer.write(pa.record_batch({"line": [f"{n}\n".encode() for n in range(15)], "kafka_offset": list(range(15))}))
    lake.run({"flush.size": "30"})
    with pytest.raises(FencedError):  # where it ends a file, or where it shows it
        older.commit([(_SPLITS[0], writer.close(15))])
    assert lake.numbers() == list(range(60))
    assert list(lake.place.staged()) == []


def test_a_writer_that_fails_leaves_no_uploads(lake: Lake) -> None:
    writer = lake.sink().writer()
    writer.open(_SPLITS[0])
    writer.write(pa.record_batch({"line": [b"1\n"] * 15, "kafka_offset": list(range(15))}))
    writer.abort()
    assert list(lake.place.staged()) == []


def test_a_start_within_an_object_is_refused_with_its_address(lake: Lake) -> None:
    lake.run()
    (problem,) = DirectorySinkConnector.start_problems(lake.props, {_PARTITION: 13}, {_PARTITION: 60})
    name = "t/partition=0/t+0+0000000010.json"
    assert problem.startswith(f"t-0: offset 13 may be in the middle of {name}")
    assert f"use 10 or 20, or move the file out of {lake.props['directory']} first" in problem


def test_fields_are_those_of_the_newest_object(lake: Lake) -> None:
    staging = lake.place.stage("t/partition=0/t+0+0000000000.json.gz")
    staging.write(gzip.compress(json.dumps({"id": 1, "name": "x"}).encode()))
    lake.place.publish(staging.finish())
    sink = lake.sink({"kconnect.schema.change": "fail"}, start=1)
    assert sink._tables is not None
    assert list(sink._tables.by_topic["t"]) == ["id", "name"]
