"""Topics of JSON with schemas, and the tables that a sink makes of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession

from tests.integration.runtime.conftest import STRING
from tests.support import unique
from tests.support.kafka import create_topic, produce

_TYPES = {int: "int64", str: "string", float: "double", bool: "boolean"}


def record(**fields: Any) -> str:
    """A value with a schema, whose fields are optional."""
    members = [{"field": name, "type": _TYPES[type(value)], "optional": True} for name, value in fields.items()]
    return json.dumps({"schema": {"type": "struct", "fields": members}, "payload": fields})


class Lake:
    """A namespace of the lake of its own."""

    def __init__(self, spark: SparkSession, bootstrap: str, catalog: str) -> None:
        self.spark, self.bootstrap = spark, bootstrap
        self.namespace = f"{catalog}.{unique('db').replace('-', '_')}"
        spark.sql(f"CREATE NAMESPACE {self.namespace}")

    def topic(self, *values: str | None, partitions: int = 1) -> str:
        name = create_topic(self.bootstrap, unique("t").replace("-", "_"), partitions)
        produce(self.bootstrap, name, values)
        return name

    def add(self, topic: str, *values: str | None, **more: Any) -> None:
        """:param more: see `tests.support.kafka.produce`."""
        produce(self.bootstrap, topic, values, **more)

    def config(self, *topics: str, **more: str) -> dict[str, str]:
        return {
            "name": unique("lake"),
            "connector.class": "SparkTableSink",
            "topics": ",".join(topics),
            "table.format": "iceberg",
            "table.name.format": f"{self.namespace}.${{topic}}",
            "auto.create": "true",
            "key.converter": STRING,
            "value.converter": "org.apache.kafka.connect.json.JsonConverter",
            **more,
        }

    def rows(self, table: str, *columns: str) -> list[Row]:
        """Sorted."""
        return sorted(self.spark.table(f"{self.namespace}.{table}").select(*columns or "*").collect(), key=str)

    def columns(self, table: str) -> Mapping[str, str]:
        return dict(self.spark.table(f"{self.namespace}.{table}").dtypes)

    def tables(self) -> set[str]:
        return {row.tableName for row in self.spark.sql(f"SHOW TABLES IN {self.namespace}").collect()}


@pytest.fixture
def tables(spark: SparkSession, bootstrap: str, lake: str) -> Lake:
    return Lake(spark, bootstrap, lake)
