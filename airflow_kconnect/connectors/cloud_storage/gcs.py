"""``io.confluent.connect.gcs.GcsSinkConnector``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connectors.cloud_storage.keys.gcs import gcs_config, gcs_problems, gcs_values
from airflow_kconnect.connectors.cloud_storage.sink import CloudStorageSinkConnector
from airflow_kconnect.places.address import Address


class GcsSinkConnector(CloudStorageSinkConnector):
    """Into a bucket of Google Cloud Storage."""

    summary = "Writes topics into objects of Google Cloud Storage, exactly once, with the keys of Confluent's sink."
    first_keys: ClassVar[tuple[str, ...]] = ("gcs.bucket.name", "format.class", "flush.size", "topics.dir")
    bucket_key = "gcs.bucket.name"
    part_key = "gcs.part.size"
    compression_keys = "gcs.compression."

    @classmethod
    def config(cls) -> ConfigDef:
        return gcs_config()

    @classmethod
    def address(cls, values: Mapping[str, Any]) -> Address:
        return Address("gs", values["gcs.bucket.name"], "")

    @classmethod
    def store_values(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        return gcs_values(values)

    @classmethod
    def store_problems(cls, values: Mapping[str, Any]) -> dict[str, list[str]]:
        return gcs_problems(values)
