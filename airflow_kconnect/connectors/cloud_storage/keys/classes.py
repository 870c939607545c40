"""Java classes that configurations name: formats, partitioners and extractors of moments. Pure rules."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from airflow_kconnect.hosting.keys import HOSTED

_PARTITIONERS = "io.confluent.connect.storage.partitioner."


class Format(StrEnum):
    """What a file is written as."""

    JSON = "JsonFormat"
    AVRO = "AvroFormat"
    PARQUET = "ParquetFormat"
    BYTES = "ByteArrayFormat"


class Partitioner(StrEnum):
    """How records are spread over folders."""

    DEFAULT = "DefaultPartitioner"
    FIELD = "FieldPartitioner"
    TIME = "TimeBasedPartitioner"
    DAILY = "DailyPartitioner"
    HOURLY = "HourlyPartitioner"

    @property
    def by_time(self) -> bool:
        return self in (self.TIME, self.DAILY, self.HOURLY)


FORMATS: Mapping[str, Format] = {
    **{f"io.confluent.connect.{store}.format.{room}.{each}": each
       for store in ("s3", "gcs", "azure.blob", "azure.storage")
       for room, each in (("json", Format.JSON), ("avro", Format.AVRO), ("parquet", Format.PARQUET),
                          ("bytearray", Format.BYTES))},
    **{each: each for each in Format},
}  # fmt: skip
"""Full and simple names -> the format."""

PARTITIONERS: Mapping[str, Partitioner] = {
    **{f"{package}{each}": each
       for package in (_PARTITIONERS, "io.confluent.connect.azure.storage.partitioner.", "")
       for each in Partitioner},
}  # fmt: skip


def unknown(name: str, known: Mapping[str, StrEnum]) -> str:
    """Why a class cannot be used; the text follows the key."""
    simple = ", ".join(dict.fromkeys(known.values()))
    return (
        f"is {name}, which is not one of {simple}: other Java classes run only within the Java connector, with its "
        f"plug-in below `plugin.path` and `{HOSTED}=true`"
    )
