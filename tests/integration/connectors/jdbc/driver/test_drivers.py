"""Drivers in a running Spark session: Spark's own JDBC source and direct connections, with real databases."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.connectors.jdbc.databases.resolving import dialect_of
from airflow_kconnect.connectors.jdbc.driver.connection import Account
from airflow_kconnect.connectors.jdbc.driver.connection import Database as Connection
from airflow_kconnect.connectors.jdbc.driver.drivers import CLASS, PATH, driver_of, use_driver
from airflow_kconnect.connectors.jdbc.driver.gateway import connect
from airflow_kconnect.connectors.jdbc.driver.parameters import is_option_of_spark
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
from airflow_kconnect.local.ports import free_port
from airflow_kconnect.machine.ivy import resolve
from airflow_kconnect.machine.java import find_java
from tests.support.databases.mariadb import MariaServer
from tests.support.databases.servers import Database

ROWS = 100


@pytest.mark.every_database
def test_spark_and_a_direct_connection_read(spark: SparkSession, each_database: Database) -> None:
    fill(each_database)
    url = JdbcUrl.parse(each_database.url)
    driver = use_driver(spark, url, {})
    assert ids_by_spark(spark, each_database, driver) == set(range(ROWS))
    connection = opened(url, each_database.user, each_database.password)
    assert connection.row("select count(*) from numbers") == (str(ROWS),)
    connection.close()


def test_each_thread_sees_the_driver(spark: SparkSession, each_database: Database) -> None:
    fill(each_database)
    url, found = JdbcUrl.parse(each_database.url), []

    def read() -> None:
        found.append(ids_by_spark(spark, each_database, use_driver(spark, url, {})))

    for _ in range(2):
        thread = Thread(target=read)
        thread.start()
        thread.join()
    assert found == [set(range(ROWS))] * 2


def test_derby_needs_no_download(spark: SparkSession, tmp_path: Path) -> None:
    connection = opened(JdbcUrl.parse(f"jdbc:derby:{tmp_path / 'derby'};create=true"))
    assert connection.row("values 1") == ("1",)
    connection.close()


@pytest.mark.parametrize("where", ["spark", "python"])
def test_derby_leaves_no_log_where_the_job_runs(where: str, tmp_path: Path) -> None:
    """In Spark's JVM, where sources read; in that of a Python process, where sinks write."""
    opens = {
        "spark": "from airflow_kconnect.connectors.jdbc.driver.gateway import connect; connect(url, {}, {})",
        "python": "from airflow_kconnect.connectors.jdbc.driver.jvm import new_driver;"
        " new_driver('org.apache.derby.iapi.jdbc.AutoloadedDriver', ()).connect(url.text, None)",
    }
    code = f"""
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl
url = JdbcUrl.parse("jdbc:derby:memory:shop;create=true")
{opens[where]}
"""
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, timeout=120)
    assert list(tmp_path.iterdir()) == []


def test_class_that_is_not_a_driver_is_refused_before_its_code_runs(spark: SparkSession) -> None:
    with pytest.raises(ConfigError, match=r"java\.util\.Random is not a JDBC driver"):
        connect(JdbcUrl.parse("jdbc:other://h"), {}, {CLASS: "java.util.Random"})


def test_zone_of_a_server_is_known(spark: SparkSession, mariadb: MariaServer) -> None:
    url = JdbcUrl.parse(mariadb.url)
    connection = opened(url, mariadb.user, mariadb.password)
    zones = [dialect_of(url).zones_of_writers(connection)]
    mariadb.execute("set global time_zone = '-05:00'")
    try:
        zones.append(dialect_of(url).zones_of_writers(connection))
    finally:
        mariadb.execute("set global time_zone = '+00:00'")
        connection.close()
    assert zones == [[], ["-05:00"]]


def test_all_options_of_sparks_reader_are_known(spark: SparkSession) -> None:
    """A property of the connector with such a name would be one."""
    jvm: Any = spark.sparkContext._jvm
    options = jvm.java.lang.Class.forName("org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions")
    constants = [method for method in options.getMethods() if method.getName().startswith("JDBC_")]
    names = [str(method.invoke(None, None)) for method in constants]
    assert len(names) > 20
    assert [name for name in names if not is_option_of_spark(name)] == []


def test_jar_of_the_user(spark: SparkSession, tmp_path: Path) -> None:
    """A folder with a blank and a quote, and a class of which Spark does not know yet."""
    folder = tmp_path / "it's here"
    folder.mkdir()
    (known,) = driver_of(JdbcUrl.parse("jdbc:mysql://h/db"), {}).coordinates
    jar = next(resolve([known], java=find_java()).glob("mysql-*.jar"))
    shutil.copy(jar, folder / "own.jar")
    url = JdbcUrl.parse("jdbc:other://h/db")
    props = {CLASS: "com.mysql.cj.jdbc.NonRegisteringDriver", PATH: str(folder / "own.jar")}
    assert use_driver(spark, url, props) == props[CLASS]
    with pytest.raises(ConfigError, match="does not know the URL jdbc:other"):
        opened(url, props=props)


@pytest.mark.parametrize(
    ("path", "expected"),
    [("/none/x.jar", "is not a file"), (None, "org.example.None is not in the jars of Spark")],
)
def test_no_driver(spark: SparkSession, path: str | None, expected: str) -> None:
    with pytest.raises(ConfigError, match=expected):
        use_driver(spark, JdbcUrl.parse("jdbc:other://h/db"), {CLASS: "org.example.None", PATH: path})


@pytest.mark.usefixtures("spark")
class TestFailures:
    @pytest.mark.parametrize("driver", ["mariadb", "mysql"])
    def test_no_such_database_of_mysql(self, driver: str, mariadb: MariaServer) -> None:
        url = f"{mariadb.url}_none".replace("jdbc:mariadb:", f"jdbc:{driver}:")
        with pytest.raises(ConfigError) as raised:
            opened(JdbcUrl.parse(url), mariadb.user, mariadb.password)
        assert "connection.url" in raised.value.errors

    def test_no_such_file_of_sqlite(self) -> None:
        properties = dialect_of(url := JdbcUrl.parse("jdbc:sqlite:/none/x.db")).properties
        with pytest.raises(ConfigError) as raised:
            Connection(lambda: connect(url, properties, {}), Account("c", "here", "sqlite"))
        assert "connection.url" in raised.value.errors

    def test_without_a_server(self) -> None:
        url = JdbcUrl.parse(f"jdbc:postgresql://127.0.0.1:{free_port()}/db?sslpassword=canary")
        with pytest.raises(RetriableError, match=r"jdbc:postgresql://127\.0.*connecting failed") as raised:
            opened(url, "me", "canary-secret")
        assert "canary" not in str(raised.value)
        assert "\n" not in str(raised.value)


def opened(
    url: JdbcUrl, user: str | None = None, password: str | None = None, props: dict[str, str] | None = None
) -> Connection:
    login = {name: text for name, text in (("user", user), ("password", password)) if text is not None}
    return Connection(lambda: connect(url, login, props or {}), Account("c", url.shown, url.subprotocol, user))


def fill(database: Database) -> None:
    database.execute("create table numbers (id integer primary key, name varchar(20))")
    database.execute("insert into numbers values " + ", ".join(f"({n}, 'number {n}')" for n in range(ROWS)))


def ids_by_spark(spark: SparkSession, database: Database, driver: str) -> set[int]:
    """The column `id`, read by the executors in two parts."""
    parts = {"partitionColumn": "id", "lowerBound": "0", "upperBound": str(ROWS), "numPartitions": "2"}
    login = {"user": database.user, "password": database.password} if database.user else {}
    # MariaDB takes Spark's quotes for those of a text unless it is told.
    session = dialect_of(JdbcUrl.parse(database.url)).session_start()
    start = {"sessionInitStatement": session} if session else {}
    options: dict[str, Any] = {"url": database.url, "dbtable": "numbers", "driver": driver, **parts, **login, **start}
    return {row.id for row in spark.read.format("jdbc").options(**options).load().collect()}
