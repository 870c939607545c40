"""A preview's answer has a bound: who asked, perhaps a server with many users, has to hold it."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.runtime.preview import Record
from airflow_kconnect.runtime.preview_steps import bounded


def test_long_texts_are_cut_and_say_so() -> None:
    record: Record = {"value": "x" * 3_000_000, "headers": [{"key": "h", "value": "y" * 70_000}], "n": 1}
    ((answer,),) = bounded([[record]])
    assert answer["value"] == "x" * 65_536 + "... (3000000 characters)"
    assert answer["headers"][0]["value"].endswith("... (70000 characters)")
    assert answer["n"] == 1


def test_short_ones_stay() -> None:
    answers: list[list[Record]] = [[{"value": "one", "key": None}, {"dropped": True}]]
    assert bounded(answers) == answers


def test_many_long_ones_are_an_error() -> None:
    with pytest.raises(DataError, match="ask for fewer records"):
        bounded([[{"value": "x" * 60_000}] * 10] * 30)
