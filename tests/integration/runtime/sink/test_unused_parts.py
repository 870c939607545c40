"""Keys and headers that a sink does not use: as in Connect, a record in which they cannot be read is a bad one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Producer

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.runs.report import RunReport
from tests.integration.runtime.conftest import STRING, Run
from tests.support import unique

JSON = "org.apache.kafka.connect.json.JsonConverter"
BYTES = "org.apache.kafka.connect.converters.ByteArrayConverter"
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


@pytest.mark.parametrize("more", [{}, {"value.converter": STRING}], ids=["without the JVM", "by Catalyst"])
class TestKeysThatCannotBeRead:
    def test_end_the_run(self, config: dict[str, str], more: dict[str, str], send: Send, run_here: Run) -> None:
        send(None, text("k"), "k-1")
        with pytest.raises(DataError, match="-0@2: KEY_CONVERTER"):
            run_here({**config, **more})
        assert len(lines(config)) == 2

    def test_become_dead_letters(self, config: dict[str, str], more: dict[str, str], send: Send, run_here: Run) -> None:
        send(None, "k-1", "k-2", text("k"))
        letters = {**DEAD_LETTERS, "errors.deadletterqueue.topic.name": unique("letters")}
        report = run_here({**config, **more, **letters})
        assert (*moved(report), report.records["dead_lettered"]) == (4, 2, 2)


@pytest.mark.parametrize("converter", [STRING, pytest.param(BYTES, marks=pytest.mark.exhaustive)])
def test_any_bytes_are_good_for_a_converter_that_takes_all(
    config: dict[str, str], converter: str, send: Send, run_here: Run
) -> None:
    send("k-1", None)
    assert moved(run_here({**config, "key.converter": converter})) == (2, 2)


def test_keys_that_can_be_read_and_headers_need_no_second_round(
    config: dict[str, str], send: Send, run_here: Run
) -> None:
    """The default converter of headers takes all."""
    send(None, text("a"), text("b"), None, headers=TestHeaders.BAD)
    report = run_here(config)
    assert (moved(report), report.notes["rounds"]) == ((4, 4), 1)


class TestHeaders:
    BAD = [("size", "large")]

    @pytest.mark.parametrize(
        "letters", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["skipped", "dead letters"]
    )
    def test_that_cannot_be_read_make_a_bad_record(
        self, config: dict[str, str], letters: bool, send: Send, run_here: Run
    ) -> None:
        send(None, headers=self.BAD)
        send(None, headers=[("size", text("large"))])
        queue = {**DEAD_LETTERS, "errors.deadletterqueue.topic.name": unique("letters")}
        report = run_here({**config, "header.converter": JSON, **(queue if letters else TOLERANT)})
        assert moved(report) == (2, 1)

    def test_end_the_run_if_it_tolerates_none(self, config: dict[str, str], send: Send, run_here: Run) -> None:
        send(None, headers=self.BAD)
        with pytest.raises(DataError, match="-0@0: HEADER_CONVERTER"):
            run_here({**config, "header.converter": JSON})
