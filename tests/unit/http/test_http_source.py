"""The HTTP source's task against a real server: pages, cursors, and what it makes of each kind of answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from airflow_kconnect.connect.connector.source import ExactlyOnceSupport
from airflow_kconnect.connect.connector.task import NewShapes
from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.connect.record import SourceRecord
from airflow_kconnect.http.source import HttpSourceConnector
from airflow_kconnect.java_text.json import partition_identity
from tests.support.connectors.tasks import polls, started
from tests.support.http_server import Answer, HttpServer, Request

Serve = Callable[..., HttpServer]
SCHEMALESS = {"kconnect.http.schema": "none", "retry.backoff.ms": "1"}
PARTITION = partition_identity({"source": "HttpSource"})


def read(url: str, offset: Any = None, **keys: str) -> list[SourceRecord]:
    """All records of one task."""
    given = {name.replace("__", "."): value for name, value in keys.items()}
    props = {"http.request.url": url, "topic": "t", **SCHEMALESS, **given}
    assert HttpSourceConnector.validate(props) == {}
    return list(polls(started(HttpSourceConnector(props), {PARTITION: offset} if offset else {})))


def ids(records: list[SourceRecord]) -> list[Any]:
    return [record.value["id"] for record in records]


def body(data: Any, **headers: str) -> Answer:
    return Answer(200, headers, json.dumps(data).encode())


def asked(request: Request) -> dict[str, str]:
    return {name: texts[0] for name, texts in parse_qs(urlsplit(request.path).query).items()}


COUNT, SIZE = 7, 3


def paged(kind: str) -> Callable[[Request], Answer]:
    """An API with numbers 0 to 6, three on a page."""

    def answer(request: Request) -> Answer:
        query = asked(request)
        match kind:
            case "page":
                first = (int(query["page"]) - 1) * SIZE
            case "offset":
                first = int(query["offset"])
            case "cursor":
                first = int(query.get("cursor", "c0")[1:])
            case _:
                first = int(query.get("from", "0"))
        items = [{"id": n} for n in range(first, min(first + SIZE, COUNT))]
        follows = first + SIZE if first + SIZE < COUNT else None
        url = f"/items?from={follows}" if follows else None
        match kind:
            case "link":
                return body(items, **({"Link": f'<{url}>; rel="next", </x>; rel="first"'} if url else {}))
            case "url":
                return body({"data": items, "links": {"next": url}})
        return body({"data": items, "meta": {"next": f"c{follows}" if follows else None}})

    return answer


LISTED = {"http.response.list.pointer": "/data"}
KINDS: list[tuple[str, dict[str, str]]] = [
    ("page", LISTED),
    ("offset", LISTED),
    ("cursor", {**LISTED, "kconnect.http.paging.pointer": "/meta/next"}),
    ("url", {**LISTED, "kconnect.http.paging.pointer": "/links/next"}),
    ("link", {}),
]


@pytest.mark.parametrize(("kind", "keys"), KINDS)
def test_all_pages_are_read(kind: str, keys: dict[str, str], serve: Serve) -> None:
    server = serve(answer=paged(kind))
    assert ids(read(f"{server.url}/items", **keys, kconnect__http__paging=kind)) == list(range(COUNT))


@pytest.mark.parametrize(("kind", "keys"), KINDS)
def test_a_run_may_begin_with_the_last_page_of_the_run_before(kind: str, keys: dict[str, str], serve: Serve) -> None:
    server = serve(answer=paged(kind))
    keys = {**keys, "kconnect.http.paging": kind, "kconnect.http.paging.resume": "true"}
    records = read(f"{server.url}/items", **keys)
    rest = [ids(read(f"{server.url}/items", dict(record.source_offset or {}), **keys)) for record in records]
    assert rest == [list(range(n + 1, COUNT)) for n in range(COUNT)]


@pytest.mark.parametrize(
    "keys",
    [
        {"kconnect.http.cursor.fields": "id", "kconnect.http.key.fields": "id"},
        {"kconnect.http.cursor.fields": "id"},
        {"kconnect.http.cursor.fields": "at,id", "kconnect.http.key.fields": "id"},
    ],
    ids=["the key", "not unique", "two"],
)
def test_with_a_cursor_only_what_is_new_is_written(keys: dict[str, str], serve: Serve) -> None:
    server = serve(answer=lambda request: body([{"id": n, "at": n // 2} for n in range(5)]))
    offsets = [dict(record.source_offset or {}) for record in read(server.url, **keys)]
    assert [ids(read(server.url, offset, **keys)) for offset in offsets] == [list(range(n, 5)) for n in range(1, 6)]


def test_the_cursor_is_a_parameter(serve: Serve) -> None:
    server = serve(answer=lambda request: body([{"id": 5}]))
    cursor = {"kconnect.http.cursor.fields": "id", "kconnect.http.key.fields": "id"}
    keys = {"http.request.params": "since={cursor}&size=2", **cursor}
    read(f"{server.url}/?key=k", **keys)
    read(f"{server.url}/?key=k", {"id": 5}, **keys)
    assert [request.path for request in server.requests] == ["/?key=k&size=2", "/?key=k&since=5&size=2"]


def test_the_first_run_may_have_a_cursor(serve: Serve) -> None:
    server = serve(answer=lambda request: body([]))
    cursor = {"kconnect.http.cursor.fields": "at", "kconnect.http.cursor.initial": "2026-01-01"}
    read(server.url, **cursor, http__request__params="since={cursor}")
    assert server.requests[0].path == "/?since=2026-01-01"


def test_a_search_is_posted_with_the_cursor_in_its_body(serve: Serve) -> None:
    server = serve(answer=lambda request: body([]))
    cursor = {"kconnect.http.cursor.fields": "at", "kconnect.http.cursor.initial": "0"}
    read(server.url, **cursor, http__request__method="POST", http__request__body='{"since": {cursor}}')
    assert (server.requests[0].method, server.requests[0].body) == ("POST", b'{"since": 0}')


def test_the_size_of_a_page_is_asked_for(serve: Serve) -> None:
    server = serve(answer=lambda request: body([]))
    keys = {"kconnect.http.paging": "offset", "kconnect.http.paging.param": "skip", "kconnect.http.paging.size": "50"}
    read(server.url, **keys, kconnect__http__paging__size__param="take")
    assert server.requests[0].path == "/?skip=0&take=50"


def test_records_in_another_order_can_be_sorted(serve: Serve) -> None:
    server = serve(answer=lambda request: body([{"id": 3}, {"id": 1}, {"id": 2}]))
    assert ids(read(server.url, kconnect__http__cursor__fields="id", kconnect__http__sort="true")) == [1, 2, 3]


def test_records_in_another_order_are_an_error(serve: Serve) -> None:
    server = serve(answer=lambda request: body([{"id": 3}, {"id": 1}]))
    with pytest.raises(DataError, match="HttpSource: records must come in ascending order of `id`: 1 came after 3"):
        read(server.url, kconnect__http__cursor__fields="id")


def test_keys_and_times_of_records(serve: Serve) -> None:
    server = serve(answer=lambda request: body({"rows": [{"node": {"id": 7, "at": 1234}}]}))
    pointers = {"http.response.list.pointer": "/rows", "http.response.record.pointer": "/node"}
    (record,) = read(server.url, **pointers, kconnect__http__key__fields="id", kconnect__http__timestamp="at")
    assert (record.key, record.value, record.timestamp) == (7, {"id": 7, "at": 1234}, 1234)


def test_an_object_in_place_of_a_list_is_a_record(serve: Serve) -> None:
    assert ids(read(serve(answer=lambda request: body({"id": 1})).url)) == [1]


@pytest.mark.parametrize("data", [[], None, {"data": None}, {"data": []}])
def test_an_answer_may_have_no_records(data: Any, serve: Serve) -> None:
    pointer = {"http.response.list.pointer": "/data"} if data else {}
    assert read(serve(answer=lambda request: body(data)).url, **pointer) == []


def test_unicode_and_ten_megabytes(serve: Serve) -> None:
    text = "ü語" * 2_000_000
    (record,) = read(serve(answer=lambda request: Answer(body=json.dumps([{"t": text}]).encode())).url)
    assert record.value == {"t": text}


def test_an_inferred_schema_is_learned_from_the_records(serve: Serve) -> None:
    with pytest.raises(NewShapes):
        read(serve(answer=lambda request: body([{"id": 1}])).url, kconnect__http__schema="inferred")


def test_a_schema_that_is_given(serve: Serve) -> None:
    fields = [{"type": "int64", "field": "id"}]
    schema = json.dumps({"type": "struct", "fields": fields})
    (record,) = read(serve(answer=lambda request: body([{"id": 1}])).url, kconnect__http__schema=schema)
    assert record.value_schema is not None and [field.name for field in record.value_schema.fields] == ["id"]


@pytest.mark.parametrize(
    "answer",
    [Answer(500), Answer(503), Answer(429, {"Retry-After": "0"}), Answer(cut=True, body=b"[{}, {}]")],
    ids=["500", "503", "429", "cut off"],
)
def test_what_failed_is_asked_again(answer: Answer, serve: Serve) -> None:
    assert ids(read(serve(answer, answer=lambda request: body([{"id": 1}])).url)) == [1]


def test_a_server_that_stays_unavailable_is_worth_a_retry(serve: Serve) -> None:
    with pytest.raises(RetriableError, match=r"GET http://\S+/orders: 503 Service Unavailable \(1 attempts\)"):
        read(f"{serve(Answer(503)).url}/orders?token=hush", max__retries="0")


@pytest.mark.parametrize(
    ("answer", "error", "text"),
    [
        (Answer(body=b"<html>", headers={"Content-Type": "text/html"}), DataError, r"\(text/html\) is not JSON"),
        (Answer(body=b'[{"id": 1}, {"id'), DataError, "is not JSON"),
        (body({"items": []}), DataError, r"no list at /data \(`http.response.list.pointer`\), only items"),
        (body({"data": [1]}), DataError, "a record is not an object, but 1"),
        (Answer(400, body=b"no such\n filter"), DataError, "400 Bad Request: no such filter"),
        (Answer(401), ConfigError, "`http.authorization.type`: GET"),
        (Answer(404), ConfigError, "`http.request.url`: GET"),
        (Answer(302, {"Location": "https://h/login?x=1"}), ConfigError, "302, and redirects to https://h/login: name"),
    ],
    ids=["another type", "broken JSON", "no list", "no objects", "400", "401", "404", "redirect"],
)
def test_an_answer_that_is_wrong_is_named(answer: Answer, error: type[Exception], text: str, serve: Serve) -> None:
    with pytest.raises(error, match=text):
        read(serve(answer).url, **LISTED)


def test_a_next_page_elsewhere_does_not_get_the_login(serve: Serve) -> None:
    server, other = serve(), serve()
    server.answer = lambda request: body([{"id": 1}], Link=f'<{other.url}/2>; rel="next"')
    with pytest.raises(DataError, match="the next page is on another server"):
        read(server.url, kconnect__http__paging="link")
    assert other.requests == []


def test_a_page_that_follows_itself_is_an_error(serve: Serve) -> None:
    server = serve(answer=lambda request: body({"data": [{"id": 1}], "next": "c"}))
    with pytest.raises(DataError, match="the next page is one that was read already"):
        read(server.url, **LISTED, kconnect__http__paging="cursor", kconnect__http__paging__pointer="/next")


@pytest.mark.parametrize(
    ("keys", "wrong"),
    [
        ({"kconnect.http.paging": "cursor"}, "kconnect.http.paging.pointer"),
        ({"kconnect.http.paging.resume": "true"}, "kconnect.http.paging.resume"),
        ({"http.request.params": "a={cursor}"}, "kconnect.http.cursor.fields"),
        ({"http.request.body": "x"}, "http.request.body"),
        ({"kconnect.http.sort": "true"}, "kconnect.http.sort"),
        ({"http.authorization.type": "basic"}, "kconnect.http.user"),
        (
            {
                "http.request.method": "POST",
                "http.request.body": "{cursor}",
                "kconnect.http.cursor.fields": "id",
            },
            "kconnect.http.cursor.initial",
        ),
    ],
)
def test_keys_that_do_not_go_together(keys: dict[str, str], wrong: str) -> None:
    assert wrong in HttpSourceConnector.validate({"http.request.url": "http://h", "topic": "t", **keys})


@pytest.mark.parametrize(
    ("key", "value"),
    [("kconnect.http.schema", "no JSON"), ("http.response.list.pointer", "data"), ("http.request.url", "h/x")],
)
def test_a_value_that_is_wrong_is_named(key: str, value: str) -> None:
    with pytest.raises(ConfigError) as error:
        HttpSourceConnector.config().parse({"http.request.url": "http://h", "topic": "t", key: value})
    assert list(error.value.errors) == [key]


@pytest.mark.parametrize(
    ("keys", "support"),
    [
        ({}, ExactlyOnceSupport.UNSUPPORTED),
        ({"kconnect.http.cursor.fields": "id"}, ExactlyOnceSupport.SUPPORTED),
        ({"kconnect.http.paging": "page", "kconnect.http.paging.resume": "true"}, ExactlyOnceSupport.SUPPORTED),
    ],
)
def test_it_is_exactly_once_if_it_resumes(keys: dict[str, str], support: ExactlyOnceSupport) -> None:
    assert HttpSourceConnector.exactly_once_support({"http.request.url": "http://h", "topic": "t", **keys}) is support


def test_without_a_way_to_resume_there_is_a_warning() -> None:
    (text,) = HttpSourceConnector.warnings({"http.request.url": "http://h", "topic": "t"})
    assert "each run writes all records again" in text


def test_an_offset_that_is_altered_is_checked() -> None:
    props = {"http.request.url": "http://h", "topic": "t", "kconnect.http.cursor.fields": "id"}
    with pytest.raises(ConfigError, match="is not an offset of HttpSource: it has id"):
        HttpSourceConnector.alter_offsets(props, [({"source": "HttpSource"}, {"at": 1})])
