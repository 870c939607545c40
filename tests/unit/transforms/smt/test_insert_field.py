"""The configuration of InsertField."""

from __future__ import annotations

import pytest

from airflow_kconnect.transforms.smt.insert_field import InsertFieldKey, InsertFieldValue


@pytest.mark.parametrize(
    ("config", "errors"),
    [
        ({}, {"topic.field": ["No field insertion configured"]}),
        ({"static.value": "x"}, {"topic.field": ["No field insertion configured"]}),
        (
            {"topic.field": "t", "static.field": "s!"},
            {
                "static.value": [
                    "Invalid value null for configuration static.value: No value specified for static field: s!"
                ]
            },
        ),
        ({"static.field": "s", "static.value": ""}, {}),
        ({"offset.field": "o"}, {}),
    ],
)
def test_something_must_be_inserted(config: dict[str, str], errors: dict[str, list[str]]) -> None:
    assert InsertFieldValue.validate(config) == errors


def test_timestamps_and_keys_are_read_only_where_they_are_used() -> None:
    assert InsertFieldValue({"topic.field": "t"}).needs == set()
    assert InsertFieldValue({"timestamp.field": "t"}).needs == {"timestamp"}
    assert InsertFieldKey({"timestamp.field": "t"}).needs == {"key", "timestamp"}
