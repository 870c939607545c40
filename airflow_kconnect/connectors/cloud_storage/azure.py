"""``io.confluent.connect.azure.blob.AzureBlobStorageSinkConnector``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connectors.cloud_storage.keys.azure import azure_config, azure_values
from airflow_kconnect.connectors.cloud_storage.sink import CloudStorageSinkConnector
from airflow_kconnect.places.address import Address


class AzureBlobStorageSinkConnector(CloudStorageSinkConnector):
    """Into a container of Azure Blob Storage."""

    summary = "Writes topics into blobs of Azure, exactly once, with the names and keys of Confluent's sink."
    first_keys: ClassVar[tuple[str, ...]] = (
        "azblob.account.name", "azblob.container.name", "format.class", "flush.size", "topics.dir",
    )  # fmt: skip
    bucket_key = "azblob.container.name"
    part_key = "azblob.block.size"
    compression_keys = "az.compression."

    @classmethod
    def config(cls) -> ConfigDef:
        return azure_config()

    @classmethod
    def address(cls, values: Mapping[str, Any]) -> Address:
        host = f"{values['azblob.account.name']}.dfs.core.windows.net"
        return Address("abfss", f"{values['azblob.container.name']}@{host}", "")

    @classmethod
    def store_values(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        return azure_values(values)
