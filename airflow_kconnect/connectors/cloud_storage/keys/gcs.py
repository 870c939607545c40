"""The keys of Confluent's GCS sink about Google Cloud Storage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from airflow_kconnect.connect.config import ConfigDef, Importance, NonEmptyString, Range, Type, ValidString
from airflow_kconnect.connectors.cloud_storage.keys.common import define_common_keys
from airflow_kconnect.connectors.cloud_storage.keys.proxies import define_proxy, plain, proxy_url

_HIGH, _MEDIUM, _LOW = Importance
_IGNORED: Sequence[tuple[str, Type, Any, str]] = (
    ("gcs.part.retries", Type.INT, 3, "the client repeats requests"),
    ("gcs.retry.backoff.ms", Type.LONG, 1000, "the client repeats requests after delays that grow"),
    ("gcs.http.send.expect.continue", Type.BOOLEAN, True, "the client decides"),
)


def gcs_config() -> ConfigDef:
    """All keys of the sink."""
    config = ConfigDef()
    (
        config.define("gcs.bucket.name", Type.STRING, importance=_HIGH, validator=NonEmptyString(), example="shop-lake",
                      documentation="The bucket.")
        .define("gcs.credentials.path", Type.STRING, "", _HIGH, "File with the key of a service account. Without it, "
                "credentials are found as Google's programs find them.")
        .define("gcs.credentials.json", Type.PASSWORD, "", _HIGH, "The content of such a file.")
        .define("gcs.part.size", Type.INT, 26_214_400, _HIGH, "Bytes that are sent at once.",
                validator=Range.between(5_242_880, 2_147_483_647))
        .define("gcs.compression.type", Type.STRING, "none", _LOW, "Compression of JSON and byte files: none or gzip.",
                validator=ValidString.in_("none", "gzip"))
        .define("gcs.compression.level", Type.INT, -1, _LOW, "Level of gzip, -1 to 9.", validator=Range.between(-1, 9))
    )  # fmt: skip
    define_proxy(config, "gcs")
    return define_common_keys(config, _IGNORED)


def gcs_problems(values: Mapping[str, Any]) -> dict[str, list[str]]:
    """Key -> messages."""
    if values["gcs.credentials.path"] and plain(values["gcs.credentials.json"]):
        return {"gcs.credentials.json": ["is set, and so is `gcs.credentials.path`: leave one of them out"]}
    return {}


def gcs_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of `places.keys` that those of GCS mean."""
    found = {
        "store.proxy": proxy_url(values, "gcs"),
        "store.credentials.file": values["gcs.credentials.path"],
        "store.credentials.json": plain(values["gcs.credentials.json"]),
    }
    return {key: value for key, value in found.items() if value}
