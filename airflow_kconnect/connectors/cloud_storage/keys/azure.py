"""The keys of Confluent's Azure Blob Storage sink about Azure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from airflow_kconnect.connect.config import ConfigDef, Importance, NonEmptyString, Range, Type, ValidString
from airflow_kconnect.connectors.cloud_storage.keys.common import define_common_keys
from airflow_kconnect.connectors.cloud_storage.keys.proxies import define_proxy, plain, proxy_url

_HIGH, _MEDIUM, _LOW = Importance
_REPEATED = "the client repeats requests after delays that grow"
_IGNORED: Sequence[tuple[str, Type, Any, str]] = (
    ("azblob.retry.type", Type.STRING, "EXPONENTIAL", _REPEATED),
    ("azblob.retry.retries", Type.INT, 3, _REPEATED),
    ("azblob.retry.backoff.ms", Type.LONG, 4000, _REPEATED),
    ("azblob.retry.max.backoff.ms", Type.LONG, 120_000, _REPEATED),
    ("azblob.retry.secondary.host", Type.STRING, "", _REPEATED),
    ("azblob.connection.timeout.ms", Type.LONG, 30_000, "the client decides"),
)


def azure_config() -> ConfigDef:
    """All keys of the sink."""
    config = ConfigDef()
    (
        config.define("azblob.account.name", Type.STRING, importance=_HIGH, validator=NonEmptyString(),
                      documentation="The storage account.", example="shoplake")
        .define("azblob.account.key", Type.PASSWORD, None, _HIGH, "Its key. Without it, the login is found as Azure's "
                "own programs find it.")
        .define("azblob.container.name", Type.STRING, "default", _MEDIUM, "The container.", validator=NonEmptyString())
        .define("azblob.block.size", Type.INT, 26_214_400, _HIGH, "Bytes that are sent at once.",
                validator=Range.between(5_242_880, 104_857_600))
        .define("az.compression.type", Type.STRING, "none", _LOW, "Compression of JSON and byte files: none or gzip.",
                validator=ValidString.in_("none", "gzip"))
        .define("az.compression.level", Type.INT, -1, _LOW, "Level of gzip, -1 to 9.", validator=Range.between(-1, 9))
    )  # fmt: skip
    define_proxy(config, "azblob")
    return define_common_keys(config, _IGNORED)


def azure_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of `places.keys` that those of Azure mean."""
    found = {"store.proxy": proxy_url(values, "azblob"), "store.account.key": plain(values["azblob.account.key"])}
    return {key: value for key, value in found.items() if value}
