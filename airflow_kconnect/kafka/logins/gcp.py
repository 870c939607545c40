"""Tokens of Google Cloud, for its managed Kafka: access tokens in the form of a JWT, as Google's own login has them."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Mapping
from datetime import UTC
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.connect.token_provider import Token, TokenProvider
from airflow_kconnect.worker_config.oauth_keys import GCP, PROVIDER

_SCOPES = ["https://www.googleapis.com/auth/cloud-platform"]
_HEADER = {"typ": "JWT", "alg": "GOOG_OAUTH2_TOKEN"}
"""Nothing is signed: Google's brokers take the access token out of it."""


class GoogleTokens(TokenProvider):
    """`gcp`: a file of credentials, or application default credentials."""

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        self._credentials = self._found()

    def token(self) -> Token:
        from google.auth.exceptions import GoogleAuthError, RefreshError, TransportError
        from google.auth.transport.requests import Request

        credentials = self._credentials
        try:
            if not credentials.valid:
                credentials.refresh(Request())
        except RefreshError as error:
            if error.retryable:
                raise RetriableError(f"Google gives no token for Kafka: {error}") from error
            raise ConfigError({PROVIDER: [f"is {GCP}, and Google refuses a token: {error}"]}) from error
        except TransportError as error:
            raise RetriableError(f"Google gives no token for Kafka: {error}") from error
        except GoogleAuthError as error:
            raise ConfigError({PROVIDER: [f"is {GCP}, and there is no token: {error}"]}) from error
        expires_s = credentials.expiry.replace(tzinfo=UTC).timestamp()
        # That of a machine's own service account is known only once it has a token.
        subject = str(getattr(credentials, "service_account_email", None) or "airflow-kconnect")
        claims = {"exp": expires_s, "iat": time.time(), "iss": "Google", "sub": subject}
        parts = (json.dumps(_HEADER), json.dumps(claims), credentials.token)
        return Token(".".join(map(_encoded, parts)), expires_s, subject)

    def _found(self) -> Any:
        try:
            import google.auth
            from google.auth.exceptions import GoogleAuthError
        except ModuleNotFoundError as error:
            text = (
                f"is {GCP}, and the Python package `google-auth` is missing: pip install 'airflow-kconnect[kafka-gcp]'"
            )
            raise ConfigError({PROVIDER: [text]}) from error
        file = self.options.get("credentials.file")
        try:
            if file is not None:
                credentials, _ = google.auth.load_credentials_from_file(file, scopes=_SCOPES)  # type: ignore[no-untyped-call]
            else:
                credentials, _ = google.auth.default(scopes=_SCOPES)
        except GoogleAuthError as error:
            text = ": ".join(map(str, error.args))  # as a tuple it could quote the file
            where = {PROVIDER: [f"is {GCP}, and {text}"]} if file is None else {"credentials.file": [text]}
            raise ConfigError(where) from None
        return credentials


def _encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
