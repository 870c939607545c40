"""The HTTP sink's task against a real server: what it sends, and what it does with each kind of answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from decimal import Decimal
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.connector.task import SinkTaskContext
from airflow_kconnect.connect.data import (
    BYTES_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    ConnectSchema,
    decimal_schema,
    struct,
)
from airflow_kconnect.connect.errors import ConfigError, DataError, RefusedError, RetriableError
from airflow_kconnect.connect.record import SinkRecord
from airflow_kconnect.http.sink import HttpSinkConnector, HttpSinkTask
from tests.support.certificates import self_signed
from tests.support.http_server import Answer, HttpServer, Request

QUICK = {"retry.backoff.ms": "1"}
Serve = Callable[..., HttpServer]


class Reporter:
    """Takes what the task cannot send."""

    def __init__(self) -> None:
        self.reported: list[tuple[int, Exception]] = []

    def report(self, record: SinkRecord, error: Exception) -> None:
        self.reported.append((record.kafka_offset, error))

    @property
    def offsets(self) -> list[int]:
        return [offset for offset, _ in self.reported]


@pytest.fixture
def send() -> Iterator[Callable[..., Reporter]]:
    """`send(server, *values, **keys)`: a task puts records with these values, from offset 0 on."""
    with ExitStack() as tasks:

        def sent(server: HttpServer | str, *values: Any, first: int = 0, schema: Any = None, **more: str) -> Reporter:
            url = server if isinstance(server, str) else f"{server.url}/orders"
            keys = {name.replace("__", "."): value for name, value in more.items()}
            task, reporter = HttpSinkTask(), Reporter()
            task.initialize(SinkTaskContext({}, (), None if keys.pop("strict", "") else reporter))
            task.start({"http.url": url, **QUICK, **keys})
            tasks.callback(task.stop)
            task.put([SinkRecord("t", 0, first + n, None, v, value_schema=schema) for n, v in enumerate(values)])
            return reporter

        yield sent


def bodies(server: HttpServer) -> list[str]:
    return [request.body.decode() for request in server.requests]


def test_a_record_is_a_request(serve: Serve, send: Any) -> None:
    send(server := serve(), "one", "two")
    assert bodies(server) == ["one", "two"]


ROW = struct(("id", INT64_SCHEMA), ("price", decimal_schema(2)))


@pytest.mark.parametrize(
    ("value", "schema", "keys", "body"),
    [
        ("plain ünïcode", STRING_SCHEMA, {}, "plain ünïcode"),
        ({"b": [1, None], "a": "ü"}, None, {}, '{"b":[1,null],"a":"ü"}'),
        (b"\x00\xff".hex().encode(), BYTES_SCHEMA, {}, "00ff"),
        ({"id": 1, "price": Decimal("1.50")}, ROW, {"decimal.format": "numeric"}, '{"id":1,"price":1.50}'),
        ({"id": 1, "price": Decimal("1.50")}, ROW, {}, '{"id":1,"price":"AJY="}'),
    ],
    ids=["text", "schemaless", "bytes", "decimals as numbers", "decimals"],
)
def test_bodies_are_texts_as_they_are_and_json(
    value: Any, schema: ConnectSchema | None, keys: dict[str, str], body: str, serve: Serve, send: Any
) -> None:
    send(server := serve(), value, schema=schema, **keys)
    assert bodies(server) == [body]


def test_a_request_says_by_topic_partition_and_offset_what_it_has(serve: Serve, send: Any) -> None:
    send(server := serve(), "a", "b", first=7)
    assert [request.headers["Idempotency-Key"] for request in server.requests] == ["t-0-7", "t-0-8"]


def test_records_of_two_topics_that_become_one_have_keys_of_their_own(serve: Serve) -> None:
    task, server = HttpSinkTask(), serve()
    task.start({"http.url": server.url})
    task.put([SinkRecord("all", 0, 7, None, "a", original_topic=f"orders-{at}") for at in ("eu", "us")])
    task.stop()
    assert [request.headers["Idempotency-Key"] for request in server.requests] == ["orders-eu-0-7", "orders-us-0-7"]


def test_batches_have_what_is_before_between_and_after(serve: Serve, send: Any) -> None:
    batching = {"batching.enabled": "true", "batch.prefix": "[", "batch.separator": ",", "batch.suffix": "]"}
    send(server := serve(), "1", "2", "3", **batching)
    assert bodies(server) == ["[1,2,3]"]


def test_batches_are_lines_unless_keys_say_otherwise(serve: Serve, send: Any) -> None:
    send(server := serve(), "1", "2", batching__enabled="true")
    assert bodies(server) == ["1\n2\n"]


def test_where_a_batch_ends_does_not_depend_on_where_a_run_begins(serve: Serve, send: Any) -> None:
    send(server := serve(), *"345678", first=3, batching__enabled="true", batch__max__size="4")
    assert [request.headers["Idempotency-Key"] for request in server.requests] == ["t-0-3", "t-0-4-7", "t-0-8"]


@pytest.mark.parametrize(
    "answer",
    [Answer(500), Answer(503), Answer(429, {"Retry-After": "0"}), Answer(cut=True, body=b"half of it")],
    ids=["500", "503", "429", "cut off"],
)
def test_a_request_that_failed_is_sent_again_with_its_key(answer: Answer, serve: Serve, send: Any) -> None:
    send(server := serve(answer), "a")
    assert [request.headers["Idempotency-Key"] for request in server.requests] == ["t-0-0", "t-0-0"]


def test_a_server_that_is_too_slow_is_one_that_failed(serve: Serve, send: Any) -> None:
    send(server := serve(Answer(after_s=1.3)), "a", http__timeout="1")
    assert bodies(server) == ["a", "a"]


def test_retries_end(serve: Serve, send: Any) -> None:
    with pytest.raises(RetriableError, match=r"POST http://127\S+/orders: 503 Service Unavailable \(3 attempts\)"):
        send(serve(*[Answer(503)] * 9), "a", max__retries="2")


def test_a_run_may_try_again_itself(serve: Serve) -> None:
    task = HttpSinkTask()
    task.initialize(context := SinkTaskContext({}))
    task.start({"http.url": serve(Answer(503)).url, "max.retries": "0", "kafka.retry.backoff.ms": "70"})
    with pytest.raises(RetriableError):
        task.put([SinkRecord("t", 0, 0, None, "a")])
    task.stop()
    assert context.requests.timeout_ms == 70


def test_a_record_that_is_refused_is_reported_and_others_are_sent(serve: Serve, send: Any) -> None:
    server = serve(answer=lambda request: Answer(400, body=b"no such\ncustomer") if request.body == b"b" else Answer())
    reporter = send(server, "a", "b", "c")
    assert (reporter.offsets, bodies(server)) == ([1], ["a", "b", "c"])


def test_a_refusal_says_why(serve: Serve, send: Any) -> None:
    ((_, error),) = send(serve(Answer(422, body=b"no such\n customer")), "a").reported
    assert (type(error), str(error).partition("/orders: ")[2]) == (
        RefusedError,
        "422 Unprocessable Entity: no such customer",
    )


def test_of_a_batch_that_is_refused_each_record_is_sent_alone(serve: Serve, send: Any) -> None:
    server = serve(answer=lambda request: Answer(400 if b"bad" in request.body else 200))
    reporter = send(server, "a", "bad", "c", batching__enabled="true")
    assert (reporter.offsets, bodies(server)) == ([1], ["a\nbad\nc\n", "a\n", "bad\n", "c\n"])


def test_without_tolerance_the_error_names_the_record(serve: Serve, send: Any) -> None:
    with pytest.raises(DataError, match=r"t-0@5: POST \S+/orders: 400 Bad Request: 1\. `errors.tolerance` all with"):
        send(serve(Answer(400)), "a", first=5, strict="yes")


def test_a_tombstone_is_a_bad_record(serve: Serve, send: Any) -> None:
    reporter = send(server := serve(), "a", None, "c")
    assert (reporter.offsets, bodies(server)) == ([1], ["a", "c"])


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        (Answer(401), "http.authorization.type"),
        (Answer(403), "http.authorization.type"),
        (Answer(404), "http.url"),
        (Answer(405), "http.url"),
        (Answer(301, {"Location": "http://127.0.0.1/elsewhere?token=x"}), "http.url"),
    ],
    ids=lambda given: str(given.status) if isinstance(given, Answer) else "",
)
def test_what_is_wrong_with_the_connector_is_no_bad_record(answer: Answer, key: str, serve: Serve, send: Any) -> None:
    with pytest.raises(ConfigError) as error:
        send(serve(answer), "a")
    assert list(error.value.errors) == [key]


def test_a_redirect_is_named_without_its_query(serve: Serve, send: Any) -> None:
    with pytest.raises(ConfigError, match=r"307, and redirects to https://other/x: name it"):
        send(serve(Answer(307, {"Location": "https://other/x?token=secret"})), "a")


def test_an_answer_that_repeats_a_secret_is_not_quoted_with_it(serve: Serve, send: Any) -> None:
    server = serve(answer=lambda request: Answer(400, body=f"you sent {request.headers}".encode()))
    login = {"http.authorization.type": "static", "http.headers.authorization": "Bearer hush"}
    ((_, error),) = send(server, "a", **login, http__headers__additional="X-Key:silent").reported
    assert not {"hush", "silent"} & set(str(error).replace("'", " ").split())


OAUTH2 = {"oauth2.access.token.url": "", "oauth2.client.id": "me", "oauth2.client.secret": "hush"}
BASIC = {"kconnect.http.user": "me", "kconnect.http.password": "hush"}


@pytest.mark.parametrize(
    ("login", "keys", "sent"),
    [("basic", BASIC, "bWU6aHVzaA=="), ("oauth2", OAUTH2, "tok-1")],
)
def test_nor_is_one_that_repeats_what_the_login_was_sent_as(
    login: str, keys: dict[str, str], sent: str, serve: Serve, send: Any
) -> None:
    issuer = serve(answer=lambda request: Answer(body=b'{"access_token": "tok-1"}'))
    server = serve(answer=lambda request: Answer(400, body=request.headers["Authorization"].encode()))
    known = {key: text or issuer.url for key, text in keys.items()}
    ((_, error),) = send(server, "a", **{"http.authorization.type": login}, **known).reported
    assert (sent in str(error), "***" in str(error)) == (False, True)


def test_nothing_is_sent_to_a_metadata_service_of_a_cloud(serve: Serve, send: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr("airflow_kconnect.registry.guarded._METADATA", {ip_address("127.0.0.1")})
    server = serve()
    with pytest.raises(ConfigError) as error:
        send(server.url.replace("127.0.0.1", "localhost"), "a")
    assert (list(error.value.errors), server.requests) == (["http.url"], [])


def test_nor_by_a_proxy(send: Any) -> None:
    proxy = {"http.proxy.host": "127.0.0.1", "http.proxy.port": "9"}
    with pytest.raises(ConfigError, match="is a link-local address"):
        send("http://169.254.169.254/latest", "a", **proxy)


def test_nor_is_a_token_asked_for_there(serve: Serve, send: Any) -> None:
    login = {
        "http.authorization.type": "oauth2",
        "oauth2.access.token.url": "http://169.254.169.254/token",
        "oauth2.client.id": "me",
        "oauth2.client.secret": "hush",
    }
    with pytest.raises(ConfigError) as error:
        send(serve(), "a", **login)
    assert list(error.value.errors) == ["oauth2.access.token.url"]


def test_ten_megabytes_arrive(serve: Serve, send: Any) -> None:
    send(server := serve(), "ü" * 5_000_000)
    assert len(server.requests[0].body) == 10_000_000


@pytest.mark.parametrize(
    ("keys", "header", "value"),
    [
        ({"http.authorization.type": "static", "http.headers.authorization": "Bearer x"}, "Authorization", "Bearer x"),
        (
            {"http.authorization.type": "basic", "kconnect.http.user": "me", "kconnect.http.password": "p"},
            "Authorization",
            "Basic bWU6cA==",
        ),
        ({"http.authorization.type": "apikey", "kconnect.http.api.key": "k"}, "X-API-Key", "k"),
        ({"http.headers.content.type": "application/json"}, "Content-Type", "application/json"),
        ({"http.headers.additional": "X-One:1, X-Two: b:c"}, "X-Two", "b:c"),
        ({"kconnect.http.idempotency.header": "X-Request-Id"}, "X-Request-Id", "t-0-0"),
    ],
    ids=["static", "basic", "apikey", "content type", "more headers", "name of the idempotency key"],
)
def test_headers(keys: dict[str, str], header: str, value: str, serve: Serve, send: Any) -> None:
    send(server := serve(), "a", **keys)
    assert {name.lower(): text for name, text in server.requests[0].headers.items()}[header.lower()] == value


def test_certificates_of_an_authority_of_ones_own(tmp_path: Path, serve: Serve, send: Any) -> None:
    certificate, key = self_signed()
    (both := tmp_path / "server.pem").write_text(certificate + key)
    (authority := tmp_path / "ca.pem").write_text(certificate)
    server = serve(certificate=both)
    trust = {"http.ssl.truststore.location": str(authority), "http.ssl.truststore.type": "PEM"}
    send(server, "a", **trust)
    with pytest.raises(RetriableError, match="CERTIFICATE_VERIFY_FAILED"):
        send(server, "b")
    assert bodies(server) == ["a"]


def test_a_proxy_gets_the_requests(serve: Serve, send: Any) -> None:
    proxy = serve()
    send("http://no.such.host/orders", "a", http__proxy__host="127.0.0.1", http__proxy__port=proxy.url.split(":")[-1])
    assert [request.path for request in proxy.requests] == ["http://no.such.host/orders"]


class TestOAuth2:
    KEYS = {"http.authorization.type": "oauth2", "oauth2.client.id": "me", "oauth2.client.secret": "hush"}

    @staticmethod
    def tokens(request: Request) -> Answer:
        return Answer(body=b'{"access_token": "t1", "token_type": "bearer"}')

    def test_a_token_is_asked_for_once(self, serve: Serve, send: Any) -> None:
        issuer, server = serve(answer=self.tokens), serve()
        send(server, "a", "b", **self.KEYS, oauth2__access__token__url=issuer.url)
        assert (len(issuer.requests), [r.headers["Authorization"] for r in server.requests]) == (1, ["bearer t1"] * 2)

    @pytest.mark.parametrize(
        ("keys", "login", "form"),
        [
            ({}, "Basic bWU6aHVzaA==", b"grant_type=client_credentials"),
            (
                {"oauth2.client.authorization.mode": "url", "oauth2.client.scope": "a b"},
                None,
                b"grant_type=client_credentials&scope=a+b&client_id=me&client_secret=hush",
            ),
        ],
        ids=["header", "url"],
    )
    def test_how_the_client_says_who_it_is(
        self, keys: dict[str, str], login: str | None, form: bytes, serve: Serve, send: Any
    ) -> None:
        issuer = serve(answer=self.tokens)
        send(serve(), "a", **self.KEYS, **keys, oauth2__access__token__url=issuer.url)
        assert (issuer.requests[0].headers.get("Authorization"), issuer.requests[0].body) == (login, form)

    def test_a_token_that_has_expired_is_replaced(self, serve: Serve, send: Any) -> None:
        issuer, server = serve(answer=self.tokens), serve(Answer(), Answer(401))
        send(server, "a", "b", **self.KEYS, oauth2__access__token__url=issuer.url)
        assert (len(issuer.requests), bodies(server)) == (2, ["a", "b", "b"])

    @pytest.mark.parametrize(
        ("answer", "key"),
        [
            (Answer(400, body=b'{"error": "invalid_client", "was": "hush"}'), "oauth2.client.secret"),
            (Answer(body=b"<html>"), "oauth2.access.token.url"),
            (Answer(body=b'{"token": "x"}'), "oauth2.response.token.property"),
        ],
        ids=["refused", "no JSON", "no token"],
    )
    def test_a_server_that_gives_no_token(self, answer: Answer, key: str, serve: Serve, send: Any) -> None:
        with pytest.raises(ConfigError) as error:
            send(serve(), "a", **self.KEYS, oauth2__access__token__url=serve(answer).url)
        assert (list(error.value.errors), "hush" in str(error.value)) == ([key], False)

    def test_one_that_is_unavailable_is_worth_a_retry(self, serve: Serve, send: Any) -> None:
        with pytest.raises(RetriableError, match="503"):
            send(serve(), "a", **self.KEYS, oauth2__access__token__url=serve(Answer(503), Answer(503)).url)


@pytest.mark.parametrize(
    ("keys", "wrong"),
    [
        ({"http.authorization.type": "static"}, ["http.headers.authorization"]),
        ({"http.headers.authorization": "x"}, ["http.headers.authorization"]),
        (
            {"http.authorization.type": "oauth2"},
            ["oauth2.access.token.url", "oauth2.client.id", "oauth2.client.secret"],
        ),
        ({"http.authorization.type": "basic"}, ["kconnect.http.user", "kconnect.http.password"]),
        ({"http.authorization.type": "apikey"}, ["kconnect.http.api.key"]),
        ({"http.proxy.host": "proxy"}, ["http.proxy.host"]),
        ({"http.proxy.port": "3128"}, ["http.proxy.host"]),
    ],
)
def test_keys_that_do_not_go_together(keys: dict[str, str], wrong: list[str]) -> None:
    assert list(HttpSinkConnector.validate({"http.url": "http://h", **keys})) == wrong


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("http.url", "ftp://me:secret@h"),
        ("http.url", "http://h/secret\x01secret"),
        ("oauth2.access.token.url", "https://me:sec/secret@h"),
        ("http.headers.additional", "no colon"),
        ("http.headers.additional", "A:secret,a:2"),
        ("http.headers.additional", "Ä:secret"),
        ("http.headers.authorization", "Bearer secret\nsecret"),
        ("http.headers.authorization", "Bearer secrét"),
        ("http.headers.content.type", "täxt"),
        ("kconnect.http.api.key", "secret\x00secret"),
        ("kconnect.http.api.key.header", "Key:"),
        ("kconnect.http.idempotency.header", "Key of mine"),
        ("oauth2.token.renew.on.status.codes", "401,often"),
        ("batch.max.size", "0"),
    ],
)
def test_a_value_that_is_wrong_is_named_without_secrets(key: str, value: str) -> None:
    with pytest.raises(ConfigError) as error:
        HttpSinkConnector.config().parse({"http.url": "http://h", key: value})
    assert (list(error.value.errors), "secret" in str(error.value)) == ([key], False)


def test_a_replay_needs_a_receiver_that_does_not_mind() -> None:
    problems = [HttpSinkConnector.replay_problem({"kconnect.http.idempotent": text}) for text in ("true", "false")]
    assert (problems[0], "kconnect.http.idempotent" in str(problems[1])) == (None, True)


def test_a_dataset_has_no_login_and_no_query() -> None:
    (dataset,) = HttpSinkConnector.datasets({"http.url": "https://me:secret@h:8443/orders?key=secret"})
    assert json.dumps([dataset.namespace, dataset.name]) == '["https://h:8443", "/orders"]'


@pytest.mark.parametrize(
    ("keys", "shown"),
    [
        ({}, set()),
        ({"http.authorization.type": "OAuth2"}, {"oauth2.client.id"}),
        ({"batching.enabled": "true"}, {"batch.prefix"}),
    ],
)
def test_a_form_shows_keys_that_count(keys: dict[str, str], shown: set[str]) -> None:
    values = HttpSinkConnector.config().validate({"http.url": "http://h", **keys})
    visible = {value.name for value in values if value.visible}
    assert visible & {"oauth2.client.id", "batch.prefix", "kconnect.http.user"} == shown
