"""``io.confluent.connect.s3.S3SinkConnector``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connectors.cloud_storage.keys.s3 import s3_config, s3_problems, s3_values
from airflow_kconnect.connectors.cloud_storage.sink import CloudStorageSinkConnector
from airflow_kconnect.places.address import Address


class S3SinkConnector(CloudStorageSinkConnector):
    """Into a bucket of S3, or of a store that speaks its protocol."""

    summary = "Writes topics into objects of S3, exactly once, with the names and keys of Confluent's sink."
    first_keys: ClassVar[tuple[str, ...]] = ("s3.bucket.name", "s3.region", "format.class", "flush.size", "topics.dir")
    bucket_key = "s3.bucket.name"
    part_key = "s3.part.size"
    compression_keys = "s3.compression."

    @classmethod
    def config(cls) -> ConfigDef:
        return s3_config()

    @classmethod
    def address(cls, values: Mapping[str, Any]) -> Address:
        return Address("s3", values["s3.bucket.name"], "")

    @classmethod
    def store_values(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        return s3_values(values)

    @classmethod
    def store_problems(cls, values: Mapping[str, Any]) -> dict[str, list[str]]:
        return s3_problems(values)
