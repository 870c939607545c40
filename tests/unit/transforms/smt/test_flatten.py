"""The configuration of Flatten."""

from __future__ import annotations

from airflow_kconnect.transforms.smt.flatten import FlattenKey, FlattenValue


def test_a_dot_is_the_delimiter_unless_another_is_named() -> None:
    assert FlattenValue({}).config_values == {"delimiter": "."}
    assert FlattenValue({"delimiter": ""}).config_values == {"delimiter": ""}


def test_keys_are_read_only_where_they_are_flattened() -> None:
    assert (FlattenKey({}).needs, FlattenValue({}).needs) == (frozenset({"key"}), frozenset())
