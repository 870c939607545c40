"""`kconnect topic tail` as a user meets it, with a real broker."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Producer
from typer.testing import CliRunner, Result

from airflow_kconnect.cli import app
from tests.support import unique
from tests.support.kafka import produce

Tail = Callable[..., Result]


@pytest.fixture
def tail(bootstrap: str, monkeypatch: pytest.MonkeyPatch) -> Tail:
    """The command: `tail(topic, "--max", 3)`."""
    monkeypatch.setenv("KCONNECT_BOOTSTRAP_SERVERS", bootstrap)
    monkeypatch.setenv("COLUMNS", "200")

    def go(*arguments: object) -> Result:
        return CliRunner().invoke(app, ["topic", "tail", *map(str, arguments)])

    return go


def _values(result: Result) -> list[Any]:
    assert result.exit_code == 0, result.output
    return [json.loads(line)["value"] for line in result.stdout.splitlines()]


def test_the_last_records(tail: Tail, topic: Callable[..., str], bootstrap: str) -> None:
    name = topic()
    produce(bootstrap, name, [str(i) for i in range(25)])
    assert _values(tail(name, "--json")) == [str(i) for i in range(15, 25)]


def test_fewer_of_the_last_records(tail: Tail, topic: Callable[..., str], bootstrap: str) -> None:
    name = topic()
    produce(bootstrap, name, ["a", "b", "c"])
    assert _values(tail(name, "--max", 2, "--json")) == ["b", "c"]


def test_all_records_from_the_beginning(tail: Tail, topic: Callable[..., str], bootstrap: str) -> None:
    name = topic(partitions=2)
    produce(bootstrap, name, ["a", "b"], partition=0)
    produce(bootstrap, name, ["c"], partition=1)
    assert _values(tail(name, "--from-beginning", "--json")) == ["a", "b", "c"]


def test_the_first_records(tail: Tail, topic: Callable[..., str], bootstrap: str) -> None:
    name = topic()
    produce(bootstrap, name, [str(i) for i in range(25)])
    assert _values(tail(name, "--from-beginning", "--max", 3, "--json")) == ["0", "1", "2"]


def test_marks_of_transactions_take_no_place(tail: Tail, topic: Callable[..., str], bootstrap: str) -> None:
    name = topic()
    for value in "abcdef":
        produce(bootstrap, name, [value], settings={"transactional.id": unique("tail")})
    assert _values(tail(name, "--max", 5, "--json")) == list("bcdef")


def test_records_of_an_open_transaction_are_not_shown(tail: Tail, topic: Callable[..., str], bootstrap: str) -> None:
    name = topic()
    produce(bootstrap, name, ["committed"])
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": unique("open")})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(name, "open")
    producer.flush(30)
    try:
        assert _values(tail(name, "--json")) == ["committed"]
    finally:
        producer.abort_transaction(30)


def test_a_line_has_place_time_key_value_and_headers(tail: Tail, topic: Callable[..., str], bootstrap: str) -> None:
    name = topic()
    produce(bootstrap, name, ["[red]ümlaut"], key="k", headers=[("h", b"1"), ("n", None)])
    line = tail(name).stdout
    assert line.startswith(f"{name}-0@0 20")
    assert line.endswith("key=k value=[red]ümlaut header h=1 header n=null\n")


def test_what_is_not_text_is_shown_in_escapes(tail: Tail, topic: Callable[..., str], bootstrap: str) -> None:
    name = topic()
    produce(bootstrap, name, [b"\xffa"])
    assert "value=\\xffa" in tail(name).stdout


def test_in_json_it_keeps_its_bytes(tail: Tail, topic: Callable[..., str], bootstrap: str) -> None:
    name = topic()
    produce(bootstrap, name, [b"\xff\x00a", None])
    bytes_, null = _values(tail(name, "--json"))
    assert (bytes_.encode(errors="surrogateescape"), null) == (b"\xff\x00a", None)


def test_json_lines_are_input_of_a_preview(tail: Tail, topic: Callable[..., str], bootstrap: str) -> None:
    name = topic()
    produce(bootstrap, name, ["v"], headers=[("h", b"1")])
    record = json.loads(tail(name, "--json").stdout)
    assert record["headers"] == [{"key": "h", "value": "1"}]
    assert set(record) == {"topic", "partition", "offset", "timestamp", "key", "value", "headers"}


def test_an_empty_topic(tail: Tail, topic: Callable[..., str]) -> None:
    assert tail(topic()).stdout == "The topic has no records.\n"


def test_a_topic_that_does_not_exist_gets_the_closest_name(tail: Tail, topic: Callable[..., str]) -> None:
    name = topic()
    result = tail(f"{name}x")
    assert (result.exit_code, f"did you mean `{name}`?" in result.stderr) == (1, True)
