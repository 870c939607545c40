"""What may be in the configuration of a table sink."""

from __future__ import annotations

import pytest

from airflow_kconnect.connectors.table.sink import SparkTableSinkConnector
from airflow_kconnect.worker_config.keys import TABLE_FORMATS, WorkerConfig

BASE = {"name": "lake", "connector.class": "SparkTableSink", "topics": "orders", "table.format": "iceberg"}


def errors(**keys: str) -> dict[str, list[str]]:
    """Of the rules between keys; `_` in names of keys stands for a dot."""
    return SparkTableSinkConnector.validate(BASE | {key.replace("_", "."): text for key, text in keys.items()})


def test_the_least_that_is_needed_is_a_format() -> None:
    assert errors() == {}


@pytest.mark.parametrize(
    ("keys", "key", "text"),
    [
        ({"insert_mode": "upsert"}, "pk.mode", "is none, but `insert.mode` upsert needs a key"),
        ({"delete_enabled": "true"}, "delete.enabled", "needs `pk.mode` record_key"),
        ({"pk_mode": "kafka", "pk_fields": "a,b"}, "pk.fields", "has 2 names"),
        ({"table_name_format": "a..b"}, "table.name.format", "a part of it is empty"),
        ({"table_name_format": "a.${route}"}, "table.name.format", "neither `table.route.field` nor"),
        ({"table_route_field": "kind", "table_name_format": "a.b"}, "table.name.format", "has no ${route}"),
        ({"table_route_field": "kind"}, "table.catalog", "records could name tables of any catalog"),
        (
            {"table_route_field": "kind", "table_route_header": "kind", "table_name_format": "lake.${route}"},
            "table.route.header",
            "is set together with `table.route.field`",
        ),
        ({"table_catalog_uri": "http://x"}, "table.catalog", "is not set, but `table.catalog.uri` is"),
        ({"table_catalog": "a.b"}, "table.catalog", "is not the name of a catalog"),
        ({"table_format": "parquet"}, "table.location", "files of parquet need a place"),
        ({"table_format": "parquet", "insert_mode": "upsert"}, "insert.mode", "rows are only appended to parquet"),
        ({"table_format": "parquet", "auto_evolve": "true"}, "auto.evolve", "tables of parquet are not changed"),
        ({"table_location": "/a", "topics": "a,b"}, "table.location", "put ${table} where"),
        ({"table_partition_by": "a"}, "table.partition.by", "has no effect without `auto.create`"),
        (
            {"kconnect_schema_change": "fail", "auto_evolve": "true"},
            "kconnect.schema.change",
            "leave `auto.evolve` out",
        ),
        ({"errors_deadletterqueue_table_enable": "true"}, "errors.deadletterqueue.table.enable", "`errors.tolerance`"),
    ],
)
def test_what_does_not_go_together_is_an_error_that_says_what_to_do(keys: dict[str, str], key: str, text: str) -> None:
    assert text in errors(**keys).get(key, [""])[0]


def test_all_errors_are_found_at_once() -> None:
    assert set(errors(insert_mode="upsert", delete_enabled="true", table_name_format=".")) == {
        *("pk.mode", "delete.enabled", "table.name.format")
    }


def test_what_is_written_at_least_once_is_warned_of() -> None:
    assert SparkTableSinkConnector.warnings(BASE) == []
    assert "at least once" in SparkTableSinkConnector.warnings(BASE | {"table.format": "ORC"})[0]


@pytest.mark.parametrize(
    ("keys", "allowed", "wrong"),
    [
        ({"table.format": "iceberg", "table.write.anything": "x"}, "", None),
        ({"table.format": "parquet", "table.write.compression": "zstd"}, "", None),
        ({"table.format": "parquet", "table.write.fs.s3a.impl": "evil.Class"}, "", "table.write.fs.s3a.impl"),
        ({"table.format": "jdbc", "table.write.dbtable": "${table}"}, "", "table.format"),
        ({"table.format": "JDBC", "table.write.driver": "x"}, "jdbc", None),
        ({"table.format": "hudi"}, "*", None),
    ],
)
def test_formats_that_the_worker_does_not_name_are_forbidden(
    keys: dict[str, str], allowed: str, wrong: str | None
) -> None:
    worker = WorkerConfig.from_props({"bootstrap.servers": "localhost:9092", TABLE_FORMATS: allowed})
    found = SparkTableSinkConnector.forbidden(BASE | keys, worker)
    assert list(found) == ([] if wrong is None else [wrong])


def test_settings_of_a_format_and_a_catalog_keep_their_names() -> None:
    settings = SparkTableSinkConnector.settings(
        BASE
        | {
            "table.catalog": "lake",
            "table.catalog.uri": "http://x",
            "table.properties.write.format.default": "orc",
            "table.write.distribution-mode": "none",
            "table.partition.by": "days(at), bucket(16, id)",
        }
    )
    assert settings.catalog is not None
    assert settings.catalog.conf["uri"] == "http://x"
    assert (settings.properties, settings.write_options) == (
        {"write.format.default": "orc"},
        {"distribution-mode": "none"},
    )
    assert settings.partition_by == ("days(at)", "bucket(16, id)")


@pytest.mark.parametrize(
    ("keys", "evolution"),
    [
        ({}, {"add": "fail", "widen": "fail", "optional": "fail"}),
        ({"auto.evolve": "true"}, {"add": "evolve", "widen": "evolve", "optional": "evolve"}),
        ({"kconnect.schema.change": "ignore"}, {"add": "ignore", "widen": "fail", "optional": "fail"}),
        (
            {"auto.evolve": "true", "kconnect.schema.change.widen": "fail"},
            {"add": "evolve", "widen": "fail", "optional": "evolve"},
        ),
    ],
)
def test_changes_of_a_table_are_allowed_by_kind(keys: dict[str, str], evolution: dict[str, str]) -> None:
    assert SparkTableSinkConnector.settings(BASE | keys).evolution == evolution


def test_the_columns_of_metadata_have_the_names_of_the_jdbc_sink_or_their_own() -> None:
    keys = {"table.metadata.columns": "topic,offset:position", "pk.mode": "kafka"}
    assert SparkTableSinkConnector.settings(BASE | keys).metadata == {
        "topic": "__connect_topic",
        "partition": "__connect_partition",
        "offset": "__connect_offset",
    }
