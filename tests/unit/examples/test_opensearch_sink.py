"""What the example of a sink for OpenSearch makes of records."""

from __future__ import annotations

import importlib.util
from types import ModuleType
from typing import Any

import pytest

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.record import SinkRecord
from tests.support.pages.markdown import REPOSITORY


@pytest.fixture(scope="module")
def example() -> ModuleType:
    file = REPOSITORY / "dags" / "connectors" / "opensearch_sink.py"
    spec = importlib.util.spec_from_file_location("opensearch_sink", file)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.mark.parametrize("key", ["", "x" * 513, "ü" * 257])
def test_a_key_that_is_no_id_is_a_bad_record_and_not_the_end_of_its_request(example: ModuleType, key: str) -> None:
    with pytest.raises(DataError, match="1 to 512 bytes"):
        example.lines_of(SinkRecord("t", 0, 0, key, {"n": 1}))


@pytest.mark.parametrize("value", [{"n": float("nan")}, {"m": {b"key": 1}}], ids=["nan", "map"])
def test_what_is_no_json_is_a_bad_record(example: ModuleType, value: Any) -> None:
    with pytest.raises(DataError, match="cannot be written as JSON"):
        example.lines_of(SinkRecord("t", 0, 0, "a", value))
