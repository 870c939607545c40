"""How S3 is reached: settings, credentials, and the client of boto3."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.places.errors import check_ca_file

_SESSION = "airflow-kconnect"
_LOCK = threading.Lock()
"""To make clients is not safe for threads; to use one is."""


@dataclass(frozen=True)
class S3Settings:
    """What is None, boto3 finds in the environment: variables, profiles, roles of the machine.

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
    upload: Mapping[str, str] = field(default_factory=dict)

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

    :raises ConfigError: a file of certificates, or the endpoint, is none.
    """
    if own.ca_file:
        check_ca_file(own.ca_file)
    with _LOCK:
        try:
            return _session(own, patience).client(
                "s3",
                endpoint_url=own.endpoint,
                region_name=_region(own),
                verify=own.ca_file,
                config=_config(own, patience),
            )
        except ValueError as error:
            raise ConfigError({"store.endpoint": [f"{error}; expected a URL like https://host:9000"]}) from error


def _session(own: S3Settings, patience: Patience) -> Any:
    import boto3

    # A session of its own: the default one is not safe for threads.
    session = boto3.session.Session(
        profile_name=own.profile,
        aws_access_key_id=own.access_key_id,
        aws_secret_access_key=own.secret_access_key,
        aws_session_token=own.session_token,
    )
    return session if own.role_arn is None else _as_role(session, own, patience)


def _as_role(session: Any, own: S3Settings, patience: Patience) -> Any:
    """A session with credentials of the role, which are renewed before they expire."""
    import boto3
    from botocore.credentials import AssumeRoleCredentialFetcher, DeferredRefreshableCredentials
    from botocore.exceptions import NoCredentialsError
    from botocore.session import get_session

    if (source := session.get_credentials()) is None:
        raise NoCredentialsError
    names = {"RoleSessionName": _SESSION}
    fetcher = AssumeRoleCredentialFetcher(
        client_creator=partial(
            session._session.create_client,  # boto3 keeps it so
            region_name=_region(own) or session.region_name,
            verify=own.ca_file,
            config=_config(own, patience),
        ),
        source_credentials=source,
        role_arn=own.role_arn,
        extra_args=names | ({"ExternalId": own.role_external_id} if own.role_external_id else {}),
    )
    inner = get_session()
    inner._credentials = DeferredRefreshableCredentials(fetcher.fetch_credentials, "assume-role")
    return boto3.session.Session(botocore_session=inner, region_name=session.region_name)


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
