"""Which identity the provider for Entra ID takes from the environment."""

from __future__ import annotations

import json
import time
from urllib.parse import parse_qs, urlsplit

import pytest

from airflow_kconnect.kafka.logins.azure import EntraTokens
from tests.support.http_server import Answer, Request, http_server


def token(request: Request) -> Answer:
    """As the endpoint for managed identities of App Service does."""
    text = {"access_token": "t", "expires_on": str(int(time.time()) + 3600), "resource": "x", "token_type": "Bearer"}
    return Answer(200, {"Content-Type": "application/json"}, json.dumps(text).encode())


@pytest.mark.parametrize(("options", "client"), [({}, "of-env"), ({"client.id": "own"}, "own")])
def test_a_managed_identity_is_chosen_by_the_option_or_by_the_environment(
    options: dict[str, str], client: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AZURE_CLIENT_ID", "of-env")
    with http_server(answer=token) as server:
        monkeypatch.setenv("IDENTITY_ENDPOINT", f"{server.url}/msi")
        monkeypatch.setenv("IDENTITY_HEADER", "header")
        EntraTokens({"bootstrap.servers": "h:9093", **options}).token()
    assert parse_qs(urlsplit(server.requests[-1].path).query)["client_id"] == [client]
