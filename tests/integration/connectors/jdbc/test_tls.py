"""JDBC source and sink on servers that only take encrypted connections."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import ConfigError
from tests.integration.connectors.jdbc.conftest import Rows, SourceConfig
from tests.integration.connectors.jdbc.sink.test_tables import row
from tests.integration.runtime.conftest import Run
from tests.support import unique
from tests.support.certificates import self_signed
from tests.support.databases.jdbc_sink import Sink
from tests.support.databases.mariadb import MariaDatabase, MariaServer
from tests.support.databases.postgres import PostgresDatabase, PostgresServer
from tests.support.databases.servers import Owner


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the server's certificate, `root.pem`, and another one, `other.pem`."""
    folder = tmp_path_factory.mktemp("certificates")
    (folder / "other.pem").write_text(self_signed()[0])
    return folder


@pytest.fixture(scope="module")
def server(certificates: Path) -> Iterator[PostgresServer]:
    certificate, key = self_signed()
    (certificates / "root.pem").write_text(certificate)
    with tempfile.TemporaryDirectory(prefix="kconnect-tls-") as name:
        folder = Path(name)
        owner = Owner.choose("postgres")
        files = {"cert": certificate, "key": key, "hba": "hostssl all all 127.0.0.1/32 scram-sha-256\n"}
        for file, text in files.items():
            (folder / file).write_text(text)
            (folder / file).chmod(0o600)
            owner.own(folder / file)
        owner.own(folder)
        settings = {"ssl": "on", "ssl_cert_file": f"{name}/cert", "ssl_key_file": f"{name}/key"}
        found = PostgresServer({**settings, "hba_file": f"{name}/hba"})
        yield found
        found.remove()


@pytest.fixture
def encrypted(server: PostgresServer, certificates: Path) -> Any:
    """A database whose URL has parameters: `encrypted(sslmode="require")`; `root` names a certificate."""

    def make(*, root: str = "", **parameters: str) -> PostgresDatabase:
        database = server.create_database()
        given = parameters | ({"sslrootcert": str(certificates / root)} if root else {})
        text = "&".join(f"{name}={value}" for name, value in given.items())
        return replace(database, url=f"{database.url}?{text}")

    return make


@pytest.fixture(scope="module")
def encrypted_mariadb(mariadb: MariaServer) -> MariaDatabase:
    """A database whose user must encrypt; its URL has no parameters yet."""
    database = mariadb.create_database()
    mariadb.execute(f"create user careful@'%%' identified by '{mariadb.password}' require ssl")
    mariadb.execute(f"grant all privileges on {database.name}.* to careful@'%%'")
    return replace(database, user="careful")


VERIFIED = {"sslmode": "verify-full", "root": "root.pem"}
REFUSED = [
    pytest.param({"sslmode": "disable"}, r"no encryption", id="plain"),
    pytest.param({"sslmode": "verify-full", "root": "other.pem"}, r"connection\.url.*certificate", id="unknown server"),
    pytest.param({"sslmode": "verify-ca", "root": "missing.pem"}, r"connection\.url.*missing\.pem", id="no such file"),
]


def test_source_reads_from_a_server_that_it_has_verified(
    encrypted: Any, jdbc_source: SourceConfig, run_here: Run, rows: Rows
) -> None:
    database = encrypted(**VERIFIED)
    database.execute("create table t (id serial primary key); insert into t default values")
    config = jdbc_source(database)
    run_here(config)
    assert rows(config, "t") == [{"id": 1}]


@pytest.mark.parametrize(("parameters", "message"), REFUSED)
def test_source_names_what_is_wrong(
    encrypted: Any, jdbc_source: SourceConfig, run_here: Run, parameters: dict[str, str], message: str
) -> None:
    database = encrypted(**parameters)
    with pytest.raises(ConfigError, match=message):
        run_here(jdbc_source(database))


def test_sink_writes_to_a_server_that_it_has_verified(encrypted: Any, spark: SparkSession) -> None:
    database = encrypted(**VERIFIED)
    Sink(spark, {**database.config, "auto.create": "true"}).run(row(1, "a"))
    assert database.execute("select * from t") == [(1, "a")]


@pytest.mark.parametrize(("parameters", "message"), REFUSED)
def test_sink_names_what_is_wrong(
    encrypted: Any, spark: SparkSession, parameters: dict[str, str], message: str
) -> None:
    database = encrypted(**parameters)
    with pytest.raises(ConfigError, match=message):
        Sink(spark, {**database.config, "connection.attempts": "1"}).run(row(1, "a"))


class TestMariaDB:
    @pytest.mark.parametrize("mode", ["verify-full", "verify-ca"])
    def test_sink_writes_to_a_server_that_it_has_verified(
        self, encrypted_mariadb: MariaDatabase, mariadb: MariaServer, spark: SparkSession, mode: str
    ) -> None:
        url = f"{encrypted_mariadb.url}?sslMode={mode}&serverSslCert={mariadb.certificate}"
        table = unique("t").replace("-", "_")
        config = {**encrypted_mariadb.config, "connection.url": url, "auto.create": "true", "table.name.format": table}
        Sink(spark, config).run(row(1, "a"), topic=table)
        assert encrypted_mariadb.execute(f"select * from {table}") == [(1, "a")]

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            pytest.param("sslMode=disable", r"connection\.password.*cannot log in to .* as careful", id="plain"),
            pytest.param("sslMode=verify-full", r"connection\.url.*certificate", id="unknown server"),
            pytest.param(
                "sslMode=verify-ca&serverSslCert=/missing", r"connection\.url.*from /missing", id="no such file"
            ),
        ],
    )
    def test_sink_names_what_is_wrong(
        self, encrypted_mariadb: MariaDatabase, spark: SparkSession, parameters: str, message: str
    ) -> None:
        config = {**encrypted_mariadb.config, "connection.url": f"{encrypted_mariadb.url}?{parameters}"}
        with pytest.raises(ConfigError, match=message):
            Sink(spark, {**config, "connection.attempts": "1"}).run(row(1, "a"))
