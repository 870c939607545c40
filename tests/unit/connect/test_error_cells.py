"""Errors on their way from a Spark partition to the driver."""

from __future__ import annotations

from base64 import b64encode

import pytest

from airflow_kconnect.connect.error_cells import (
    MESSAGE,
    error_cell,
    error_from_column,
    pack_error,
    record_error,
    stage_prefix,
    unpack_error,
)
from airflow_kconnect.connect.errors import (
    ConfigError,
    ConnectError,
    DataError,
    FencedError,
    InternalError,
    RetriableError,
)
from airflow_kconnect.java_text.json_reading import NOT_JSON

ERRORS = [
    ConnectError("plain"),
    DataError("topic-0@5: bad"),
    RetriableError("unavailable"),
    FencedError("taken over"),
    InternalError("ours"),
    ConfigError({"tasks.max": ["one", "two"], "b": ["three"]}, connector="fs"),
]


def test_an_error_of_a_class_of_a_connectors_own_is_one_that_callers_know() -> None:
    class UnreadableThing(DataError):
        pass

    assert type(unpack_error(pack_error(UnreadableThing("x")))) is DataError


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_cell_ends_the_run_with_the_very_error(error: ConnectError) -> None:
    again = error_from_column(error_cell(error), "topic-0@5")
    assert (type(again), str(again)) == (type(error), str(error))


@pytest.mark.parametrize("text", ["not an int", "", '{"class": "FencedError"}'], ids=["text", "empty", "looks packed"])
def test_a_text_in_the_column_is_a_bad_record_at_its_place(text: str) -> None:
    error = error_from_column(text, "topic-0@5")
    assert (type(error), str(error)) == (DataError, f"bad record at topic-0@5: {text}")


def test_a_bad_record_quotes_a_bounded_part_of_itself_in_one_line() -> None:
    cell = stage_prefix("TRANSFORMATION", "Cast") + "Value (4111\nforged\x1b[2J" + "x" * 10_000
    text = str(error_from_column(cell, "topic-0@5"))
    assert "Value (4111\ufffdforged\ufffd[2Jxxx" in text
    assert len(text) < 400


@pytest.mark.parametrize(
    ("after", "text"),
    [
        (b64encode(b"{a").decode(), "failed: it is not JSON: there is `a` at line 1, column 2, where"),
        ("abcde", f"failed: {NOT_JSON}"),
    ],
)
def test_a_message_in_a_cell_becomes_what_is_wrong_with_it(after: str, text: str) -> None:
    cell = f"{stage_prefix('VALUE_CONVERTER', 'JsonConverter')}failed: {NOT_JSON}{MESSAGE}{after}"
    error = record_error(cell)
    assert error is not None
    assert error.message.startswith(text)
    assert after not in error.message
