"""Opens places by their addresses."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.places.address import LOCAL, Address, address
from airflow_kconnect.places.base import Place
from airflow_kconnect.places.local import LocalPlace

_MODULES = {"s3": ("boto3", "s3"), "gs": ("obstore", "gcs"), "abfss": ("obstore", "azure")}
"""Scheme -> the library of its store, and the extra that brings it."""

_PROXY = re.compile(r"https?://(\S*@)?([\w.-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?/?")

UPLOAD = "s3.upload"
"""Not a key that users write: see `S3Settings.upload`."""


def open_place(text: str, values: Mapping[str, Any], key: str = "directory") -> Place:
    """The place of an address; nothing is connected yet.

    :param values: of the keys of stores; see `keys.define_store_keys`. :param key: the one with the address.
    :raises ConfigError: the address is none, or the library for its store is missing.
    """
    try:
        at = address(text)
    except ValueError as error:
        raise ConfigError({key: [str(error)]}) from error
    if at.scheme == LOCAL:
        return LocalPlace(at)
    if at.scheme == "hdfs":
        return _hdfs(at, values)
    module, extra = _MODULES[at.scheme]
    if importlib.util.find_spec(module) is None:
        text = f"is {at}, and the Python package `{module}` is missing: pip install 'airflow-kconnect[{extra}]'"
        raise ConfigError({key: [text]})
    return _opened(at, values)


def _opened(at: Address, values: Mapping[str, Any]) -> Place:
    if at.scheme != "s3":
        return _objects(at, values)
    from airflow_kconnect.places.s3.client import S3Settings
    from airflow_kconnect.places.s3.place import S3Place

    return S3Place(
        at,
        S3Settings(
            endpoint=values.get("store.endpoint"),
            region=values.get("store.region"),
            path_style=values.get("store.path.style"),
            proxy=_proxy(values),
            ca_file=values.get("store.ca.file"),
            profile=values.get("store.profile"),
            role_arn=values.get("store.role.arn"),
            role_external_id=values.get("store.role.external.id"),
            access_key_id=values.get("store.access.key.id"),
            secret_access_key=_plain(values.get("store.secret.access.key")),
            session_token=_plain(values.get("store.session.token")),
            upload=values.get(UPLOAD) or {},
        ),
    )


def _objects(at: Address, values: Mapping[str, Any]) -> Place:
    from airflow_kconnect.places.objects.client import ObjectsSettings
    from airflow_kconnect.places.objects.place import ObjectsPlace

    return ObjectsPlace(
        at,
        ObjectsSettings(
            endpoint=values.get("store.endpoint"),
            proxy=_proxy(values),
            ca_file=values.get("store.ca.file"),
            credentials_file=values.get("store.credentials.file"),
            credentials_json=_plain(values.get("store.credentials.json")),
            account_key=_plain(values.get("store.account.key")),
            sas_token=_plain(values.get("store.sas.token")),
            tenant_id=values.get("store.tenant.id"),
            client_id=values.get("store.client.id"),
            client_secret=_plain(values.get("store.client.secret")),
        ),
    )


def _hdfs(at: Address, values: Mapping[str, Any]) -> Place:
    from airflow_kconnect.places.hdfs.client import HdfsSettings, endpoint_problem
    from airflow_kconnect.places.hdfs.place import HdfsPlace
    from airflow_kconnect.places.hdfs.site import endpoints

    named = [url.strip().rstrip("/") for url in (values.get("store.endpoint") or "").split(",") if url.strip()]
    if found := [problem for url in named if (problem := endpoint_problem(url))]:
        raise ConfigError({"store.endpoint": found})
    settings = HdfsSettings(
        endpoints=tuple(named) or endpoints(at.root),
        user=values.get("store.user"),
        token=_plain(values.get("store.delegation.token")),
        proxy=_proxy(values),
        ca_file=values.get("store.ca.file"),
    )
    return HdfsPlace(at, settings)


def _proxy(values: Mapping[str, Any]) -> str | None:
    """:raises ConfigError: it is none. Libraries would quote it, with its password."""
    if not (text := _plain(values.get("store.proxy"))):
        return None
    url = text if "://" in text else f"http://{text}"
    if not _PROXY.fullmatch(url):
        problem = "is not the URL of an HTTP proxy, expected one like http://proxy.example.com:3128"
        raise ConfigError({"store.proxy": [problem]})
    return url


def _plain(value: Any) -> str | None:
    return None if value is None else str(getattr(value, "value", value))
