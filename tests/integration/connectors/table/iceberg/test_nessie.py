"""Tables in Nessie, whose server takes 140 MB to fetch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.integration.connectors.table.iceberg.conftest import MakeTable
from tests.support.catalogs.nessie import NessieServer
from tests.support.spark.iceberg import check, use

pytestmark = pytest.mark.exhaustive


@pytest.fixture(scope="module")
def nessie(lake: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NessieServer]:
    server = NessieServer(tmp_path_factory.mktemp("nessie"))
    yield server
    server.remove()


def test_a_table_does_all_that_a_connector_needs(
    nessie: NessieServer, make_table: MakeTable, spark: SparkSession, tmp_path: Path
) -> None:
    conf = {
        "": "org.apache.iceberg.spark.SparkCatalog",
        "type": "nessie",
        "uri": nessie.uri,
        "ref": "main",
        "warehouse": str(tmp_path),
    }
    check(make_table(catalog=use(spark, conf), keys=("id",)))
