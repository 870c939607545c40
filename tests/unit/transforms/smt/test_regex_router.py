"""The configuration of RegexRouter."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.transforms.smt.regex_router import RegexRouter

CONFIG = {"regex": "(.*)", "replacement": "$1"}


@pytest.mark.parametrize("key", CONFIG)
def test_both_keys_are_required(key: str) -> None:
    with pytest.raises(ConfigError, match=f'Missing required configuration "{key}" which has no default value'):
        RegexRouter({other: value for other, value in CONFIG.items() if other != key})


def test_a_wrong_expression_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"Invalid value \( for configuration regex: Invalid regex"):
        RegexRouter({**CONFIG, "regex": "("})


def test_a_replacement_must_fit_the_expression() -> None:
    wrong = {**CONFIG, "replacement": "$2"}
    assert RegexRouter.validate(wrong) == {
        "replacement": ["Invalid value $2 for configuration replacement: No group 2"]
    }
    assert RegexRouter.validate(CONFIG) == {}


def test_nothing_but_the_topic_is_read() -> None:
    assert RegexRouter(CONFIG).needs == frozenset()
