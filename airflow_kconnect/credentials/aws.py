"""Sessions of AWS: the environment's chain of credentials, a profile, keys, or a role that is assumed with them.

They are botocore's, which is what boto3's are: boto3 adds nothing that is used here, and takes 50 ms more to import.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

SESSION_NAME = "airflow-kconnect"
_LOGIN = re.compile(r"//[^/?#\s]*@")
"""Of a URL, such as that of a proxy."""


@dataclass(frozen=True)
class AwsLogin:
    """What is None, botocore finds in the environment: variables, profiles, roles of the machine."""

    profile: str | None = None
    access_key_id: str | None = None
    secret_access_key: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)
    role_arn: str | None = None
    role_session_name: str | None = None
    role_external_id: str | None = None


def aws_session(login: AwsLogin, client_arguments: Callable[[str | None], dict[str, Any]] | None = None) -> Any:
    """A session of botocore. Nothing is asked of AWS yet.

    :param client_arguments: of the client that assumes the role, from the region of the environment.
    :raises botocore.exceptions.BotoCoreError: the profile is missing, or a role has no credentials to be assumed with.
    """
    session = _new_session()
    if login.profile is not None:
        session.set_config_variable("profile", login.profile)
    if login.access_key_id or login.secret_access_key or login.session_token:
        session.set_credentials(login.access_key_id, login.secret_access_key, login.session_token)
    return session if login.role_arn is None else _as_role(session, login, client_arguments)


def unreachable() -> tuple[type[Exception], ...]:
    """The errors of botocore which say that something did not answer: AWS, or what gives credentials for it."""
    from botocore.exceptions import ConnectionError, CredentialRetrievalError, HTTPClientError, MetadataRetrievalError

    return ConnectionError, CredentialRetrievalError, HTTPClientError, MetadataRetrievalError


def safe_text(error: Any) -> str:
    """The text of an error of botocore for people, without what was to be sent."""
    from botocore.exceptions import HTTPClientError

    if type(error) is HTTPClientError:  # its text may quote that, a token too
        return f"{type(error.kwargs.get('error', error)).__name__} before there was an answer"
    return _LOGIN.sub("//", str(error))


def _new_session() -> Any:
    from botocore.session import Session

    session = Session()
    session.register_component("data_loader", data_loader(session.get_config_variable("data_path")))
    return session


@cache
def data_loader(path: str | None) -> Any:
    """Descriptions of services: to read them takes most of the time in which a client is made.

    :param path: further folders with some.
    """
    from botocore.loaders import create_loader

    return create_loader(path)


def _as_role(session: Any, login: AwsLogin, client_arguments: Callable[[str | None], dict[str, Any]] | None) -> Any:
    """A session with credentials of the role, which are renewed before they expire."""
    from botocore.credentials import AssumeRoleCredentialFetcher, DeferredRefreshableCredentials
    from botocore.exceptions import NoCredentialsError

    if (source := session.get_credentials()) is None:
        raise NoCredentialsError
    region = session.get_config_variable("region")
    arguments = {"region_name": region} if client_arguments is None else client_arguments(region)

    def client(service: str, **given: Any) -> Any:
        return session.create_client(service, **arguments, **given)

    names = {"RoleSessionName": login.role_session_name or SESSION_NAME}
    fetcher = AssumeRoleCredentialFetcher(
        client_creator=client,
        source_credentials=source,
        role_arn=login.role_arn,
        extra_args=names | ({"ExternalId": login.role_external_id} if login.role_external_id else {}),
    )
    inner = _new_session()
    inner._credentials = DeferredRefreshableCredentials(fetcher.fetch_credentials, "assume-role")  # as botocore itself
    inner.set_config_variable("region", region)
    return inner
