"""How S3 is reached: settings, credentials, and the client."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.credentials.aws import AwsLogin, aws_session, data_loader
from airflow_kconnect.places.errors import check_ca_file

_MINUTE_S = 60
_DESCRIPTIONS = ("service-2", "endpoint-rule-set-1", "paginators-1")
"""What botocore reads about a service for its first client and its first listing."""
MAKING = threading.RLock()
"""To make clients is not safe for threads; to use one is."""


@dataclass(frozen=True)
class S3Settings:
    """What is None, botocore finds in the environment: variables, profiles, roles of the machine.

    :param upload: arguments of uploads by the names of S3's API, such as those of encryption.
    """

    endpoint: str | None = None
    region: str | None = None
    path_style: bool | None = None
    proxy: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    profile: str | None = None
    role_arn: str | None = None
    role_external_id: str | None = None
    access_key_id: str | None = None
    secret_access_key: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)
    upload: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def checksums(self) -> Mapping[str, str]:
        """Arguments of uploads and of their parts: Amazon refuses parts whose checksums were not announced."""
        return {} if self.endpoint else {"ChecksumAlgorithm": "CRC32"}


@dataclass(frozen=True)
class Patience:
    """How long a client waits.

    :param connect_s: for a connection. :param read_s: for the next bytes. :param attempts: of a request, in all.
    """

    connect_s: float = 10
    read_s: float = 60
    attempts: int = 5


def s3_client(own: S3Settings, patience: Patience) -> Any:
    """A client that can be used by several threads.

    :raises ConfigError: a file of certificates, the region, or the endpoint, is none.
    """
    from botocore.exceptions import InvalidRegionError

    if own.ca_file:
        check_ca_file(own.ca_file)
    with MAKING:
        try:
            return _session(own, patience).create_client(
                "s3",
                endpoint_url=own.endpoint,
                region_name=_region(own),
                verify=own.ca_file,
                config=_config(own, patience),
            )
        except InvalidRegionError as error:
            said = str(error).rstrip(".")
            raise ConfigError({"store.region": [f"{said}; expected one such as eu-central-1"]}) from error
        except ValueError as error:
            raise ConfigError({"store.endpoint": [f"{error}; expected a URL like https://host:9000"]}) from error


def preload() -> None:
    """Import botocore, and read its descriptions of S3: processes that are forked afterwards have both.

    Makes no client, which would read the user's credentials.
    """
    import botocore.session  # noqa: F401

    loader = data_loader(None)
    for description in _DESCRIPTIONS:
        loader.load_service_model("s3", description)
    loader.load_data("endpoints")


def shared_client(own: S3Settings, patience: Patience) -> Any:
    """A client for the tasks of this process, so that they do not each log in and connect. It is not to be closed.

    :raises ConfigError: see `s3_client`.
    """
    # A fork has its own, and so has each minute: what is found in the environment is renewed.
    return _shared(own, patience, os.getpid(), time.monotonic() // _MINUTE_S)


@lru_cache(maxsize=8)
def _shared(own: S3Settings, patience: Patience, process: int, minute: float) -> Any:
    return s3_client(own, patience)


def _session(own: S3Settings, patience: Patience) -> Any:
    login = AwsLogin(
        profile=own.profile,
        access_key_id=own.access_key_id,
        secret_access_key=own.secret_access_key,
        session_token=own.session_token,
        role_arn=own.role_arn,
        role_external_id=own.role_external_id,
    )

    def of_roles(region: str | None) -> dict[str, Any]:
        return {"region_name": _region(own) or region, "verify": own.ca_file, "config": _config(own, patience)}

    return aws_session(login, of_roles)


def _region(own: S3Settings) -> str | None:
    return own.region or ("us-east-1" if own.endpoint else None)


def _config(own: S3Settings, patience: Patience) -> Any:
    from botocore.config import Config

    style = {None: "auto", True: "path", False: "virtual"}[own.path_style]
    return Config(
        connect_timeout=patience.connect_s,
        read_timeout=patience.read_s,
        retries={"mode": "standard", "total_max_attempts": patience.attempts},
        max_pool_connections=16,
        proxies={"http": own.proxy, "https": own.proxy} if own.proxy else None,
        s3={"addressing_style": "path" if own.endpoint and own.path_style is None else style},
        # Stores other than Amazon's refuse the checksums that are newer than they are.
        request_checksum_calculation="when_required" if own.endpoint else "when_supported",
        response_checksum_validation="when_required" if own.endpoint else "when_supported",
    )
