"""Secrets by the name of their key."""

from __future__ import annotations

import time

import pytest
from airflow.providers.common.compat.sdk import redact

from airflow_kconnect.hooks.masking import mask_command, mask_text, register_secrets
from airflow_kconnect.variables.secret_keys import is_secret_key


class TestSecretKeys:
    @pytest.mark.parametrize(
        "key",
        [
            "connection.password",
            "sasl.jaas.config",
            "ssl.key.passphrase",
            "api.key",
            "X-API-KEY",
            "oauth.token",
            "fs.s3a.access.key",
            "aws_secret_access_key",
            "basic.auth.credentials.source",
            "value.converter.basic.auth.user.info",
            "ssl.keystore.key",
            "ssl.key.pem",
            "connection.pwd",
            "http.authorization",
            "bearer",
            "SENTRY_DSN",
            "azure.connection.string",
            "sas",
            "fs.azure.sas.fixed.x",
            "request.signature",
            "account_key",
            "ssl.client.key",
            "encryption.key",
            "slack.webhook.url",
            "sasl.oauthbearer.config",
            "sasl.oauthbearer.extensions",
        ],
    )
    def test_are_recognised(self, key: str) -> None:
        assert is_secret_key(key)

    @pytest.mark.parametrize(
        "key",
        [
            "key.converter",
            "topics",
            "sasl.mechanism",
            "ssl.ca.location",
            "ssl.keystore.type",
            "ssl.key.location",
            "sasl.username",
            "kafka.disaster",
            "key.from.primary.key",
        ],
    )
    def test_others_are_not(self, key: str) -> None:
        assert not is_secret_key(key)


class TestRegisterSecrets:
    def test_masks_values_wherever_they_turn_up(self) -> None:
        register_secrets({"config": {"connection.password": "hunter2-registered", "topic": "orders-topic"}})

        assert redact("url=jdbc:x?p=hunter2-registered orders-topic") == "url=jdbc:x?p=*** orders-topic"

    def test_masks_the_password_inside_a_jaas_entry(self) -> None:
        register_secrets({"sasl.jaas.config": 'PlainLoginModule required username="u" password="jaas-pass-9";'})

        assert redact("x jaas-pass-9 y") == "x *** y"

    def test_masks_escaped_forms_and_single_lines(self) -> None:
        register_secrets({"ssl.key.password": 'quo"te/slash', "ssl.keystore.private": "line-one-abc\nline-two-def"})

        for text in ('quo\\"te/slash', "quo%22te%2Fslash", "line-two-def"):
            assert redact(text) == "***"

    @pytest.mark.parametrize(
        ("url", "is_masked"),
        [
            ("jdbc:postgresql://db-7.example:5432/shop", False),
            ("jdbc:mysql://[::1]:3306/shop", False),
            ("jdbc:postgresql://db-8.example/shop?password=hunter2", True),
            ("jdbc:oracle:thin:etl/hunter2@db-9.example:1521/shop", True),
            ("https://hooks.example/services/T0/B0/secret-path", True),
        ],
    )
    def test_an_address_of_a_database_is_only_masked_with_what_could_be_a_login(
        self, url: str, is_masked: bool
    ) -> None:
        register_secrets({"connection.url": url})

        assert ("***" in redact(f"cannot log in to {url} as app")) == is_masked

    def test_a_reference_is_not_a_secret(self) -> None:
        register_secrets({"connection.password": "${file:/run/secrets/db:password}"})

        assert redact("${file:/run/secrets/db:password}") == "${file:/run/secrets/db:password}"


class TestMaskCommand:
    @pytest.mark.parametrize(
        ("command", "masked"),
        [
            (["--conf", "spark.my.token=abc"], ["--conf", "spark.my.token=***"]),
            (["--token", "abc"], ["--token", "***"]),
            (["--token", "--other"], ["--token", "--other"]),
            (["--conf", "spark.x=1"], ["--conf", "spark.x=1"]),
            (["--keytab", "/etc/x.keytab"], ["--keytab", "***"]),
            (["api_key: abc rest"], ["api_key: *** rest"]),
            (['{"password": "a b", "x": 1}'], ['{"password": ***, "x": 1}']),
        ],
        ids=["conf", "option", "flag", "harmless", "keytab", "text", "json"],
    )
    def test_hides_values_of_secret_keys(self, command: list[str], masked: list[str]) -> None:
        assert mask_command(command) == masked

    def test_leaves_out_the_pattern_of_secrets(self) -> None:
        assert mask_command(["spark.redaction.regex=(?i)secret|token"]) == ["spark.redaction.regex=..."]

    def test_a_long_line_takes_no_time(self) -> None:
        started = time.monotonic()
        mask_text("token" * 200_000)

        assert time.monotonic() - started < 30
