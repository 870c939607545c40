"""The same records by Iceberg's own sink, hosted, and by ours: equal columns and rows, but for what is listed here."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.job import run
from tests.support import unique
from tests.support.connect.iceberg import NEWEST, iceberg_folder
from tests.support.kafka import create_topic, produce

pytestmark = pytest.mark.exhaustive

CONNECT = "org.apache.kafka.connect.data"
PRICE = {"type": "bytes", "name": f"{CONNECT}.Decimal", "version": 1, "parameters": {"scale": "2"}}
PLACE = {
    "type": "struct",
    "fields": [
        {"field": "city", "type": "string"},
        {"field": "point", "type": "array", "items": {"type": "double"}, "optional": True},
    ],
}
FIELDS: list[dict[str, Any]] = [
    {"field": "id", "type": "int64"},
    {"field": "tiny", "type": "int8", "optional": True},
    {"field": "small", "type": "int16", "optional": True},
    {"field": "number", "type": "int32", "optional": True},
    {"field": "single", "type": "float", "optional": True},
    {"field": "real", "type": "double", "optional": True},
    {"field": "truth", "type": "boolean", "optional": True},
    {"field": "text", "type": "string", "optional": True},
    {"field": "data", "type": "bytes", "optional": True},
    {"field": "price", "optional": True, **PRICE},
    {"field": "day", "type": "int32", "name": f"{CONNECT}.Date", "version": 1, "optional": True},
    {"field": "moment", "type": "int64", "name": f"{CONNECT}.Timestamp", "version": 1, "optional": True},
    {"field": "tags", "type": "array", "items": {"type": "string", "optional": True}, "optional": True},
    {"field": "counts", "type": "map", "keys": {"type": "string"}, "values": {"type": "int32"}, "optional": True},
    {"field": "place", "optional": True, **PLACE},
    {"field": "places", "type": "array", "items": PLACE, "optional": True},
]
FULL: dict[str, Any] = {
    "id": 1,
    "tiny": -128,
    "small": 32767,
    "number": -2147483648,
    "single": 1.5,
    "real": 0.1,
    "truth": True,
    "text": "größe \u0000 \U0001f600",
    "data": "AAH/",
    "price": "BNI=",  # 12.34
    "day": 20000,
    "moment": 1_700_000_000_123,
    "tags": ["a", None, ""],
    "counts": {"x": 1, "y": 2},
    "place": {"city": "Köln", "point": [50.9, 6.9]},
    "places": [{"city": "Bonn", "point": None}, {"city": "", "point": []}],
}
ROWS = [
    FULL,
    {"id": 2},
    {**FULL, "id": 3, "day": -1, "moment": -1, "price": "+y4=", "tags": [], "counts": {}, "places": []},
]

JSON = {
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
}


@pytest.fixture
def tables(
    lake: str,
    spark: SparkSession,
    bootstrap: str,
    worker_props: dict[str, str],
    topic: Callable[..., str],
    tmp_path: Path,
) -> Callable[..., tuple[DataFrame, DataFrame]]:
    """The table of the Java class and ours: `tables(values, **keys)`."""

    def written(values: list[Any], **more: str) -> tuple[DataFrame, DataFrame]:
        warehouse, read = f"file://{tmp_path}/warehouse", topic()
        produce(bootstrap, read, [json.dumps(value) for value in values])
        config = {
            "connector.class": "org.apache.iceberg.connect.IcebergSinkConnector",
            "topics": read,
            "iceberg.tables.auto-create-enabled": "true",
            "iceberg.catalog": unique("catalog").replace("-", "_"),
            "iceberg.catalog.type": "hadoop",
            "iceberg.catalog.warehouse": warehouse,
            "iceberg.control.topic": create_topic(bootstrap, unique("control")),
            "iceberg.control.commit.interval-ms": "1000",
            "iceberg.kafka.bootstrap.servers": bootstrap,
            **JSON,
            **more,
        }
        plugins = iceberg_folder(tmp_path / "plugins", version=NEWEST)
        worker = {**worker_props, "plugin.path": str(plugins), "group.id": unique("java")}
        java = {"name": unique("java"), "iceberg.tables": "shop.java", "kconnect.hosted": "true"}
        run(RunSpec({**config, **java}, worker, run_id=unique("run")))
        own = {"name": unique("own"), "iceberg.tables": "shop.own"}
        run(RunSpec({**config, **own}, worker_props, run_id=unique("run")), spark)
        return (
            spark.read.format("iceberg").load(f"{tmp_path}/warehouse/shop/java"),
            spark.read.format("iceberg").load(f"{tmp_path}/warehouse/shop/own"),
        )

    return written


def test_records_with_schemas_make_equal_tables(tables: Callable[..., tuple[DataFrame, DataFrame]]) -> None:
    schema = {"type": "struct", "fields": FIELDS}
    java, own = tables([{"schema": schema, "payload": row} for row in ROWS])
    assert described(own) == described(java)
    assert own.orderBy("id").collect() == java.orderBy("id").collect()


def test_records_without_schemas_make_equal_tables(tables: Callable[..., tuple[DataFrame, DataFrame]]) -> None:
    row = {"id": 1, "name": "a", "real": 1.5, "truth": True, "tags": ["x"], "place": {"city": "Bonn", "n": 1}}
    java, own = tables([row, {**row, "id": 2, "name": None}], **{"value.converter.schemas.enable": "false"})
    assert described(own) == described(java)
    assert own.select(*java.columns).orderBy("id").collect() == java.orderBy("id").collect()


def described(table: DataFrame) -> list[str]:
    """Names, types and what is required, of columns and their members; the order of columns is not compared."""
    return sorted(f"{field.name}: {field.dataType.json()} {field.nullable}" for field in table.schema.fields)
