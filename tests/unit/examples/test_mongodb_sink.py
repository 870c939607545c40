"""What the example of a sink for MongoDB makes of records."""

from __future__ import annotations

import decimal
import importlib.util
from types import ModuleType
from typing import Any

import pytest

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.connect.record import SinkRecord
from tests.support.pages.markdown import REPOSITORY


@pytest.fixture(scope="module")
def example() -> ModuleType:
    file = REPOSITORY / "dags" / "connectors" / "mongodb_sink.py"
    spec = importlib.util.spec_from_file_location("mongodb_sink", file)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.mark.parametrize("value", [None, {"n": 1}], ids=["tombstone", "document"])
def test_a_key_is_never_an_operator_that_chooses_other_documents(example: ModuleType, value: Any) -> None:
    with pytest.raises(DataError, match="begins with \\$"):
        example.write_of(SinkRecord("t", 0, 0, {"$gt": ""}, value))


@pytest.mark.parametrize("value", [None, {"n": 1}], ids=["tombstone", "document"])
def test_a_key_may_be_a_decimal(example: ModuleType, value: Any) -> None:
    write = example.write_of(SinkRecord("t", 0, 0, decimal.Decimal("1.50"), value))
    assert str(write._filter["_id"]) == "1.50"


@pytest.mark.parametrize(
    ("key", "value"),
    [("a", {"n": decimal.Decimal("1" * 40)}), (decimal.Decimal("1" * 40), None), ("a", {"n": 2**70}), (2**70, None)],
    ids=["decimal", "decimal as key", "integer", "integer as key"],
)
def test_a_number_that_is_too_long_for_mongodb_is_a_bad_record(example: ModuleType, key: Any, value: Any) -> None:
    with pytest.raises(DataError, match="cannot be written as BSON"):
        example.write_of(SinkRecord("t", 0, 0, key, value))


def test_records_without_keys_of_two_topics_that_become_one_are_two_documents(example: ModuleType) -> None:
    records = [SinkRecord("all", 0, 7, None, {"n": 1}, original_topic=f"orders-{at}") for at in ("eu", "us")]
    assert [example.write_of(each)._filter["_id"] for each in records] == ["orders-eu-0-7", "orders-us-0-7"]
