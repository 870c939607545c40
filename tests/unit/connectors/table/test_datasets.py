"""Names of tables for lineage."""

from __future__ import annotations

from typing import Any

import pytest
from openlineage.client.naming import dataset as naming

from airflow_kconnect.connect.connector.datasets import Dataset
from airflow_kconnect.connectors.table.datasets import located, table_datasets
from airflow_kconnect.connectors.table.settings import CatalogSettings


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("s3a://lake/shop/orders", naming.S3("lake", "shop/orders")),
        ("s3://lake/shop/orders/", naming.S3("lake", "shop/orders")),
        ("gs://lake/shop/orders", naming.GCS("lake", "shop/orders")),
        ("hdfs://names:8020/shop/orders", naming.HDFS("names", "8020", "/shop/orders")),
        ("abfss://c@acc.dfs.core.windows.net/shop/orders", naming.ABFSS("c", "acc", "shop/orders")),
        ("file:/data/lake/orders", naming.LocalFileSystem("/data/lake/orders")),
        ("/data/lake/orders", naming.LocalFileSystem("/data/lake/orders")),
    ],
)
def test_a_table_is_the_dataset_of_its_location(location: str, expected: Any) -> None:
    assert located(location) == Dataset(expected.get_namespace(), expected.get_name())


@pytest.mark.parametrize(
    ("conf", "namespace"),
    [
        ({"type": "rest", "uri": "https://me:secret@catalog:8181/v1/"}, "https://catalog:8181/v1"),
        ({"type": "hive", "uri": "thrift://metastore:9083"}, "hive://metastore:9083"),
        ({"type": "hadoop", "warehouse": "s3a://lake/warehouse"}, "s3://lake/warehouse"),
    ],
)
def test_its_name_in_the_catalog_is_a_symlink(conf: dict[str, str], namespace: str) -> None:
    report = {"notes": {"tables": {"lake.shop.`or-ders`": {"location": "s3://b/o", "columns": [["id", "bigint"]]}}}}

    (dataset,) = table_datasets(CatalogSettings("lake", conf), report)

    assert dataset.columns == (("id", "bigint"),)
    assert dataset.symlink == Dataset(namespace, "shop.or-ders")


@pytest.mark.parametrize("catalog", [None, CatalogSettings("lake", {"uri": "${airflow:lake:host}"})])
def test_a_catalog_of_which_nothing_is_known_gives_no_symlink(catalog: CatalogSettings | None) -> None:
    report = {"notes": {"tables": {"lake.shop.orders": {"location": "s3://b/o"}}}}
    assert [dataset.symlink for dataset in table_datasets(catalog, report)] == [None]


def test_before_a_run_nothing_is_known() -> None:
    assert table_datasets(None, None) == [] and table_datasets(None, {"notes": {}}) == []
