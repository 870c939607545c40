"""Keys and headers that a sink does not use: as in Connect, a record in which they cannot be read is a bad one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.runs.report import RunReport
from tests.integration.runtime.conftest import STRING, Run
from tests.support import unique

JSON = "org.apache.kafka.connect.json.JsonConverter"
TOLERANT = {"errors.tolerance": "all"}
DEAD_LETTERS = {**TOLERANT, "errors.deadletterqueue.topic.replication.factor": "1"}

Send = Callable[..., None]


@pytest.fixture
def config(topic: Callable[..., str], tmp_path: Path) -> dict[str, str]:
    """A file sink, which uses neither keys nor headers; its records can be written without Spark's JVM."""
    return {
        "name": unique("sink"),
        "connector.class": "FileStreamSink",
        "topics": topic(),
        "file": str(tmp_path / "lines.txt"),
        "key.converter": JSON,
        "value.converter": JSON,
    }


@pytest.fixture
def send(config: dict[str, str], bootstrap: str) -> Send:
    """Write records with these keys, and values that are good."""

    def write(*keys: str | None, headers: list[tuple[str, str | bytes | None]] | None = None) -> None:
        producer = Producer({"bootstrap.servers": bootstrap})
        value = json.dumps({"schema": {"type": "string", "optional": False}, "payload": "good"})
        for key in keys:
            producer.produce(config["topics"], value, key, 0, headers=headers)
        assert producer.flush(30) == 0

    return write


def text(payload: str) -> str:
    return json.dumps({"schema": {"type": "string", "optional": False}, "payload": payload})


def moved(report: RunReport) -> tuple[int, int]:
    return report.records["read"], report.records["written"]


def lines(config: dict[str, str]) -> list[str]:
    path = Path(config["file"])
    return path.read_text().splitlines() if path.exists() else []


BAD_HEADER = [("size", "large")]
BY_CATALYST = {"value.converter": STRING}


@pytest.mark.parametrize(
    ("more", "key", "headers", "stage"), [({}, "k-1", None, "KEY"), (BY_CATALYST, None, BAD_HEADER, "HEADER")]
)
def test_what_cannot_be_read_ends_the_run(
    config: dict[str, str], more: dict[str, str], key: str | None, headers: Any, stage: str, send: Send, run_here: Run
) -> None:
    send(None, text("k"))
    send(key, headers=headers)
    with pytest.raises(DataError, match=f"-0@2: {stage}_CONVERTER"):
        run_here({**config, **more, "header.converter": JSON})
    assert len(lines(config)) == 2


@pytest.mark.parametrize(("more", "queue"), [({}, TOLERANT), (BY_CATALYST, DEAD_LETTERS)])
def test_it_is_skipped_or_a_dead_letter(
    config: dict[str, str], more: dict[str, str], queue: dict[str, str], send: Send, run_here: Run
) -> None:
    send(None, "k-1", "k-2", text("k"))
    send(None, headers=BAD_HEADER)
    send(None, headers=[("size", text("large"))])
    letters = {"errors.deadletterqueue.topic.name": unique("letters")} if queue is DEAD_LETTERS else {}
    report = run_here({**config, **more, "header.converter": JSON, **queue, **letters})
    assert (*moved(report), report.records["dead_lettered"]) == (6, 3, 3)


def test_any_bytes_are_good_for_a_converter_that_takes_all(config: dict[str, str], send: Send, run_here: Run) -> None:
    send("k-1", None)
    assert moved(run_here({**config, "key.converter": STRING})) == (2, 2)


def test_keys_that_can_be_read_and_headers_need_no_second_round(
    config: dict[str, str], send: Send, run_here: Run
) -> None:
    """The default converter of headers takes all."""
    send(None, text("a"), text("b"), None, headers=BAD_HEADER)
    report = run_here(config)
    assert (moved(report), report.notes["rounds"]) == ((4, 4), 1)
