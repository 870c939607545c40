"""Tokens for Amazon MSK and MSK Serverless by IAM: a request to connect, signed with AWS's credentials.

The form of a token is that of AWS's own signers: the URL of the action `kafka-cluster:Connect`, presigned (Signature
Version 4, in the query) and encoded as base64url. Nothing is asked of AWS but credentials.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.connect.token_provider import Token, TokenProvider
from airflow_kconnect.credentials.aws import AwsLogin, aws_session, safe_text, unreachable
from airflow_kconnect.worker_config.oauth_keys import AWS, PREFIX, PROVIDER

_LIFE_S = 900
"""What MSK accepts at most."""
_BROKER = re.compile(r"\.kafka(?:-serverless)?\.([a-z0-9-]+)\.amazonaws\.com(?:\.cn)?(?::|$)")
_AGENT = "airflow-kconnect"
_CHAIN = (
    "the process looks for them as every client of AWS does: variables of the environment, profiles, web identity, and"
    " the role of its machine or container"
)


class MskIamTokens(TokenProvider):
    """`aws_msk_iam`."""

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        self._login = AwsLogin(
            profile=options.get("profile"),
            role_arn=options.get("role.arn"),
            role_session_name=options.get("role.session.name"),
            role_external_id=options.get("role.external.id"),
        )
        with self._explained():
            self._session = aws_session(self._login, lambda region: {"region_name": self._named_region() or region})
        self._region = self._named_region() or self._session.get_config_variable("region")
        if not self._region:
            text = "is not set, and neither `bootstrap.servers` nor the environment says it: set it"
            raise ConfigError({"region": [text]})

    def token(self) -> Token:
        from botocore.auth import SigV4QueryAuth
        from botocore.awsrequest import AWSRequest
        from botocore.exceptions import NoCredentialsError

        with self._explained():
            if (credentials := self._session.get_credentials()) is None:
                raise NoCredentialsError
            frozen = credentials.get_frozen_credentials()
        # A token is worth no more than the credentials that have signed it.
        end = getattr(credentials, "_expiry_time", None)
        until = datetime.now(UTC).timestamp() + _LIFE_S
        address = f"https://kafka.{self._region}.amazonaws.com/"
        request = AWSRequest("GET", address, params={"Action": "kafka-cluster:Connect"})
        SigV4QueryAuth(frozen, "kafka-cluster", self._region, expires=_LIFE_S).add_auth(request)
        url = f"{request.url}&User-Agent={_AGENT}".encode()
        value = base64.urlsafe_b64encode(url).decode().rstrip("=")
        return Token(value, until if end is None else min(until, end.timestamp()))

    def _named_region(self) -> str | None:
        """That of the options, else that in the brokers' addresses."""
        broker = _BROKER.search(self.options.get("bootstrap.servers", "").partition(",")[0])
        return self.options.get("region") or (broker[1] if broker else None)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Errors of botocore as ours: what it says, and what to do."""
        try:
            from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError
        except ModuleNotFoundError as error:
            text = f"is {AWS}, and the Python package `botocore` is missing: pip install 'airflow-kconnect[kafka-aws]'"
            raise ConfigError({PROVIDER: [text]}) from error
        try:
            yield
        except unreachable() as error:
            raise RetriableError(f"AWS gives no credentials for Kafka: {safe_text(error)}") from None
        except ClientError as error:
            raise self._refused(error) from error
        except NoCredentialsError as error:
            raise ConfigError({PROVIDER: [f"is {AWS}, and there are no credentials of AWS: {_CHAIN}"]}) from error
        except BotoCoreError as error:
            raise ConfigError({PROVIDER: [f"is {AWS}, and AWS gives no credentials: {error}"]}) from error

    def _refused(self, error: Any) -> ConfigError | RetriableError:
        if error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 400) >= 500:
            return RetriableError(f"AWS gives no credentials for Kafka: {error}")
        key = f"{PREFIX}{AWS}.role.arn" if self._login.role_arn else PROVIDER
        return ConfigError({key: [f"AWS refuses credentials for it: {error}"]})
