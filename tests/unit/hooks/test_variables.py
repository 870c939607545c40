"""Airflow's config variables: which value each has, and what is told about those that have none."""

from __future__ import annotations

from typing import Any

import pytest
from airflow.providers.common.compat.sdk import redact

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.variables import look_up, with_login


@pytest.fixture(autouse=True)
def warehouse(connection: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection with everything, and a variable."""
    connection(
        "warehouse",
        conn_type="postgres",
        host="db",
        port=5432,
        login="etl",
        password="db-pass-41",
        schema="sales",
        extra={"api_token": "token-42", "sasl.password": "dotted-43", "retries": 3, "tls": True},
    )
    monkeypatch.setenv("AIRFLOW_VAR_FOLDER", "/data/in")


def errors_of(**config: Any) -> dict[str, list[str]]:
    with pytest.raises(ConfigError) as caught:
        look_up(config, {})
    assert "db-pass-41" not in str(caught.value)
    return caught.value.errors


class TestValues:
    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("host", "db"),
            ("port", "5432"),
            ("login", "etl"),
            ("password", "db-pass-41"),
            ("schema", "sales"),
            ("extra.api_token", "token-42"),
            ("extra.sasl.password", "dotted-43"),
            ("extra.retries", "3"),
            ("extra.tls", "true"),
        ],
    )
    def test_of_a_connection(self, field: str, value: str) -> None:
        assert look_up({"a": f"x${{airflow:warehouse:{field}}}"}, {}) == {f"airflow:warehouse:{field}": value}

    def test_the_uri_has_everything(self) -> None:
        (uri,) = look_up({"a": "${airflow:warehouse:uri}"}, {}).values()

        assert uri.startswith("postgres://etl:db-pass-41@db:5432/sales?")

    def test_of_a_variable(self) -> None:
        assert look_up({"a": "${airflow-var:folder}/${airflow-var:folder}"}, {}) == {"airflow-var::folder": "/data/in"}

    def test_of_the_worker_too(self) -> None:
        assert look_up({}, {"group.id": "${airflow:warehouse:login}"}) == {"airflow:warehouse:login": "etl"}

    def test_other_variables_are_left_alone(self) -> None:
        assert look_up({"a": "${env:HOME}", "b": "${file:/x:y}", "c": "{{ x }}", "d": 3}, {}) == {}

    def test_a_name_that_the_worker_defines_is_left_alone(self) -> None:
        assert look_up({"a": "${airflow:nope:host}"}, {"config.providers": "airflow"}) == {}


class TestWhatTheWorkerAllows:
    WORKER = {
        "config.providers.airflow.param.allowlist.pattern": "kafka_.*|warehouse",
        "config.providers.airflow-var.param.allowlist.pattern": "kconnect_.*",
    }

    def test_is_looked_up(self) -> None:
        assert look_up({"a": "${airflow:warehouse:login}"}, self.WORKER) == {"airflow:warehouse:login": "etl"}

    @pytest.mark.parametrize("name", ["airflow:other_team:password", "airflow-var:folder", "airflow:warehouse2:uri"])
    def test_all_else_is_refused_by_name(self, name: str) -> None:
        with pytest.raises(ConfigError) as caught:
            look_up({"a": f"x${{{name}}}"}, self.WORKER)
        assert caught.value.errors == {"a": [f"variable ${{{name}}} is not allowed by `allowlist.pattern`"]}

    def test_a_slip_in_the_key_is_an_error(self) -> None:
        key = "config.providers.airflow.param.allowlist.patern"  # codespell:ignore
        with pytest.raises(ConfigError) as caught:
            look_up({}, {key: "kafka_.*"})
        assert caught.value.errors == {
            key: ["is not a key of TaskConfigProvider; expected one of: param.allowlist.pattern"]
        }

    def test_an_invalid_pattern_is_an_error(self) -> None:
        key = "config.providers.airflow.param.allowlist.pattern"
        with pytest.raises(ConfigError) as caught:
            look_up({}, {key: "(["})
        assert list(caught.value.errors) == [key]


class TestMasking:
    def test_values_are_masked_from_here_on(self) -> None:
        look_up({"a": "${airflow:warehouse:extra.api_token}${airflow-var:folder}"}, {})

        assert redact("token-42 /data/in") == "*** ***"

    def test_what_airflow_shows_of_a_connection_stays_visible(self, connection: Any) -> None:
        connection("open", conn_type="http", host="plain-host-44", login="plain-login-45", schema="plain-schema-46")
        look_up({"a": "${airflow:open:host}${airflow:open:login}${airflow:open:schema}"}, {})

        text = "plain-host-44 plain-login-45 plain-schema-46"
        assert redact(text) == text


class TestErrors:
    def test_all_are_reported_at_once_by_key(self) -> None:
        errors = errors_of(a="${airflow:nope:host}", b="x${airflow-var:nope}${airflow:warehouse:nope}", c="fine")

        assert {key: len(messages) for key, messages in errors.items()} == {"a": 1, "b": 2}

    def test_a_missing_connection(self) -> None:
        assert errors_of(a="${airflow:nope:host}") == {
            "a": ["variable ${airflow:nope:host} names the Airflow connection `nope`, which does not exist"]
        }

    def test_a_missing_variable(self) -> None:
        assert errors_of(a="${airflow-var:nope}") == {
            "a": ["variable ${airflow-var:nope} names the Airflow variable `nope`, which does not exist"]
        }

    def test_a_missing_field_names_those_that_there_are(self, connection: Any) -> None:
        connection("small", conn_type="http", host="h", password="hidden-47", extra={"key": "hidden-48"})

        assert errors_of(a="${airflow:small:login}") == {
            "a": [
                "variable ${airflow:small:login} names a field that the connection does not have; "
                "it has: host, password, extra.key, uri"
            ]
        }

    @pytest.mark.parametrize(
        ("variable", "message"),
        [
            ("${airflow:warehouse}", "names no field"),
            ("${airflow-var:a:b}", "must name a variable and nothing else"),
            ("${airflow-var:}", "must name a variable and nothing else"),
        ],
    )
    def test_a_variable_of_another_form(self, variable: str, message: str) -> None:
        assert message in errors_of(a=variable)["a"][0]

    def test_name_the_connector(self) -> None:
        with pytest.raises(ConfigError, match="of connector orders"):
            look_up({"name": "orders", "a": "${airflow:nope:host}"}, {})


class TestDatabase:
    """`connection.url` by the id of a connection."""

    URL = {"connection.url": "${airflow:warehouse:jdbc_url}"}
    USER, PASSWORD = "${airflow:warehouse:login}", "${airflow:warehouse:password}"

    def test_is_the_jdbc_url_without_user_and_password(self, connection: Any) -> None:
        connection("warehouse", conn_type="postgres", host="db", login="etl", password="db-pass-41", schema="sales")

        assert look_up(self.URL, {}) == {"airflow:warehouse:jdbc_url": "jdbc:postgresql://db:5432/sales"}

    def test_a_url_that_was_written_by_hand_is_masked(self, connection: Any) -> None:
        connection("warehouse", conn_type="jdbc", host="jdbc:postgresql://etl:canary-47@db/sales")

        (url,) = look_up(self.URL, {}).values()

        assert redact(f"a {url}") == "a ***"

    def test_brings_user_and_password_by_reference(self) -> None:
        assert with_login(self.URL, {}) == {
            **self.URL,
            "connection.user": self.USER,
            "connection.password": self.PASSWORD,
        }

    def test_a_user_of_the_configuration_gets_no_password_of_another_one(self) -> None:
        own = {**self.URL, "connection.user": "reader"}

        assert with_login(own, {}) == own

    def test_a_password_of_the_configuration_stays(self) -> None:
        own = {**self.URL, "connection.password": "${file:/run/secrets/db:password}"}

        assert with_login(own, {}) == {**own, "connection.user": self.USER}

    def test_a_connection_without_login_brings_none(self, connection: Any) -> None:
        connection("warehouse", conn_type="sqlite", host="/data/shop.db")

        assert with_login(self.URL, {}) == self.URL

    def test_another_url_brings_none(self) -> None:
        config = {"connection.url": "jdbc:postgresql://${airflow:warehouse:host}/sales"}

        assert with_login(config, {}) == config

    def test_where_variables_are_off_it_is_text(self) -> None:
        assert with_login(self.URL, {"config.providers": ""}) == self.URL

    def test_an_error_names_connection_and_types(self, connection: Any) -> None:
        connection("warehouse", conn_type="ftp", host="db")

        assert errors_of(**self.URL)["connection.url"][0].startswith(
            "variable ${airflow:warehouse:jdbc_url} names the Airflow connection `warehouse`, which is of type `ftp`, "
            "expected one of: postgres, mysql, sqlite, jdbc"
        )

    def test_a_connection_that_does_not_exist_is_said_once(self) -> None:
        config = with_login({"connection.url": "${airflow:nowhere:jdbc_url}"}, {})

        assert list(errors_of(**config)) == ["connection.url"]
