"""Tokens of Entra ID, for Azure's Event Hubs and for brokers that accept such tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.connect.token_provider import Token, TokenProvider
from airflow_kconnect.worker_config.oauth_keys import AZURE, PROVIDER

_APPLICATION = ("tenant.id", "client.id", "client.secret")
_OF_ENVIRONMENT = {
    "managed_identity_client_id": "client.id",
    "workload_identity_client_id": "client.id",
    "workload_identity_tenant_id": "tenant.id",
}
"""Parameters of the environment's credential, and the option for each."""


class EntraTokens(TokenProvider):
    """`azure`: an application's secret, or what the environment has (workload identity, managed identity, ...)."""

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(options)
        host = options.get("bootstrap.servers", "").partition(",")[0].rpartition(":")[0]
        self._scope = options.get("scope") or f"https://{host}/.default"
        self._credential = self._made()

    def token(self) -> Token:
        from azure.core.exceptions import AzureError, ClientAuthenticationError

        try:
            found = self._credential.get_token(self._scope)
        except AzureError as error:
            text = f"Entra ID gives no token for {self._scope}: {' '.join(error.message.split())}"
            if isinstance(error, ClientAuthenticationError) and self._is_answer(error):
                raise ConfigError({PROVIDER: [f"is {AZURE}, and {text}"]}) from error
            raise RetriableError(text) from error
        return Token(found.token, float(found.expires_on))

    def _is_answer(self, error: Exception) -> bool:
        """Whether Entra ID itself refuses. What keeps it from answering is the error's cause; that of a tenant that it
        does not know is a `ValueError`. Without a secret, each kind of credential has been tried: one of them may have
        been unavailable.
        """
        return bool(self.options.get("client.secret")) and isinstance(error.__cause__, ValueError | None)

    def _made(self) -> Any:
        try:
            from azure.identity import ClientSecretCredential, DefaultAzureCredential
        except ModuleNotFoundError as error:
            text = f"is {AZURE}, and the Python package `azure-identity` is missing: pip install"
            raise ConfigError({PROVIDER: [f"{text} 'airflow-kconnect[kafka-azure]'"]}) from error
        own = self.options
        if "client.secret" not in own:
            # What is not set must not be given: the environment's AZURE_CLIENT_ID counts then.
            given = {name: own[key] for name, key in _OF_ENVIRONMENT.items() if own.get(key)}
            return DefaultAzureCredential(exclude_interactive_browser_credential=True, **given)
        if missing := [key for key in _APPLICATION if not own.get(key)]:
            raise ConfigError({key: ["is not set; an application with a secret needs it"] for key in missing})
        return ClientSecretCredential(*(own[key] for key in _APPLICATION))
