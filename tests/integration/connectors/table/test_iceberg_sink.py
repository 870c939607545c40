"""Configurations of Iceberg's sink for Kafka Connect, run by Spark itself, in catalogs of their own.

Most of what it takes is a Spark session, and a run for each of the keys that are about records.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import ConfigError, DataError, RetriableError
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.connectors.table.catalogs.catalogs import hadoop_settings, use_catalog
from airflow_kconnect.connectors.table.settings import CatalogSettings
from airflow_kconnect.kafka.groups import GroupAdmin
from airflow_kconnect.local.ports import free_port
from tests.integration.runtime.conftest import run_here
from tests.support import unique
from tests.support.connect.iceberg import event
from tests.support.kafka import produce

__all__ = ["run_here"]

SCHEMA = {
    "type": "struct",
    "fields": [
        {"field": "id", "type": "int64"},
        {"field": "kind", "type": "string", "optional": True},
    ],
}

Sink = Callable[..., dict[str, str]]
Rows = Callable[[str], list[Any]]


@pytest.fixture
def warehouse(tmp_path: Path) -> str:
    return f"file://{tmp_path}/warehouse"


@pytest.fixture
def sink(lake: str, topic: Callable[..., str], warehouse: str) -> Sink:
    """The configuration of a sink with a topic and a catalog of its own."""

    def config(**more: str) -> dict[str, str]:
        return {
            "name": unique("iceberg"),
            "connector.class": "org.apache.iceberg.connect.IcebergSinkConnector",
            "topics": topic(),
            "iceberg.tables": "shop.orders",
            "iceberg.tables.auto-create-enabled": "true",
            "iceberg.catalog": unique("catalog").replace("-", "_"),
            "iceberg.catalog.type": "hadoop",
            "iceberg.catalog.warehouse": warehouse,
            "key.converter": "org.apache.kafka.connect.storage.StringConverter",
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            **more,
        }

    return config


def values(*rows: tuple[int, str | None]) -> list[str]:
    return [json.dumps({"schema": SCHEMA, "payload": {"id": n, "kind": kind}}) for n, kind in rows]


@pytest.fixture
def rows_of(spark: SparkSession, warehouse: str) -> Rows:
    """The rows of a table, read by its files' format and place."""

    def read(table: str) -> list[Any]:
        place = f"{warehouse.removeprefix('file://')}/{table.replace('.', '/')}"
        return sorted(tuple(row) for row in spark.read.format("iceberg").load(place).collect())

    return read


def test_records_are_in_the_table_once(sink: Sink, bootstrap: str, run_here: Callable[..., Any], rows_of: Rows) -> None:
    config = sink()
    produce(bootstrap, config["topics"], values((1, "a"), (2, None)))
    run_here(config)
    produce(bootstrap, config["topics"], values((3, "b")))
    report = run_here(config)
    assert report.records["written"] == 1
    assert rows_of("shop.orders") == [(1, "a"), (2, None), (3, "b")]


def test_a_session_shows_nothing_of_a_catalog(spark: SparkSession, lake: str, warehouse: str) -> None:
    own = spark.newSession()
    conf = {
        "": "org.apache.iceberg.spark.SparkCatalog",
        "type": "hadoop",
        "warehouse": warehouse,
        "hadoop.fs.s3a.secret.key": "hunter2",
    }
    use_catalog(own, CatalogSettings("secretive", conf))
    own.sql("create table secretive.db.t (id bigint) using iceberg")
    assert own.sql("select * from secretive.db.t").collect() == []
    assert not [key for key, _ in own.sql("set").collect() if "secretive" in key]
    assert "hunter2" not in str(own.sql("set").collect())


def test_a_catalog_of_spark_is_not_mixed_with_another(spark: SparkSession, lake: str, warehouse: str) -> None:
    catalog = CatalogSettings(lake, {"": "org.apache.iceberg.spark.SparkCatalog", "type": "hadoop"})
    with pytest.raises(ConfigError, match="Spark has a catalog of this name"):
        use_catalog(spark.newSession(), catalog)
    use_catalog(spark.newSession(), CatalogSettings(lake))


@pytest.mark.parametrize(
    ("conf", "text"),
    [
        ({"type": "hadoop"}, "warehouse"),
        ({"catalog-impl": "nowhere.Catalog"}, "nowhere.Catalog"),
    ],
)
def test_a_catalog_that_cannot_be_is_named_with_its_reason(
    spark: SparkSession, lake: str, conf: dict[str, str], text: str
) -> None:
    settings = {"": "org.apache.iceberg.spark.SparkCatalog", **conf}
    with pytest.raises(ConfigError, match=text):
        use_catalog(spark.newSession(), CatalogSettings("wrong", settings, key="iceberg.catalog"))


class _Catalog(BaseHTTPRequestHandler):
    """As much of a REST catalog as is asked when a session loads it."""

    asked: ClassVar[list[tuple[str, str, str]]] = []

    def do_POST(self) -> None:
        form = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self._answer(form, {"access_token": "t0ken", "token_type": "bearer", "expires_in": 3600})

    def do_GET(self) -> None:
        allowed = self.headers.get("Authorization") == "Bearer t0ken"
        self._answer("", {"defaults": {}, "overrides": {}} if allowed else {"error": {"code": 401}}, allowed)

    def _answer(self, form: str, answer: dict[str, Any], allowed: bool = True) -> None:
        self.asked.append((self.path, form, self.headers.get("Authorization", "")))
        body = json.dumps(answer).encode()
        self.send_response(200 if allowed else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@pytest.fixture
def rest() -> Iterator[str]:
    """The address of a REST catalog."""
    _Catalog.asked.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Catalog)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def _rest(uri: str, **more: str) -> CatalogSettings:
    conf = {"": "org.apache.iceberg.spark.SparkCatalog", "type": "rest", "uri": uri, **more}
    return CatalogSettings("rested", conf, key="iceberg.catalog")


def test_a_rest_catalog_gives_a_token_for_client_id_and_secret(spark: SparkSession, lake: str, rest: str) -> None:
    use_catalog(spark.newSession(), _rest(rest, credential="me:s3cret", scope="ALL"))
    (path, form, _), (config, _, authorization) = _Catalog.asked
    assert path == "/v1/oauth/tokens"
    assert {"client_id=me", "client_secret=s3cret", "scope=ALL"} <= set(form.split("&"))
    assert (config.partition("?")[0], authorization) == ("/v1/config", "Bearer t0ken")


def test_a_catalog_that_refuses_the_login_is_an_error_of_the_configuration(
    spark: SparkSession, lake: str, rest: str
) -> None:
    with pytest.raises(ConfigError, match="NotAuthorizedException") as caught:
        use_catalog(spark.newSession(), _rest(rest, token="wr0ng-token"))
    assert "wr0ng-token" not in str(caught.value)


def test_a_catalog_that_does_not_answer_is_asked_again_later(spark: SparkSession, lake: str) -> None:
    with pytest.raises(RetriableError, match="it is unavailable, or its address is wrong"):
        use_catalog(spark.newSession(), _rest(f"http://127.0.0.1:{free_port()}", token="t"))


def test_a_catalog_that_accepts_and_never_answers_is_not_waited_for_forever(spark: SparkSession, lake: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        uri = f"http://127.0.0.1:{silent.getsockname()[1]}"
        short = {"rest.client.socket-timeout-ms": "500", "rest.client.max-retries": "1"}
        with pytest.raises(RetriableError, match="it is unavailable, or its address is wrong"):
            use_catalog(spark.newSession(), _rest(uri, token="t", **short))


def test_settings_of_hadoop_come_from_its_files(spark: SparkSession, lake: str, tmp_path: Path) -> None:
    entries = f"<property><name>kconnect.place</name><value>{tmp_path}/elsewhere</value></property>"
    (tmp_path / "core-site.xml").write_text(f"<configuration>{entries}</configuration>")
    assert hadoop_settings(spark, str(tmp_path)) == {"kconnect.place": f"{tmp_path}/elsewhere"}


def test_records_find_their_tables_as_in_icebergs_sink(
    sink: Sink, bootstrap: str, run_here: Callable[..., Any], rows_of: Rows
) -> None:
    routed = {
        "iceberg.tables": "shop.a,shop.b",
        "iceberg.tables.route-field": "kind",
        "iceberg.table.shop.a.route-regex": "a+",
        "iceberg.table.shop.b.route-regex": "b|a",
        "errors.tolerance": "all",
    }
    config = sink(**routed)
    produce(bootstrap, config["topics"], values((1, "a"), (2, "aa"), (3, "b"), (4, "ab"), (5, None)))
    run_here(config)
    assert rows_of("shop.a") == [(1, "a"), (2, "aa")]
    assert rows_of("shop.b") == [(1, "a"), (3, "b")]


@pytest.mark.exhaustive
def test_each_of_several_tables_gets_all_records(
    sink: Sink, bootstrap: str, run_here: Callable[..., Any], rows_of: Rows
) -> None:
    config = sink(**{"iceberg.tables": "shop.a,shop.b"})
    produce(bootstrap, config["topics"], values((1, "a"), (2, "b")))
    report = run_here(config)
    assert rows_of("shop.a") == rows_of("shop.b") == [(1, "a"), (2, "b")]
    assert report.records["written"] == 2


def test_a_missing_table_is_an_error_of_icebergs_key(sink: Sink, bootstrap: str, run_here: Callable[..., Any]) -> None:
    config = sink(**{"iceberg.tables.auto-create-enabled": "false"})
    produce(bootstrap, config["topics"], values((1, "a")))
    with pytest.raises(ConfigError, match=r"auto-create-enabled.*no table .*shop.orders"):
        run_here(config)


def test_files_that_the_java_class_has_not_committed_are_not_left_behind(
    sink: Sink, bootstrap: str, topic: Callable[..., str], run_here: Callable[..., Any], rows_of: Rows
) -> None:
    config = sink(**{"iceberg.control.topic": topic()})
    group = f"connect-{config['name']}"
    produce(bootstrap, config["topics"], values((1, "a"), (2, "b")))
    commit(bootstrap, group, TopicPartition(config["topics"], 0), 1)
    produce(bootstrap, config["iceberg.control.topic"], [event(0, group), event(1, "connect-other"), event(1, group)])
    with pytest.raises(DataError, match=r"1 events in .*Let the Java class run until its next commit"):
        run_here(config)
    commit(bootstrap, f"{group}-coord", TopicPartition(config["iceberg.control.topic"], 0), 3)
    run_here(config)
    assert rows_of("shop.orders") == [(2, "b")]


def commit(bootstrap: str, group: str, topic_partition: TopicPartition, offset: int) -> None:
    GroupAdmin({"bootstrap.servers": bootstrap}).alter_group_offsets(group, {topic_partition: offset})
