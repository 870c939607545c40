"""The predicate SQL before there is a Spark."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.transforms.sql.predicate import SQL


@pytest.mark.parametrize("config", [{}, {"condition": ""}, {"condition": "true, false"}, {"condition": "(true"}])
def test_one_condition_is_needed(config: dict[str, str]) -> None:
    with pytest.raises(ConfigError) as caught:
        SQL(config)
    assert caught.value.errors.keys() == {"condition"}


def test_needs_what_the_condition_names() -> None:
    assert SQL({"condition": "value.a > 1 AND headers['b'] = 'c'"}).needs == {"headers"}
