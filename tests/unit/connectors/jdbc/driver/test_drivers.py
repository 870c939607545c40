"""Which driver a database gets, and which properties it may be given."""

from __future__ import annotations

from pathlib import Path

import pytest

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.jdbc.driver.drivers import (
    ALLOWED,
    CLASS,
    COORDINATES,
    PATH,
    URL,
    define_driver_keys,
    driver_of,
    driver_properties,
    forbidden_drivers,
)
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
from airflow_kconnect.validation.before_variables import inspect_without_references
from airflow_kconnect.validation.connector import inspect_connector
from airflow_kconnect.worker_config.keys import WorkerConfig

POSTGRES = JdbcUrl.parse("jdbc:postgresql://h/db")
OTHER = JdbcUrl.parse("jdbc:other://h/db")


class TestDriver:
    def test_known_database(self) -> None:
        driver = driver_of(POSTGRES, {})
        assert driver.class_name == "org.postgresql.Driver"
        assert driver.coordinates[0].startswith("org.postgresql:postgresql:42.7.")

    def test_derby_comes_with_spark(self) -> None:
        assert driver_of(JdbcUrl.parse("jdbc:derby:/x"), {}).coordinates == ()

    def test_hsqldb_is_known(self) -> None:
        driver = driver_of(JdbcUrl.parse("jdbc:hsqldb:hsql://h/db"), {})
        assert (driver.class_name, driver.coordinates) == ("org.hsqldb.jdbc.JDBCDriver", ("org.hsqldb:hsqldb:2.7.4",))

    def test_another_version(self) -> None:
        driver = driver_of(POSTGRES, {COORDINATES: "org.postgresql:postgresql:42.7.4, a:b:1"})
        assert driver.class_name == "org.postgresql.Driver"
        assert driver.coordinates == ("org.postgresql:postgresql:42.7.4", "a:b:1")

    def test_another_class_is_not_looked_for_in_the_known_jar(self) -> None:
        assert driver_of(POSTGRES, {CLASS: "com.other.Driver"}).coordinates == ()

    def test_unknown_database(self) -> None:
        with pytest.raises(ConfigError, match="jdbc:other"):
            driver_of(OTHER, {})
        assert driver_of(OTHER, {CLASS: "a.B", PATH: "/x.jar"}).path == "/x.jar"

    def test_one_driver_is_enough(self) -> None:
        with pytest.raises(ConfigError, match="together"):
            driver_of(POSTGRES, {COORDINATES: "a:b:1", PATH: "/x.jar"})


class TestAllowed:
    """What a worker lets connectors bring along."""

    def test_known_drivers_need_no_entry(self) -> None:
        assert forbidden_drivers({COORDINATES: "org.postgresql:postgresql:42.7.4"}, []) == {}
        assert forbidden_drivers({CLASS: "org.apache.derby.iapi.jdbc.AutoloadedDriver"}, []) == {}

    @pytest.mark.parametrize("allowed", [[], ["com.other:driver"], ["com.evil:payload:2.0"], ["/jars"]])
    def test_others_need_one(self, allowed: list[str]) -> None:
        props = {COORDINATES: "org.postgresql:postgresql:42.7.4,com.evil:payload:1.0"}
        (problem,) = forbidden_drivers(props, allowed)[COORDINATES]
        assert problem.startswith("com.evil:payload:1.0 is not allowed")
        assert ALLOWED in problem

    @pytest.mark.parametrize("allowed", [["com.other:driver"], ["com.other:driver:1.0"], ["*"]])
    def test_artifacts_with_and_without_version(self, allowed: list[str]) -> None:
        assert forbidden_drivers({COORDINATES: "com.other:driver:1.0"}, allowed) == {}

    def test_jars_and_folders_with_links_resolved(self, tmp_path: Path) -> None:
        folder, elsewhere = tmp_path / "jars", tmp_path / "elsewhere"
        for allowed in (folder, elsewhere):
            allowed.mkdir()
            (allowed / "driver.jar").touch()
        (folder / "link.jar").symlink_to(elsewhere / "driver.jar")
        good, link = str(folder / "driver.jar"), str(folder / "link.jar")
        assert forbidden_drivers({PATH: good}, [str(folder)]) == forbidden_drivers({PATH: good}, [good]) == {}
        for path in (link, f"{folder}/../elsewhere/driver.jar", f"{tmp_path}/jars.jar"):
            assert list(forbidden_drivers({PATH: path}, [str(folder)])) == [PATH]

    def test_a_path_that_looks_like_a_variable_is_a_path(self, tmp_path: Path) -> None:
        assert list(forbidden_drivers({PATH: f"{tmp_path}/evil${{a:b}}.jar"}, [])) == [PATH]

    def test_a_variable_is_judged_when_it_has_its_value(self) -> None:
        props = {"name": "n", "connector.class": "JdbcSource", "connection.url": "jdbc:other://h", "mode": "bulk"}
        config = {**props, CLASS: "a.B", PATH: "${env:DRIVER}"}
        assert inspect_without_references(config, {"bootstrap.servers": "localhost:9092"}).errors == {}

    def test_the_connector_is_invalid(self) -> None:
        props = {"name": "n", "connector.class": "JdbcSource", "connection.url": "jdbc:other://h", "mode": "bulk"}
        config = {**props, CLASS: "a.B", COORDINATES: "com.evil:payload:1.0"}
        assert COORDINATES in inspect_connector(config).errors
        worker = WorkerConfig.from_props({"bootstrap.servers": "localhost:9092", ALLOWED: "com.evil:payload"})
        assert inspect_connector(config, worker=worker).errors == {}

    @pytest.mark.parametrize(
        "url",
        ["jdbc:h2:mem:x", "jdbc:h2:/data/in/x", "jdbc:H2:mem:x", "jdbc:h2:TCP://h/d", "jdbc:h2://h/d",
         "jdbc:hsqldb:mem:x", "jdbc:hsqldb:file:/data/in/x", "jdbc:derby:memory:x;create=true",
         "jdbc:derby:/data/in/x"],
    )  # fmt: skip
    def test_a_database_that_runs_in_the_job_needs_an_entry(self, url: str) -> None:
        (problem,) = forbidden_drivers({URL: url}, ["com.h2database:h2"])[URL]
        subprotocol = url.split(":")[1].lower()
        assert f"add jdbc:{subprotocol} there" in problem
        assert forbidden_drivers({URL: url}, [f"jdbc:{subprotocol}"]) == forbidden_drivers({URL: url}, ["*"]) == {}

    @pytest.mark.parametrize(
        "url",
        ["jdbc:h2:tcp://h/d", "jdbc:h2:ssl://h/d", "jdbc:hsqldb:hsql://h/d",
         "jdbc:hsqldb:hsqls://h/d", "jdbc:derby://h/d", "jdbc:sqlite:/d",
         "jdbc:duckdb:/d", "jdbc:postgresql://h/d", "${env:URL}"],
    )  # fmt: skip
    def test_others_do_not(self, url: str) -> None:
        assert forbidden_drivers({URL: url}, []) == {}

    def test_entries_that_mean_nothing(self) -> None:
        with pytest.raises(ConfigError, match="expected group:artifact"):
            WorkerConfig.from_props({"bootstrap.servers": "localhost:9092", ALLOWED: "jars/x.jar"})


class TestKeys:
    def test_defaults_name_no_driver(self) -> None:
        parsed = define_driver_keys(ConfigDef()).parse({})
        assert driver_of(POSTGRES, parsed) == driver_of(POSTGRES, {})

    def test_all_errors_at_once(self) -> None:
        with pytest.raises(ConfigError) as raised:
            define_driver_keys(ConfigDef()).parse({COORDINATES: "a:b:1,../x,--jars=y", PATH: "x.jar"})
        assert "../x, --jars=y" in raised.value.errors[COORDINATES][0]
        assert "absolute path" in raised.value.errors[PATH][0]


class TestProperties:
    def test_what_the_connector_does_not_know_goes_to_the_driver(self) -> None:
        props = {"connection.url": "x", "connection.user": "me", "connection.sslmode": "require", "mode": "bulk"}
        assert driver_properties(props, {"connection.url", "connection.user"}) == {"sslmode": "require"}

    def test_refuses_what_a_url_must_not_have(self) -> None:
        with pytest.raises(ConfigError) as raised:
            driver_properties({"connection.socketFactory": "a.B", "connection.LoggerFile": "x"}, ())
        assert set(raised.value.errors) == {"connection.socketFactory", "connection.LoggerFile"}

    @pytest.mark.parametrize("name", ["sessionInitStatement", "PREPAREQUERY", "customSchema", "partitionColumn"])
    def test_refuses_what_spark_would_keep_for_itself(self, name: str) -> None:
        with pytest.raises(ConfigError, match=r"Spark's reader"):
            driver_properties({"connection.url": "jdbc:other://h", f"connection.{name}": "x"}, {"connection.url"})

    @pytest.mark.parametrize("url", ["jdbc:postgresql://h/db", "JDBC:PostgreSQL://h/db"])
    def test_of_known_databases_only_known_ones_are_possible(self, url: str) -> None:
        with pytest.raises(ConfigError, match="not among the parameters"):
            driver_properties({"connection.url": url, "connection.userKey": "x"}, {"connection.url"})

    def test_keys_and_certificates_are_files(self) -> None:
        with pytest.raises(ConfigError, match="file of this machine"):
            driver_properties({"connection.trustStore": "http://evil/x"}, ())
