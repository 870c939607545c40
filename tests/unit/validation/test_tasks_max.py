"""`tasks.max` bounds the tasks of Python sources; where it bounds nothing, a warning says what does."""

from __future__ import annotations

import pytest

from airflow_kconnect.validation.connector import validate_connector

FILE_SOURCE = {"name": "n", "connector.class": "FileStreamSource", "topic": "t", "file": "/data/in"}
DIRECTORY_SINK = {"name": "n", "connector.class": "DirectorySink", "topics": "t", "directory": "/data/out"}
PYTHON_SINK = {"name": "n", "connector.class": "VerifiableSink", "topics": "t"}
PYTHON_SOURCE = {"name": "n", "connector.class": "VerifiableSource", "topic": "t"}


@pytest.mark.parametrize("config", [FILE_SOURCE, DIRECTORY_SINK, PYTHON_SINK], ids=lambda c: c["connector.class"])
def test_a_connector_that_is_divided_into_splits_is_not_bounded_by_it(config: dict[str, str]) -> None:
    (warning,) = validate_connector({**config, "tasks.max": "4"}).warnings
    assert warning.startswith("`tasks.max` does not bound this connector") and "`kconnect.splits.max`" in warning


@pytest.mark.parametrize(
    "config",
    [
        pytest.param({**PYTHON_SOURCE, "tasks.max": "4"}, id="a Python source, which it bounds"),
        pytest.param({**FILE_SOURCE, "tasks.max": "4", "kconnect.splits.max": "4"}, id="next to the key that bounds"),
        pytest.param({**FILE_SOURCE, "tasks.max": "1"}, id="the default, which every sample of Connect has"),
    ],
)
def test_without_a_misunderstanding_there_is_no_warning(config: dict[str, str]) -> None:
    assert validate_connector(config).warnings == []
