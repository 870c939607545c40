"""`kconnect dlq list`, `show` and `count`, and `kconnect lag`, with a real broker."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from typer.testing import CliRunner, Result

from airflow_kconnect.cli import app
from airflow_kconnect.kafka.sink_topics import dead_letter_group
from tests.support import unique
from tests.support.positions import commit

Kconnect = Callable[..., Result]

ERROR = {"topic": "orders", "partition": "0", "offset": "7", "stage": "VALUE_CONVERTER", "exception.message": "no JSON"}


@pytest.fixture
def kconnect(control_file: Path, monkeypatch: pytest.MonkeyPatch) -> Kconnect:
    """The command, straight to the topics."""
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setenv("KCONNECT_WORKER", str(control_file))
    return lambda *arguments, stdin=None: CliRunner().invoke(app, list(map(str, arguments)), input=stdin)


@pytest.fixture
def dead_topic(topic: Callable[..., str], bootstrap: str) -> str:
    """A topic with two dead letters."""
    name = topic()
    producer = Producer({"bootstrap.servers": bootstrap})
    headers = [("own", b"1"), *((f"__connect.errors.{key}", value.encode()) for key, value in ERROR.items())]
    for value in ("first", "second"):
        producer.produce(name, value, "k", headers=headers)
    producer.flush()
    return name


@pytest.fixture
def sink(kconnect: Kconnect, topic: Callable[..., str], dead_topic: str, tmp_path: Path) -> str:
    """A registered sink with that dead-letter topic."""
    name = unique("sink")
    config = {
        "connector.class": "DirectorySink",
        "topics": topic(),
        "directory": str(tmp_path),
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": dead_topic,
    }
    created = kconnect("create", "-", stdin=json.dumps({"name": name, "config": config}))
    assert created.exit_code == 0, created.output
    return name


def _json(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_list_has_the_topics_of_connectors(kconnect: Kconnect, sink: str, dead_topic: str) -> None:
    (line,) = _json(kconnect("dlq", "list", "--json"))
    assert {"name": sink, "type": "sink", "topic": dead_topic} in line["dead_letter_topics"]


def test_show_says_where_from_and_why(kconnect: Kconnect, sink: str) -> None:
    text = kconnect("dlq", "show", sink, "--max", "1").stdout
    assert "from orders-0@7, VALUE_CONVERTER" in text
    assert "value=second" in text
    assert "first" not in text


def test_show_says_why_a_letter_has_no_reason(kconnect: Kconnect, sink: str, dead_topic: str, bootstrap: str) -> None:
    hint = "errors.deadletterqueue.context.headers.enable"
    assert hint not in kconnect("dlq", "show", sink).stdout
    producer = Producer({"bootstrap.servers": bootstrap})
    producer.produce(dead_topic, "third")
    producer.flush()
    assert hint in kconnect("dlq", "show", sink).stdout


def test_show_in_json_separates_the_error(kconnect: Kconnect, sink: str) -> None:
    first, _ = _json(kconnect("dlq", "show", sink, "--json"))
    assert (first["value"], first["headers"], first["error"]) == ("first", [{"key": "own", "value": "1"}], ERROR)


def test_count_knows_what_was_replayed(kconnect: Kconnect, sink: str, dead_topic: str, bootstrap: str) -> None:
    commit(bootstrap, dead_letter_group(f"connect-{sink}"), {(dead_topic, 0): 1})
    (counts,) = _json(kconnect("dlq", "count", sink, "--json"))
    assert counts == {"name": sink, "topic": dead_topic, "records": 2, "not_replayed": 1}


def test_a_connector_without_dead_letters_is_an_error(kconnect: Kconnect, topic: Callable[..., str]) -> None:
    name = unique("sink")
    config = {"name": name, "connector.class": "DirectorySink", "topics": topic(), "directory": "/x"}
    kconnect("create", "-", stdin=json.dumps(config))
    result = kconnect("dlq", "count", name)
    assert (result.exit_code, "errors.deadletterqueue.topic.name" in result.stderr) == (1, True)


def test_lag_of_a_registered_sink_counts_its_topics(kconnect: Kconnect, sink: str) -> None:
    (lag,) = _json(kconnect("lag", sink, "--json"))
    assert (lag["connector"], lag["records"]) == (sink, 0)


def test_lag_is_a_sentence(kconnect: Kconnect, sink: str) -> None:
    assert kconnect("lag", sink).stdout == f"Sink {sink} has nothing left to read.\n"
