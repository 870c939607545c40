"""Tables in Hive's metastore, which is asked by Spark's own client."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from tests.integration.connectors.table.iceberg.conftest import MakeTable
from tests.support import unique
from tests.support.catalogs.hive import HiveMetastore
from tests.support.spark.iceberg import check, use

pytestmark = pytest.mark.exhaustive  # a server of its own


@pytest.fixture(scope="module")
def metastore(lake: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HiveMetastore]:
    server = HiveMetastore(tmp_path_factory.mktemp("hive"))
    yield server
    server.remove()


def conf(uri: str, warehouse: Path) -> dict[str, str]:
    return {
        "": "org.apache.iceberg.spark.SparkCatalog",
        "type": "hive",
        "uri": uri,
        "warehouse": str(warehouse),
        "clients": "1",
        # The metastore compares where the metadata is; its locks need tables of Hive's that it does not create.
        "hadoop.iceberg.engine.hive.lock-enabled": "false",
    }


def test_a_table_does_all_that_a_connector_needs(
    metastore: HiveMetastore, make_table: MakeTable, spark: SparkSession
) -> None:
    catalog = use(spark, conf(metastore.uri, metastore.warehouse))
    check(make_table(catalog=catalog, name=unique("t").replace("-", "_"), keys=("id",)))


def test_a_name_that_hive_does_not_have_is_an_error(
    metastore: HiveMetastore, make_table: MakeTable, spark: SparkSession
) -> None:
    with pytest.raises(ConfigError, match="cannot be created"):
        make_table(catalog=use(spark, conf(metastore.uri, metastore.warehouse)))  # its name has a dash


def test_a_metastore_that_cannot_be_reached_is_unavailable(
    make_table: MakeTable, spark: SparkSession, lake: str, tmp_path: Path
) -> None:
    with pytest.raises((RetriableError, ConfigError), match=r"unavailable|cannot be used"):
        make_table(catalog=use(spark, conf("thrift://127.0.0.1:9", tmp_path)))
