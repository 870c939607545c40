"""What the writer of Confluent's sinks needs for one folder and for a thousand: CPU seconds and memory.

    python -m benchmarks.open_folders [--rows 1000000] [--folders 1000] [--format ParquetFormat]

Rows of 200 bytes go into a folder of this machine, without Kafka and Spark; memory is that of the whole process.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from airflow_kconnect.connect.connector.sink import SinkSplit
from airflow_kconnect.connectors.cloud_storage.s3 import S3SinkConnector
from airflow_kconnect.connectors.cloud_storage.writer import CloudStorageWriter
from airflow_kconnect.places.address import Address
from airflow_kconnect.places.local import LocalPlace

_BATCH = 10_000


def main() -> None:
    """Write, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--folders", type=int, default=1000)
    parser.add_argument("--format", default="ParquetFormat", choices=["ParquetFormat", "JsonFormat"])
    own = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        values = S3SinkConnector.config().parse(
            {
                "s3.bucket.name": "b",
                "format.class": own.format,
                "flush.size": str(own.rows),
                "partitioner.class": "FieldPartitioner",
                "partition.field.name": "f",
            }
        )
        place = LocalPlace(Address("file", "", folder))
        writer = CloudStorageWriter(place, S3SinkConnector.settings(values))
        for batch in _batches(_BATCH, _BATCH, own.folders, own.format):  # what is loaded once is not counted
            batch.validate()
        before, began = _memory(), _cpu()
        writer.open(SinkSplit("t", 0, 0, own.rows))
        for batch in _batches(own.rows, _BATCH, own.folders, own.format):
            writer.write(batch)
        files = writer.close(own.rows)["files"]
        used = _cpu() - began
    print(
        f"{own.format}, {own.folders} folders, {own.rows} rows: {len(files)} files, {used:.2f} CPU seconds, "
        f"{_memory() - before:.0f} MiB more than before"
    )


def _batches(rows: int, size: int, folders: int, format_: str) -> Iterator[pa.RecordBatch]:
    text = "x" * 180
    names = np.array([f"f={n}" for n in range(folders)])
    for start in range(0, rows, size):
        offsets = np.arange(start, min(start + size, rows))
        numbers, texts = pa.array(offsets), pa.array([text] * len(offsets))
        values: pa.Array = pa.StructArray.from_arrays([numbers, texts], ["n", "text"])
        if format_ == "JsonFormat":
            values = pa.array([b'{"n":1,"text":"%s"}\n' % text.encode()] * len(offsets), pa.binary())
        folder = pa.array(names[np.random.default_rng(start).integers(0, folders, len(offsets))])
        yield pa.record_batch({"values": values, "folder": folder, "kafka_offset": numbers})


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
