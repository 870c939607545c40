"""A task is polled for its good records: bad ones, temporary failures and bounds are those of runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.errors import DataError, RetriableError
from airflow_kconnect.plugins.files import PluginFile
from airflow_kconnect.spark.opened import opened
from airflow_kconnect.spark.plugins import Registered
from airflow_kconnect.spark.polling import TaskPoller

SOURCES = """
from pathlib import Path
from airflow_kconnect.sdk import source

@source(schema=None)
def mixed():
    yield 1
    yield 2j
    yield 3

@source(schema=None, cursor="n")
def unavailable(attempts: str, times: int):
    with Path(attempts).open("a+") as file:
        file.write("x")
        file.seek(0)
        if len(file.read()) <= times:
            raise ConnectionError("no answer")
    yield {"n": 1}
"""


@pytest.fixture
def values(tmp_path: Path) -> Iterator[Any]:
    """`values(name, **options)`: what its only task delivers, as JSON texts."""
    path = tmp_path / "polled_sources.py"
    path.write_text(SOURCES)
    given = Registered({"file": PluginFile.read(path)})

    def poll(name: str, **options: Any) -> list[str]:
        texts = {key.replace("_", "."): str(value) for key, value in options.items()}
        source = opened({"connector.class": f"polled_sources.{name}", **texts}, given)
        poller = TaskPoller(source.polling(), source.errors)
        return [value for batch in poller.batches(0) for value in batch.column("value_0").to_pylist()]

    yield poll


def test_what_cannot_be_a_record_ends_it_with_its_place(values: Any) -> None:
    with pytest.raises(DataError, match="bad record at topic mixed, without an offset"):
        values("mixed")


def test_what_cannot_be_a_record_is_skipped_counted_and_logged(values: Any, caplog: pytest.LogCaptureFixture) -> None:
    assert values("mixed", errors_tolerance="all", errors_log_enable="true") == ["1", "3"]
    assert [line for line in caplog.messages if "Error encountered in task mixed-0" in line]
    assert "connector mixed: task 0 has skipped 1 bad records" in caplog.messages


def test_an_unavailable_source_is_an_error_worth_a_retry(values: Any, tmp_path: Path) -> None:
    with pytest.raises(RetriableError, match="no answer"):
        values("unavailable", attempts=tmp_path / "attempts", times=1)


def test_it_is_asked_again_as_long_as_the_user_says(values: Any, tmp_path: Path) -> None:
    options = {"attempts": tmp_path / "attempts", "times": 1, "errors_retry_timeout": 60_000}
    assert values("unavailable", **options) == ['{"n": 1}']
