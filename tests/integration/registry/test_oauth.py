"""A real registry behind a front that wants tokens, and an OAuth server that issues them."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qs

import pytest

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.registry.client import SchemaRegistry
from airflow_kconnect.registry.keys import registry_config
from airflow_kconnect.registry.schema import RegisteredSchema
from tests.support import unique
from tests.support.registry_front import Reply, forward, reply, serving

CLIENT, SECRET = "kconnect", "s3cret"
SCHEMA = RegisteredSchema("AVRO", '"string"')


@dataclass
class Guard:
    """Issues tokens, and lets requests with the newest of them through to the registry."""

    registry_url: str
    tokens: list[str] = field(default_factory=list)
    asked: list[str | None] = field(default_factory=list)

    def issue(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Reply:
        expected = "Basic " + base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if headers.get("Authorization") != expected:
            return reply(401, {"error": "invalid_client", "error_description": "wrong client or secret"})
        if parse_qs(body.decode()) != {"grant_type": ["client_credentials"], "scope": ["schemas"]}:
            return reply(400, {"error": "invalid_scope"})
        self.tokens.append(secrets.token_urlsafe())
        return reply(200, {"access_token": self.tokens[-1], "token_type": "Bearer", "expires_in": 3600})

    def guard(self, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Reply:
        self.asked.append(headers.get("Authorization"))
        if not self.tokens or headers.get("Authorization") != f"Bearer {self.tokens[-1]}":
            return reply(401, {"error_code": 401, "message": "Unauthorized"})
        return forward(self.registry_url, method, path, headers, body)


@pytest.fixture
def guard(registry_url: str) -> Guard:
    return Guard(registry_url)


@pytest.fixture
def keys(guard: Guard) -> Iterator[dict[str, str]]:
    with serving(guard.issue) as issuer, serving(guard.guard) as front:
        yield {
            "schema.registry.url": front,
            "bearer.auth.credentials.source": "OAUTHBEARER",
            "bearer.auth.issuer.endpoint.url": f"{issuer}/oauth2/token",
            "bearer.auth.client.id": CLIENT,
            "bearer.auth.client.secret": SECRET,
            "bearer.auth.scope": "schemas",
        }


def _registry(keys: Mapping[str, str]) -> SchemaRegistry:
    return SchemaRegistry(registry_config(ConfigDef()).parse(keys), "value.converter.")


def test_schemas_are_registered_and_read_with_one_token(guard: Guard, keys: dict[str, str]) -> None:
    registry = _registry(keys)

    number = registry.register(unique("subject"), SCHEMA)

    assert registry.schema_by_id(number).text == SCHEMA.text
    assert len(guard.tokens) == 1


def test_a_token_that_is_no_longer_valid_is_replaced(guard: Guard, keys: dict[str, str]) -> None:
    registry = _registry(keys)
    number = registry.register(unique("subject"), SCHEMA)
    guard.tokens[-1] = "revoked"

    assert registry.schema_by_id(number).text == SCHEMA.text
    assert len(guard.tokens) == 2


@pytest.mark.parametrize(
    ("key", "value"), [("bearer.auth.client.secret", "wrong"), ("bearer.auth.scope", "other")], ids=["secret", "scope"]
)
def test_what_the_oauth_server_refuses_is_an_error_of_that_key(
    guard: Guard, keys: dict[str, str], key: str, value: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        _registry(keys | {key: value}).register(unique("subject"), SCHEMA)

    assert list(caught.value.errors) == [f"value.converter.{key}"]
    assert guard.asked == []
