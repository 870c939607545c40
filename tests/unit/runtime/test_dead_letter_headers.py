"""Which headers of a dead letter are believed, and that those are the reporter's."""

from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.error_cells import RecordError
from airflow_kconnect.runtime.bad_records import ErrorHandling, ErrorReporter, FailedRecord
from airflow_kconnect.runtime.sink.bad_records import before_it_failed

PLANTED = [("__connect.errors.topic", b"payments"), ("__connect.errors.partition", b"99"), ("own", b"1")]
ERROR = RecordError("VALUE_CONVERTER", "C", "E", "no JSON")


class _Message:
    """What of a message of Kafka is looked at."""

    def __init__(self, headers: list[tuple[str, bytes | None]]) -> None:
        self.headers = lambda: headers
        self.key = self.value = lambda: b""
        self.timestamp = lambda: (1, 5)


def _written(*, context: bool) -> list[tuple[str, bytes | None]]:
    written: list[Any] = []
    handling = ErrorHandling("c", topic="dead", context_headers=context)
    record = FailedRecord("public", 0, 7, headers=list(PLANTED))
    ErrorReporter(handling, 0, lambda *arguments: written.extend(arguments[-1] or ())).report(record, ERROR)
    return written


def test_what_a_record_brought_is_left_out() -> None:
    assert _written(context=False) == [("own", b"1")]


def test_the_reporters_headers_are_the_only_ones() -> None:
    names = [name for name, _ in _written(context=True)]
    assert len(names) == len(set(names))
    assert dict(_written(context=True))["__connect.errors.topic"] == b"public"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([("topic", b"mine"), ("partition", b"3")], ("mine", 3)),
        ([("topic", b"other"), ("partition", b"9"), ("topic", b"mine"), ("partition", b"3")], ("mine", 3)),
        ([("topic", b"other"), ("partition", b"3")], (None, None)),
        ([("topic", b"\xff"), ("partition", b"3")], (None, None)),
        ([("topic", b"mine"), ("partition", b"9" * 5000)], ("mine", None)),
        ([("topic", b"mine"), ("partition", "\u0663".encode())], ("mine", None)),
        ([("topic", None), ("partition", None)], (None, None)),
    ],
    ids=["ours", "the last one counts", "a foreign topic", "no text", "5,000 digits", "digits of Arabic", "nulls"],
)
def test_a_replay_believes_topics_of_the_connector(
    headers: list[tuple[str, bytes | None]], expected: tuple[str | None, int | None]
) -> None:
    message: Any = _Message([(f"__connect.errors.{name}", value) for name, value in headers])
    record = before_it_failed(message, frozenset({"mine"}))
    assert (record.get("topic"), record.get("partition")) == expected
