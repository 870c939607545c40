"""Secrets in configurations that are shown."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.config import ConfigDef, Type
from airflow_kconnect.control.secrets import HIDDEN, restored, shown, still_hidden

DEFINITION = (
    ConfigDef()
    .define("aws.id", Type.PASSWORD, None)
    .define("token.count", Type.INT, 1)
    .define("connection.url", Type.STRING, "")
)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("aws.id", "AKIA"),
        ("connection.password", "geheim"),
        ("producer.override.sasl.jaas.config", 'x required password="p";'),
        ("connection.url", "jdbc:postgresql://db/shop?user=me&password=p"),
        ("connection.url", "mongodb://me:p@db"),
    ],
)
def test_a_secret_is_hidden(key: str, value: str) -> None:
    assert shown({key: value}, DEFINITION) == {key: HIDDEN}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("connection.password", "${file:/run/secrets:password}"),
        ("connection.password", ""),
        ("connection.url", "jdbc:postgresql://db/shop"),
        ("token.count", "3"),
        ("topic", "orders"),
    ],
)
def test_everything_else_is_shown(key: str, value: str) -> None:
    assert shown({key: value}, DEFINITION) == {key: value}


def test_a_hidden_value_that_is_submitted_keeps_what_is_registered() -> None:
    assert restored({"password": HIDDEN, "a": "2"}, {"password": "geheim", "a": "1"}) == {
        "password": "geheim",
        "a": "2",
    }


def test_a_hidden_value_without_a_registered_one_is_an_error() -> None:
    assert list(still_hidden(restored({"password": HIDDEN}, {}))) == ["password"]
