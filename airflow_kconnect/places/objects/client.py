"""Clients of Google's and Azure's stores, by obstore."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.places.address import Address

if TYPE_CHECKING:
    from obstore.store import AzureConfig, GCSConfig

_EMULATOR = "emulator"


@dataclass(frozen=True)
class ObjectsSettings:
    """How a store is reached. What is None, obstore finds in the environment: variables, files, the machine's login.

    :param endpoint: of a private endpoint or an emulator; with Azure's emulator, it ends with the account.
    """

    endpoint: str | None = None
    proxy: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    credentials_file: str | None = None
    credentials_json: str | None = field(default=None, repr=False)
    account_key: str | None = field(default=None, repr=False)
    sas_token: str | None = field(default=None, repr=False)
    tenant_id: str | None = None
    client_id: str | None = None
    client_secret: str | None = field(default=None, repr=False)


def open_client(at: Address, own: ObjectsSettings, retries: int = 4, headers: Mapping[str, str] | None = None) -> Any:
    """The client of a bucket or container.

    :param retries: of a request. :param headers: of each request, besides its own.
    :raises ConfigError: a file that the settings name cannot be read, or a key is none.
    """
    options: dict[str, Any] = {"connect_timeout": "10s", "timeout": "120s", "default_headers": dict(headers or {})}
    if own.proxy:
        options["proxy_url"] = own.proxy
    if own.ca_file:
        options["root_certificate"] = _read(own.ca_file, "store.ca.file")
    if own.endpoint and own.endpoint.startswith("http://"):
        options["allow_http"] = True
    again = {"max_retries": retries, "retry_timeout": timedelta(seconds=60)}
    return (_google if at.scheme == "gs" else _azure)(at, own, {"client_options": options, "retry_config": again})


def _google(at: Address, own: ObjectsSettings, options: dict[str, Any]) -> Any:
    from obstore.store import GCSStore

    config: GCSConfig = {}
    if own.endpoint:
        config["base_url"] = own.endpoint.rstrip("/")
    if own.credentials_json:
        _check_key(own.credentials_json)
        config["service_account_key"] = own.credentials_json
    elif own.credentials_file:
        _read(own.credentials_file, "store.credentials.file")
        config["application_credentials"] = own.credentials_file
    elif options["client_options"].get("allow_http"):
        config["bearer_token"] = _EMULATOR  # a real token is not sent where anyone could read it
    return GCSStore(at.root, config=config, **options)


def _check_key(text: str) -> None:
    """obstore quotes a text where it expects an object."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict):
        problem = "is not a JSON object: write the content of the file with the service account's key"
        raise ConfigError({"store.credentials.json": [problem]})


def _azure(at: Address, own: ObjectsSettings, options: dict[str, Any]) -> Any:
    from obstore.store import AzureStore

    container, _, host = at.root.partition("@")
    account = host.partition(".")[0]
    # The host may be that of another cloud, or of a private endpoint.
    config: AzureConfig = {"account_name": account, "endpoint": own.endpoint or _blob_endpoint(host)}
    # The type: what the settings name comes before what the environment has.
    if own.account_key:
        config |= {"account_key": own.account_key, "credential_type": "access_key"}
    elif own.sas_token:
        config |= {"sas_key": own.sas_token.lstrip("?"), "credential_type": "sas_token"}
    elif own.client_secret:
        config |= {"client_secret": own.client_secret, "credential_type": "client_secret"}
    if own.tenant_id:
        config["tenant_id"] = own.tenant_id
    if own.client_id:
        config["client_id"] = own.client_id
    return AzureStore(container, config=config, **options)


def _blob_endpoint(host: str) -> str:
    """Azure has two protocols, at two hosts, for the same files."""
    return f"https://{host.replace('.dfs.', '.blob.', 1)}"


def _read(path: str, key: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        text = error.strerror if isinstance(error, OSError) else "it is not text"
        raise ConfigError({key: [f"names {path}, which cannot be read on this machine: {text}"]}) from error
