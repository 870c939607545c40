"""JDBC URLs of Airflow's database connections."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from airflow.sdk import Connection

from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
from airflow_kconnect.hooks.database import jdbc_url
from airflow_kconnect.variables.providers import ProviderProblem


def url(conn_type: str = "postgres", **fields: Any) -> str:
    given = {"host": "db", "schema": "shop", "login": "reader-51", "password": "pass/w:o@r?d-51"} | fields
    extra = given.pop("extra", None)
    connection = Connection(conn_id="warehouse", conn_type=conn_type, **given)
    if extra is not None:
        connection.set_extra(extra) if hasattr(connection, "set_extra") else setattr(connection, "extra", extra)
    text = jdbc_url(connection)
    JdbcUrl.parse(text)  # what the connectors would refuse
    assert "51" not in text
    return text


def problem(conn_type: str = "postgres", **fields: Any) -> str:
    with pytest.raises(ProviderProblem) as caught:
        url(conn_type, **fields)
    return str(caught.value)


class TestServers:
    def test_the_port_has_the_default_of_the_database(self) -> None:
        assert url() == "jdbc:postgresql://db:5432/shop"
        assert url("mysql") == "jdbc:mysql://db:3306/shop"

    def test_a_port_of_its_own_counts(self) -> None:
        assert url(port=6543) == "jdbc:postgresql://db:6543/shop"

    def test_the_name_of_the_database_is_escaped(self) -> None:
        assert JdbcUrl.parse(url(schema="my shop/é?a=b")).database == "my shop/é?a=b"

    def test_several_hosts_get_the_port_each(self) -> None:
        assert url(host="a, b", port=7000) == "jdbc:postgresql://a:7000,b:7000/shop"

    def test_an_address_of_ip_version_6_gets_brackets(self) -> None:
        assert url(host="fd00::7") == "jdbc:postgresql://[fd00::7]:5432/shop"

    def test_missing_host_and_schema_are_errors(self) -> None:
        assert problem(host="") == "is of type `postgres` and has no host: set it to the host of the database"
        assert problem("mysql", schema="").startswith("is of type `mysql` and has no schema")


class TestExtras:
    @pytest.mark.parametrize(
        ("conn_type", "extra", "query"),
        [
            ("postgres", '{"sslmode": "verify-full"}', "sslmode=verify-full"),
            ("postgres", '{"sslmode": "require", "sslrootcert": "/ca.pem"}', "sslmode=require&sslrootcert=%2Fca.pem"),
            ("postgres", '{"application_name": "my etl"}', "ApplicationName=my%20etl"),
            ("postgres", '{"keepalives": 1, "connect_timeout": 5}', "tcpKeepAlive=true&connectTimeout=5"),
            ("mysql", '{"charset": "utf8mb4"}', "characterEncoding=UTF-8"),
            ("mysql", '{"ssl_mode": "verify_ca", "connect_timeout": 5}', "sslMode=VERIFY_CA&connectTimeout=5000"),
        ],
    )
    def test_are_translated(self, conn_type: str, extra: str, query: str) -> None:
        assert url(conn_type, extra=extra).partition("?")[2] == query

    @pytest.mark.parametrize(
        ("conn_type", "extra"), [("postgres", '{"sslpassword": "x-51"}'), ("mysql", '{"ssl": {"ca": "/ca.pem"}}')]
    )
    def test_about_encryption_are_never_lost(self, conn_type: str, extra: str) -> None:
        assert "the JDBC driver cannot be given as it is" in problem(conn_type, extra=extra)

    def test_a_charset_without_a_java_name_is_an_error(self) -> None:
        assert problem("mysql", extra='{"charset": "koi8r"}').startswith("has the extra charset=koi8r")

    def test_others_are_left_out_with_a_warning(self, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.WARNING):
            assert url(extra='{"cursor": "dictcursor"}') == "jdbc:postgresql://db:5432/shop"

        assert "Extras of connection warehouse without effect on its JDBC URL: cursor" in caplog.text


class TestFiles:
    def test_of_sqlite_the_host_is_the_path(self) -> None:
        assert url("sqlite", host="/data/shop.db", schema="") == "jdbc:sqlite:/data/shop.db"


class TestJdbc:
    @pytest.mark.parametrize("conn_type", ["jdbc", "generic"])
    def test_the_host_is_the_url(self, conn_type: str) -> None:
        given = "jdbc:sqlserver://db:1433;databaseName=shop"

        assert url(conn_type, host=given) == given

    def test_another_host_is_an_error(self) -> None:
        assert "its host must be a JDBC URL" in problem("jdbc", host="db")


class TestTypes:
    def test_another_type_is_named_with_the_expected_ones(self) -> None:
        assert problem("ftp") == (
            "is of type `ftp`, expected one of: postgres, mysql, sqlite, jdbc. For another database use type `jdbc`, "
            "with the JDBC URL as host"
        )

    def test_a_type_whose_provider_is_missing_names_the_cure(self) -> None:
        assert "`--conn-uri` and `--conn-json` keep the type" in problem("generic")
