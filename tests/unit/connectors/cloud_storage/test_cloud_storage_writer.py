"""The writer without Spark: memory, open files, order of rows, and the GCS and Azure sinks' keys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.connectors.cloud_storage.azure import AzureBlobStorageSinkConnector
from airflow_kconnect.connectors.cloud_storage.gcs import GcsSinkConnector
from airflow_kconnect.connectors.cloud_storage.s3 import S3SinkConnector
from airflow_kconnect.connectors.cloud_storage.writer import CloudStorageWriter
from airflow_kconnect.places.address import Address
from airflow_kconnect.places.base import StagedFile, Staging
from airflow_kconnect.places.local import LocalPlace

MIB = 2**20
BY_FIELD = {"partitioner.class": "FieldPartitioner", "partition.field.name": "f"}


def writer(folder: Path, **props: str) -> tuple[CloudStorageWriter, LocalPlace]:
    least = {"s3.bucket.name": "b", "format.class": "JsonFormat", "flush.size": "1000000"}
    values = S3SinkConnector.config().parse({**least, **BY_FIELD, **props})
    place = LocalPlace(Address("file", "", str(folder)))
    return CloudStorageWriter(place, S3SinkConnector.settings(values)), place


def batches(count: int, rows: int, folders: int, width: int) -> Any:
    """Rows whose folders alternate."""
    for n in range(count):
        offsets = np.arange(n * rows, (n + 1) * rows)
        lines = [b'{"n":%d,"x":"%s"}\n' % (offset, b"x" * width) for offset in offsets]
        names = [f"f={offset % folders}" for offset in offsets]
        yield pa.record_batch(
            {
                "values": pa.array(lines, pa.binary()),
                "folder": pa.array(names),
                "kafka_offset": pa.array(offsets),
                "error": pa.nulls(rows, pa.string()),
            }
        )


@pytest.mark.parametrize("folders", [1, 1000])
def test_memory_does_not_grow_with_folders(tmp_path: Path, folders: int) -> None:
    """40 MiB of rows, with a buffer of 4."""
    writing, _ = writer(tmp_path, **{"kconnect.buffer.bytes": str(4 * MIB)})
    writing.open(SinkSplit("t", 0, 0, 40_000))
    before, most = pa.total_allocated_bytes(), 0
    for batch in batches(20, 2000, folders, 1000):
        writing.write(batch)
        most = max(most, pa.total_allocated_bytes() - before)
    facts = writing.close(40_000)
    assert sum(file["records"] for file in facts["files"]) == 40_000
    assert len(facts["files"]) == folders
    assert most < 16 * MIB


def test_rows_of_a_folder_keep_their_order(tmp_path: Path) -> None:
    writing, place = writer(tmp_path, **{"kconnect.buffer.bytes": str(MIB), "kconnect.open.files.max": "3"})
    writing.open(SinkSplit("t", 0, 0, 6000))
    for batch in batches(6, 1000, 7, 1000):
        writing.write(batch)
    for file in writing.close(6000)["files"]:
        for staged in file["staged"]:
            place.publish(StagedFile.from_json(staged))
    for number in range(7):
        paths = sorted((tmp_path / "topics" / "t" / f"f={number}").iterdir())
        found = [json.loads(line)["n"] for path in paths for line in path.read_text().splitlines()]
        assert found == list(range(number, 6000, 7))
        for path in paths:
            first = json.loads(path.read_text().splitlines()[0])["n"]
            assert path.name == f"t+0+{first:010d}.json"


class FailingEnd:
    """A file whose store fails when it has all of it."""

    def __init__(self, staging: Staging) -> None:
        self.write, self.abort = staging.write, staging.abort

    def finish(self) -> StagedFile:
        raise RetriableError("the store is overloaded")


def left(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("failing", ["f=0", ".keys."])
def test_nothing_is_left_of_files_that_waited_for_one_that_failed(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of the records before, or the second one of the same records."""
    stage = LocalPlace.stage

    def staged(place: LocalPlace, name: str, part_bytes: int = 0) -> Staging:
        staging = stage(place, name, part_bytes)
        return FailingEnd(staging) if failing in name else staging

    monkeypatch.setattr(LocalPlace, "stage", staged)
    keys = {"store.kafka.keys": "true", "keys.format.class": "JsonFormat"}
    writing, _ = writer(tmp_path, **keys, **{"flush.size": "100", "kconnect.buffer.bytes": str(MIB)})
    writing.open(SinkSplit("t", 0, 0, 40_000))
    with pytest.raises(RetriableError):
        for batch in batches(20, 2000, 50, 1000):
            writing.write(batch.append_column("keys", batch.column("values")))
        writing.close(40_000)
    writing.abort()
    assert left(tmp_path) == []


def test_keys_of_gcs() -> None:
    least = {"gcs.bucket.name": "lake", "format.class": "ParquetFormat", "flush.size": "10"}
    values = GcsSinkConnector.config().parse({**least, "gcs.credentials.path": "/key.json"})
    assert str(GcsSinkConnector.address(values)) == "gs://lake"
    assert GcsSinkConnector.store_values(values) == {"store.credentials.file": "/key.json"}
    both = {**least, "gcs.credentials.path": "/key.json", "gcs.credentials.json": "{}"}
    assert [*GcsSinkConnector.validate(both)] == ["gcs.credentials.json"]


def test_keys_of_azure() -> None:
    least = {"azblob.account.name": "shop", "format.class": "AvroFormat", "flush.size": "10"}
    values = AzureBlobStorageSinkConnector.config().parse({**least, "azblob.account.key": "s3cr3t"})
    assert str(AzureBlobStorageSinkConnector.address(values)) == "abfss://default@shop.dfs.core.windows.net"
    assert AzureBlobStorageSinkConnector.store_values(values) == {"store.account.key": "s3cr3t"}
    assert AzureBlobStorageSinkConnector.validate(least) == {}
