"""The configuration of ValueToKey."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.transforms.smt.value_to_key import ValueToKey


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, 'Missing required configuration "fields" which has no default value'),
        ({"fields": ""}, "must not be empty"),
        ({"fields": "a,b,a"}, "values must not be duplicated"),
        ({"fields": "a,,b"}, "values must not be empty"),
        ({"fields": "a.b,a.b", "field.syntax.version": "V2"}, "values must not be duplicated"),
        ({"fields": "a", "field.syntax.version": "V3"}, r"String must be one of \(case insensitive\): V1, V2"),
    ],
)
def test_fields_are_required_and_differ(config: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ValueToKey(config)


def test_old_keys_are_not_read() -> None:
    assert ValueToKey({"fields": "a"}).needs == set()


def test_backticks_come_in_pairs_in_paths() -> None:
    advice = "consider adding a backslash before backtick at position 2 to escape it"
    errors = {"fields": [f"Incomplete backtick pair in path: [a.`b], {advice}"]}
    assert ValueToKey.validate({"fields": "a,a.`b", "field.syntax.version": "v2"}) == errors
    assert ValueToKey.validate({"fields": "a,a.`b"}) == {}
