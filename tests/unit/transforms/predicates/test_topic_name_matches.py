"""The configuration of TopicNameMatches."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.transforms.predicates.topic_name_matches import TopicNameMatches


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, 'Missing required configuration "pattern" which has no default value'),
        ({"pattern": ""}, "String must be non-empty"),
        ({"pattern": "["}, "Invalid regex"),
    ],
)
def test_a_pattern_is_required(config: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TopicNameMatches(config)


def test_nothing_but_the_topic_is_read() -> None:
    assert TopicNameMatches({"pattern": "a"}).needs == frozenset()
