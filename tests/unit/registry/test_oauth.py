"""Tokens of an OAuth server: how they are asked for, how long they are kept, and what an answer means."""

from __future__ import annotations

import base64
import json
import time

import pytest

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.local.ports import free_port
from airflow_kconnect.registry.client import SchemaRegistry
from tests.unit.registry.conftest import Client, Server

SCHEMA = 200, {"schema": '{"type":"string"}'}
SECRET = "s3cret-of-the-client"
DAY_S = 86_400.0  # a run of all tests may take longer than an hour, and begins with a list of them


def _token(text: str, expires_in: float | None = 3600) -> tuple[int, dict[str, object]]:
    return 200, {"access_token": text} | ({} if expires_in is None else {"expires_in": expires_in})


def _jwt(valid_s: float) -> str:
    payload = base64.urlsafe_b64encode(json.dumps({"exp": time.time() + valid_s}).encode()).decode().rstrip("=")
    return f"e30.{payload}.x"


def _registry(client: Client, oauth_server: Server, url: str | None = None, **keys: str) -> SchemaRegistry:
    base = {
        "bearer_auth_credentials_source": "OAUTHBEARER",
        "bearer_auth_issuer_endpoint_url": f"{oauth_server.url}/token",
        "bearer_auth_client_id": "kconnect",
        "bearer_auth_client_secret": SECRET,
    }
    return client(url, **(base | keys))


def _sent(server: Server) -> list[str | None]:
    return [headers.get("Authorization") for _, _, headers in server.asked]


class TestAsking:
    def test_client_and_secret_are_sent_to_the_oauth_server(
        self, server: Server, oauth_server: Server, client: Client
    ) -> None:
        server.answers, oauth_server.answers = [SCHEMA], [_token("t")]

        _registry(client, oauth_server, bearer_auth_scope="read write").schema_by_id(1)

        assert _sent(oauth_server) == ["Basic " + base64.b64encode(f"kconnect:{SECRET}".encode()).decode()]
        assert oauth_server.bodies == [b"grant_type=client_credentials&scope=read+write"]

    def test_the_registry_gets_the_token(self, server: Server, oauth_server: Server, client: Client) -> None:
        server.answers, oauth_server.answers = [SCHEMA], [_token("t")]

        _registry(client, oauth_server).schema_by_id(1)

        assert _sent(server) == ["Bearer t"]

    def test_confluents_headers_travel_with_it(self, server: Server, oauth_server: Server, client: Client) -> None:
        server.answers, oauth_server.answers = [SCHEMA], [_token("t")]
        keys = {"bearer_auth_logical_cluster": "lsrc-1", "bearer_auth_identity_pool_id": "pool-1"}

        _registry(client, oauth_server, **keys).schema_by_id(1)

        headers = server.asked[0][2]
        assert (headers["target-sr-cluster"], headers["Confluent-Identity-Pool-Id"]) == ("lsrc-1", "pool-1")


class TestKeeping:
    @pytest.mark.parametrize(
        ("answer", "asked"),
        [
            (_token("t"), 1),
            (_token("t", 60), 1),
            (_token("t", 0), 2),
            (_token("t", None), 2),
            (_token(_jwt(DAY_S), None), 1),
            (_token(_jwt(-1), None), 2),
        ],
        ids=["an hour", "shorter than the buffer", "expired", "opaque", "JWT", "expired JWT"],
    )
    def test_a_token_is_kept_while_it_is_valid(
        self, server: Server, oauth_server: Server, client: Client, answer: tuple[int, object], asked: int
    ) -> None:
        server.answers, oauth_server.answers = [SCHEMA], [answer]
        registry = _registry(client, oauth_server)

        registry.schema_by_id(1)
        registry.schema_by_id(2)

        assert len(oauth_server.asked) == asked

    def test_a_token_is_replaced_before_it_expires(self, server: Server, oauth_server: Server, client: Client) -> None:
        server.answers, oauth_server.answers = [SCHEMA], [_token("first", 0.4), _token("second", 3600)]
        registry = _registry(client, oauth_server)

        registry.schema_by_id(1)
        time.sleep(0.25)
        registry.schema_by_id(2)

        assert _sent(server) == ["Bearer first", "Bearer second"]

    def test_a_refused_token_is_replaced_once(self, server: Server, oauth_server: Server, client: Client) -> None:
        server.answers, oauth_server.answers = [(401, {}), SCHEMA], [_token("first"), _token("second")]

        _registry(client, oauth_server).schema_by_id(1)

        assert _sent(server) == ["Bearer first", "Bearer second"]

    def test_a_token_that_is_refused_again_is_an_error(
        self, server: Server, oauth_server: Server, client: Client
    ) -> None:
        server.answers, oauth_server.answers = [(401, {"message": "not you"})], [_token("t")]

        with pytest.raises(ConfigError, match=r"`value\.converter\.bearer\.auth\.client\.id`.*not you"):
            _registry(client, oauth_server).schema_by_id(1)
        assert len(server.asked) == 2


class TestProblems:
    @pytest.mark.parametrize("status", [429, 500, 503])
    def test_an_overloaded_server_is_asked_again(
        self, server: Server, oauth_server: Server, client: Client, status: int
    ) -> None:
        server.answers, oauth_server.answers = [SCHEMA], [(status, {}), _token("t")]

        _registry(client, oauth_server).schema_by_id(1)

        assert len(oauth_server.asked) == 2

    def test_an_unavailable_one_can_be_retried_and_is_named(self, oauth_server: Server, client: Client) -> None:
        url = f"http://127.0.0.1:{free_port()}/token"

        with pytest.raises(RetriableError, match=f"The OAuth server is unavailable: {url}"):
            _registry(client, oauth_server, bearer_auth_issuer_endpoint_url=url, max_retries="0").schema_by_id(1)

    @pytest.mark.parametrize(
        ("answer", "key"),
        [
            ((401, {"error": "invalid_client"}), "client.secret"),
            ((401, b""), "client.secret"),
            ((400, {"error": "unauthorized_client"}), "client.secret"),
            ((400, {"error": "invalid_scope"}), "scope"),
            ((404, b"<html>"), "issuer.endpoint.url"),
            ((400, b"<html>"), "issuer.endpoint.url"),
            ((302, {}), "issuer.endpoint.url"),
            ((200, {}), "issuer.endpoint.url"),
            ((200, {"access_token": "a\nb"}), "issuer.endpoint.url"),
            ((200, b"[]"), "issuer.endpoint.url"),
        ],
    )
    def test_an_error_names_the_key(
        self, oauth_server: Server, client: Client, answer: tuple[int, object], key: str
    ) -> None:
        oauth_server.answers = [answer]

        with pytest.raises(ConfigError) as caught:
            _registry(client, oauth_server).schema_by_id(1)
        assert list(caught.value.errors) == [f"value.converter.bearer.auth.{key}"]

    def test_a_redirect_is_not_followed(self, server: Server, oauth_server: Server, client: Client) -> None:
        oauth_server.answers, oauth_server.headers = [(307, {})], {"Location": f"{server.url}/elsewhere"}

        with pytest.raises(ConfigError, match="307"):
            _registry(client, oauth_server).schema_by_id(1)
        assert server.asked == []

    def test_a_link_local_server_is_refused(self, oauth_server: Server, client: Client) -> None:
        class Stream:
            def get_extra_info(self, name: str) -> tuple[str, int]:
                return "169.254.169.254", 80

        credentials = _registry(client, oauth_server)._http._credentials
        with pytest.raises(ConfigError, match=r"`value\.converter\.bearer\.auth\.issuer\.endpoint\.url`.*link-local"):
            credentials._tokens._http.check_peer(  # type: ignore[attr-defined]
                "connection.connect_tcp.complete", {"return_value": Stream()}
            )

    @pytest.mark.parametrize("status", [400, 401, 404, 500])
    def test_no_error_shows_the_secret(self, oauth_server: Server, client: Client, status: int) -> None:
        oauth_server.answers = [(status, {"error": "invalid_client", "error_description": f"wrong: {SECRET}"})]

        with pytest.raises((ConfigError, RetriableError)) as caught:
            _registry(client, oauth_server, max_retries="0").schema_by_id(1)

        assert SECRET not in str(caught.value)

    def test_no_error_shows_the_token(self, server: Server, oauth_server: Server, client: Client) -> None:
        server.answers, oauth_server.answers = [(403, {"message": "no"})], [_token("t0ken-of-the-client")]

        with pytest.raises(ConfigError) as caught:
            _registry(client, oauth_server).schema_by_id(1)

        assert "t0ken-of-the-client" not in str(caught.value)
