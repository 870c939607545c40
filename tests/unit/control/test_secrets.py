"""Secrets in configurations that are shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.connect.config import ConfigDef, Type
from airflow_kconnect.control.secrets import HIDDEN, restored, shown, still_hidden
from airflow_kconnect.hosting.password_keys import note

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
        ("connection.uri", "mongodb://app:S3cr3tPw@db"),
        ("any.key", "redis://:p@db:6379"),
        ("any.key", "amqps://me:p@a,b/${env:VHOST}"),
        ("jdbcUrl", "jdbc:postgresql://db/shop?user=me&password=p"),
        ("any.key", "jdbc:oracle:thin:scott/tiger@//db:1521/x"),
        ("schema.registry.urls", "https://me:p@one,https://two"),
        ("keyfile", "/run/key.json"),
        ("any.key", '{"private": "-----BEGIN PRIVATE KEY-----\\nMIIE"}'),
        ("any.key", '{"db_password" : "p"}'),
        ("any.key", '[{"apiKey": "p"}]'),
        ("connect.cosmos.master.key", "p"),
        ("salesforce.consumer.key", "p"),
        ("http.headers.general", "X-Key: p"),
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
        ("connection.url", "jdbc:postgresql://db/shop?user=me&password=${env:PASSWORD}"),
        ("connection.uri", "mongodb://app:${file:/x:y}@db"),
        ("connection.uri", "mongodb://db:27017"),
        ("ssl.truststore.certificates", "-----BEGIN CERTIFICATE-----"),
        ("consumer.key.deserializer", "a.B"),
        ("transforms.a.regex", "(?<host>//a:80)/(.*)@"),
        ("key.fields", "id"),
        ("any.key", '{"password": "${env:PASSWORD}"}'),
        ("any.key", '{"fields": [{"name": "token", "type": "string"}]}'),
        ("transforms.cast.spec", "password:string"),
        ("token.count", "3"),
        ("topic", "orders"),
    ],
)
def test_everything_else_is_shown(key: str, value: str) -> None:
    assert shown({key: value}, DEFINITION) == {key: value}


def test_passwords_of_a_java_class_are_known_once_it_was_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path))
    config = {"connector.class": "com.example.SiteConnector", "site.word": "geheim", "site.name": "n"}
    assert shown(config, DEFINITION) == config
    types = {"site.word": "PASSWORD", "site.name": "STRING", "transforms.a.word": "PASSWORD"}
    note("com.example.SiteConnector", [{"name": name, "type": kind} for name, kind in types.items()])
    for name in ("com.example.SiteConnector", "SiteConnector", "Site"):
        called = {**config, "connector.class": name}
        assert shown(called, DEFINITION) == {**called, "site.word": HIDDEN}
    other = {**config, "connector.class": "com.example.OtherConnector"}
    assert shown(other, DEFINITION) == other
    assert shown({**config, "site.word": "${env:W}"}, DEFINITION)["site.word"] == "${env:W}"


def test_a_hidden_value_that_is_submitted_keeps_what_is_registered() -> None:
    assert restored({"password": HIDDEN, "a": "2"}, {"password": "geheim", "a": "1"}) == {
        "password": "geheim",
        "a": "2",
    }


def test_a_hidden_value_without_a_registered_one_is_an_error() -> None:
    assert list(still_hidden(restored({"password": HIDDEN}, {}))) == ["password"]
