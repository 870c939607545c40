"""Each of Confluent's sinks in the store of its name, without Spark: objects, leftovers of killed runs, encryption."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.errors import ConfigError, FencedError, RetriableError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.cloud_storage.azure import AzureBlobStorageSinkConnector
from airflow_kconnect.connectors.cloud_storage.gcs import GcsSinkConnector
from airflow_kconnect.connectors.cloud_storage.s3 import S3SinkConnector
from airflow_kconnect.connectors.cloud_storage.sink import CloudStorageSinkConnector
from airflow_kconnect.places.registry import open_place
from tests.support import unique
from tests.support.confluent_sinks import confluent_sink
from tests.support.stores import Store

_COMMON = {"format.class": "JsonFormat", "flush.size": "2", "partitioner.class": "FieldPartitioner",
           "partition.field.name": "f"}  # fmt: skip

Sink = Callable[..., CloudStorageSinkConnector]


_CLASSES: dict[str, type[CloudStorageSinkConnector]] = {
    "s3": S3SinkConnector,
    "gs": GcsSinkConnector,
    "abfss": AzureBlobStorageSinkConnector,
}


# One store for each class; what MinIO does otherwise is in the tests of places.
_MINIO = pytest.param("minio", marks=pytest.mark.exhaustive)


@pytest.fixture(scope="module", params=["moto", _MINIO, "gs", "azure"])
def opened(request: pytest.FixtureRequest, store_of: Callable[[str], Store]) -> tuple[Store, Sink]:
    store = store_of(request.param)
    scheme = store.address.partition(":")[0]
    own = {"topics": "t", **_COMMON, **confluent_sink(store)}
    return store, lambda **more: _CLASSES[scheme]({**own, **more})


def written(
    connector: CloudStorageSinkConnector, first: int, folders: str, topic: str = "t"
) -> tuple[SinkSplit, dict[str, Any]]:
    """What a task does with a record for each letter."""
    split = SinkSplit(topic, 0, first, first + len(folders))
    writer = connector.writer()
    writer.open(split)
    offsets = range(split.start, split.end)
    columns = {
        "values": pa.array([f"{n}\n".encode() for n in offsets], pa.binary()),
        "folder": pa.array([f"f={each}" for each in folders]),
        "kafka_offset": pa.array(offsets),
    }
    writer.write(pa.record_batch(columns))
    return split, writer.close(split.end)


def committed(connector: CloudStorageSinkConnector, results: list[tuple[SinkSplit, dict[str, Any]]]) -> None:
    """What the driver does at the end of a round."""
    connector.before_commit()
    connector.commit(results)


def test_objects_of_runs_in_turn_and_of_one_that_was_killed(opened: tuple[Store, Sink]) -> None:
    store, sink = opened
    folder = unique("topics")
    place = open_place(store.address, store.settings)
    first, second, third = (sink(**{"topics.dir": folder}) for _ in range(3))
    for connector in (first, second, third):
        connector.check()
    first.prepare({TopicPartition("t", 0): 0})
    committed(first, [written(first, 0, "aaab")])
    written(first, 4, "c")  # killed before it commits
    second.prepare({TopicPartition("t", 0): 4})
    killed = written(second, 4, "bb")
    committed(second, [killed])  # killed before its offsets are committed
    late = written(second, 6, "e")
    third.prepare({TopicPartition("t", 0): 4})
    committed(third, [written(third, 4, "bdd")])
    # moto answers with an error of its own where an upload is gone.
    with pytest.raises(RetriableError if store.address == "s3://moto" else FencedError):
        committed(second, [late])
    found = {file.name: place.read(file).read() for file in place.files(f"{folder}/")}
    assert found == {
        f"{folder}/t/f=a/t+0+0000000000.json": b"0\n1\n",
        f"{folder}/t/f=a/t+0+0000000002.json": b"2\n",
        f"{folder}/t/f=b/t+0+0000000003.json": b"3\n",
        f"{folder}/t/f=b/t+0+0000000004.json": b"4\n",
        f"{folder}/t/f=d/t+0+0000000005.json": b"5\n6\n",
    }
    assert not [*place.staged(f"{folder}/")]


@pytest.mark.parametrize("topic", ["t", ".t"])
def test_a_run_that_writes_nothing_removes_what_a_killed_one_has_staged(opened: tuple[Store, Sink], topic: str) -> None:
    store, sink = opened
    folder = unique("topics")
    place = open_place(store.address, store.settings)
    start = {TopicPartition(topic, 0): 0}
    killed, idle, writing = (sink(**{"topics.dir": folder, "topics": topic}) for _ in range(3))
    killed.prepare(start)
    committed(killed, [written(killed, 0, "ab", topic)])
    written(killed, 2, "cd", topic)
    idle.prepare(start)
    assert not [*place.staged(f"{folder}/")]
    writing.prepare(start)
    committed(writing, [written(writing, 0, "cc", topic)])
    found = [file.name for file in place.files(f"{folder}/", hidden=True)]
    assert found == [f"{folder}/{topic}/f=c/{topic}+0+0000000000.json"]


def test_a_bucket_that_does_not_exist_is_named_by_its_key(opened: tuple[Store, Sink]) -> None:
    _, sink = opened
    key = type(sink()).bucket_key
    with pytest.raises(ConfigError) as raised:
        sink(**{key: "no-such-bucket-here"}).check()
    assert [*raised.value.errors] == [key]


def test_objects_of_s3_are_encrypted(opened: tuple[Store, Sink]) -> None:
    store, sink = opened
    if store.address != "s3://moto":
        pytest.skip("a key of S3, which S3Proxy does not have")
    connector = sink(**{"topics.dir": "encrypted", "s3.ssea.name": "AES256"})
    connector.prepare({TopicPartition("t", 0): 0})
    committed(connector, [written(connector, 0, "a")])
    bucket = store.address.removeprefix("s3://")
    found = store.s3_client().head_object(Bucket=bucket, Key="encrypted/t/f=a/t+0+0000000000.json")
    assert found["ServerSideEncryption"] == "AES256"
