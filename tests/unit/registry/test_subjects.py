"""Subject names by strategy."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.registry.subjects import NAMES, strategy


@pytest.mark.parametrize(
    ("name", "is_key", "subject"),
    [
        ("TopicNameStrategy", False, "orders-value"),
        ("TopicNameStrategy", True, "orders-key"),
        ("io.confluent.kafka.serializers.subject.RecordNameStrategy", False, "shop.Order"),
        ("TopicRecordNameStrategy", True, "orders-shop.Order"),
    ],
)
def test_a_subject_has_the_name_of_its_strategy(name: str, is_key: bool, subject: str) -> None:
    assert strategy(name)("orders", is_key, "shop.Order") == subject


@pytest.mark.parametrize("name", [name for name in NAMES if "Record" in name])
def test_a_schema_without_a_name_is_an_error_that_names_the_key(name: str) -> None:
    with pytest.raises(DataError, match=r"`key\.subject\.name\.strategy`"):
        strategy(name)("orders", True, None)
