"""Tables as datasets of OpenLineage, named as its integration of Spark names them; pure rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from airflow_kconnect.connect.connector.datasets import Dataset
from airflow_kconnect.connectors.table.settings import CatalogSettings

_SCHEMES = {"s3a": "s3", "s3n": "s3", "gcs": "gs"}
_KEYS_WITHOUT_SLASH = ("s3", "gs", "abfss", "abfs", "wasbs", "wasb")
_HIVE = {"thrift": "hive"}


def table_datasets(catalog: CatalogSettings | None, report: Mapping[str, Any] | None) -> list[Dataset]:
    """The tables in a run's report; before a run no one knows where they are.

    :param catalog: its settings may be variables.
    """
    tables: Mapping[str, Mapping[str, Any]] = (report or {}).get("notes", {}).get("tables") or {}
    return [_dataset(catalog, name, facts) for name, facts in tables.items() if facts.get("location")]


def located(location: str) -> Dataset:
    """The dataset of a table's location."""
    url = urlsplit(location)
    scheme = _SCHEMES.get(url.scheme, url.scheme)
    if scheme in ("", "file"):
        return Dataset("file", url.path.rstrip("/"))
    path = url.path.strip("/") if scheme in _KEYS_WITHOUT_SLASH else url.path.rstrip("/")
    return Dataset(f"{scheme}://{url.netloc}", path)


def _dataset(catalog: CatalogSettings | None, name: str, facts: Mapping[str, Any]) -> Dataset:
    place = located(str(facts["location"]))
    columns: Sequence[Sequence[str]] = facts.get("columns") or ()
    return Dataset(place.namespace, place.name, tuple((str(n), str(t)) for n, t in columns), _symlink(catalog, name))


def _symlink(catalog: CatalogSettings | None, name: str) -> Dataset | None:
    """The table in its catalog; None if the catalog is Spark's own, of which only the session knows."""
    if catalog is None:
        return None
    place = catalog.conf.get("uri") or catalog.conf.get("warehouse")
    if not place or "${" in place:
        return None
    url = urlsplit(place)
    host = url.netloc.rpartition("@")[2]  # never with a login
    scheme = _HIVE.get(url.scheme, _SCHEMES.get(url.scheme, url.scheme))
    namespace = f"{scheme}://{host}{url.path.rstrip('/')}" if scheme and scheme != "file" else f"file:{url.path}"
    return Dataset(namespace, name.replace("`", "").removeprefix(f"{catalog.name}."))
