"""What Spark needs for a catalog of Iceberg, by its settings."""

from __future__ import annotations

import pytest

from airflow_kconnect.connect.connector.base import SparkNeeds
from airflow_kconnect.connectors.jdbc.facts.postgresql import POSTGRESQL
from airflow_kconnect.connectors.table.catalogs.keys import BUNDLES, BUNDLES_KEY, bundles_of, patience_of, with_catalog


@pytest.mark.parametrize(
    ("conf", "clouds"),
    [
        ({"type": "hadoop", "warehouse": "file:///lake"}, []),
        ({"type": "hadoop", "warehouse": "s3a://lake"}, []),
        ({"type": "hive", "uri": "thrift://hive:9083"}, []),
        ({"type": "rest", "uri": "https://catalog", "warehouse": "prod"}, []),
        ({"type": "rest", "uri": "https://catalog", "warehouse": "s3://lake"}, ["aws"]),
        ({"type": "rest", "rest.sigv4-enabled": "true"}, ["aws"]),
        ({"type": "rest", "rest.auth.type": "sigv4"}, ["aws"]),
        ({"type": "rest", "s3.region": "eu"}, ["aws"]),
        ({"type": "glue"}, ["aws"]),
        ({"catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog"}, ["aws"]),
        ({"type": "nessie", "io-impl": "org.apache.iceberg.aws.s3.S3FileIO"}, ["aws"]),
        ({"type": "rest", "io-impl": "org.apache.iceberg.gcp.gcs.GCSFileIO"}, ["gcp"]),
        ({"type": "rest", "rest.auth.type": "org.apache.iceberg.gcp.auth.GoogleAuthManager"}, ["gcp"]),
        ({"type": "jdbc", "warehouse": "gs://lake"}, ["gcp"]),
        ({"type": "rest", "warehouse": "abfss://lake@account.dfs.core.windows.net/"}, ["azure"]),
        ({"type": "hive", "warehouse": "s3://a", "io-impl": "org.apache.iceberg.hadoop.HadoopFileIO"}, []),
        ({"catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog", "warehouse": "gs://lake"}, ["aws", "gcp"]),
    ],
)
def test_the_clouds_that_are_named_are_needed(conf: dict[str, str], clouds: list[str]) -> None:
    assert bundles_of(conf) == clouds


def coordinates(conf: dict[str, str], **props: str) -> tuple[str, ...]:
    return with_catalog(SparkNeeds(("format:jar:1",)), conf, props).coordinates[1:]


def test_the_driver_of_a_catalogs_database_is_needed() -> None:
    assert coordinates({"type": "jdbc", "uri": "jdbc:postgresql://db/catalog"}) == POSTGRESQL.coordinates


def test_the_user_chooses_bundles() -> None:
    assert coordinates({"type": "rest"}, **{BUNDLES_KEY: "azure"}) == (BUNDLES["azure"],)
    assert coordinates({"type": "glue"}, **{BUNDLES_KEY: ""}) == ()


def test_a_catalog_with_rest_is_not_waited_for_forever() -> None:
    assert int(patience_of({"type": "REST"})["rest.client.socket-timeout-ms"]) > 0
    assert patience_of({"type": "jdbc"}) == {}
