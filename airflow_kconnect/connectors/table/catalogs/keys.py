"""What a configuration says of a catalog: its own keys, what is wrong with it, what Spark needs for it. Pure rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from airflow_kconnect.connect.config import ConfigDef, Importance, Type, ValidList, nullable
from airflow_kconnect.connect.connector.base import SparkNeeds
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.jdbc.facts.entry import Database
from airflow_kconnect.connectors.jdbc.facts.registry import DATABASES
from airflow_kconnect.connectors.table.settings import CatalogSettings
from airflow_kconnect.validation.connector_keys import KCONNECT

BUNDLES_KEY = "kconnect.iceberg.bundles"
CONNECTIONS = "kconnect.catalog.conn_ids"
"""Names connections of Airflow; a task has put their settings in place of it."""

BUNDLES = {
    "aws": "org.apache.iceberg:iceberg-aws-bundle:1.12.0",
    "gcp": "org.apache.iceberg:iceberg-gcp-bundle:1.11.0",
    "azure": "org.apache.iceberg:iceberg-azure-bundle:1.10.0",
}
"""What Iceberg's classes for a cloud need besides: its SDK. These are the newest; they have no classes of Iceberg."""

SPARK_CATALOG = "org.apache.iceberg.spark.SparkCatalog"
TYPES = ("hadoop", "hive", "rest", "jdbc", "glue", "nessie", "bigquery")
"""The catalogs that Iceberg knows by name."""

# Which settings mean a cloud: the classes of Iceberg that use its SDK, places, and ways to sign requests.
_CLASSES = {"aws": "org.apache.iceberg.aws.", "gcp": "org.apache.iceberg.gcp.", "azure": "org.apache.iceberg.azure."}
_PLACES = {"aws": ("s3://",), "gcp": ("gs://",), "azure": ("abfs://", "abfss://", "wasb://", "wasbs://")}
_WITH_CLASSES = ("catalog-impl", "io-impl", "client.factory", "rest.auth.type")
_OF_TYPE = {"glue": "aws", "bigquery": "gcp"}
_PATIENCE = {"rest.client.connection-timeout-ms": "30000", "rest.client.socket-timeout-ms": "300000"}
_HADOOP_IO = "org.apache.iceberg.hadoop.HadoopFileIO"


def catalog_problem(catalog: CatalogSettings) -> Iterator[tuple[str, str]]:
    """Key -> message: what cannot be a catalog."""
    if "." in catalog.name or "`" in catalog.name:
        yield catalog.key, f"is {catalog.name}: a name of a catalog of Spark has neither dots nor backticks"
    if not catalog.conf:
        return
    if (kind := catalog.conf.get("type")) and catalog.conf.get("catalog-impl"):
        yield f"{catalog.key}.type", f"is set, and so is `{catalog.key}.catalog-impl`: one of them names the catalog"
    elif kind is not None and kind.lower() not in TYPES:
        known = ", ".join(TYPES)
        yield f"{catalog.key}.type", f"is {kind}, expected one of: {known}; `{catalog.key}.catalog-impl` for others"


def define_catalog_keys(config: ConfigDef) -> ConfigDef:
    """Define our own keys of a catalog."""
    low = Importance.LOW
    config.define(CONNECTIONS, Type.LIST, None, Importance.MEDIUM, "Ids of Airflow connections with the catalog's "
                  "address, login and keys of stores: types iceberg, aws, google_cloud_platform, wasb, adls.",
                  group=KCONNECT, example="lake,aws_default")  # fmt: skip
    names = ", ".join(BUNDLES)
    return config.define(BUNDLES_KEY, Type.LIST, None, low, f"Bundles of Iceberg that Spark gets: {names}. "
                         "Not set: what the settings of the catalog name. Empty: Spark has what it needs.",
                         validator=nullable(ValidList.in_("", *BUNDLES)), group=KCONNECT)  # fmt: skip


def check_connections(props: Mapping[str, str]) -> None:
    """:raises ConfigError: connections of Airflow are named, and no task of it has looked them up."""
    if props.get(CONNECTIONS, "").strip():
        text = "names connections of Airflow, and needs Airflow, whose tasks look them up; elsewhere write the settings"
        raise ConfigError({CONNECTIONS: [text]}, props.get("name"))


def with_catalog(needs: SparkNeeds, conf: Mapping[str, str], props: Mapping[str, str]) -> SparkNeeds:
    """What a format needs, with what a catalog needs besides.

    :param conf: see `CatalogSettings`; variables need not be resolved. :param props: of the connector.
    """
    if not needs.coordinates:  # Spark has all of it
        return needs
    chosen = props.get(BUNDLES_KEY)
    clouds = bundles_of(conf) if chosen is None else [name.strip() for name in chosen.split(",") if name.strip()]
    database = database_of(conf)
    driver = () if database is None else database.coordinates
    more = [*(BUNDLES[cloud] for cloud in clouds), *driver]
    return replace(needs, coordinates=(*needs.coordinates, *more))


def bundles_of(conf: Mapping[str, str]) -> list[str]:
    """The clouds that settings of a catalog name."""
    found = {_OF_TYPE.get(conf.get("type", "").lower())}
    for cloud, package in _CLASSES.items():
        if any(conf.get(key, "").startswith(package) for key in _WITH_CLASSES):
            found.add(cloud)
    if conf.get("rest.sigv4-enabled", "").lower() == "true" or conf.get("rest.auth.type", "").lower() == "sigv4":
        found.add("aws")
    # Hadoop's file systems are Spark's own business; other catalogs choose by the scheme of a place.
    if conf.get("io-impl") != _HADOOP_IO and conf.get("type") != "hadoop":
        found |= {cloud for cloud, schemes in _PLACES.items() if conf.get("warehouse", "").startswith(schemes)}
        found |= {cloud for cloud, prefix in (("aws", "s3."), ("gcp", "gcs."), ("azure", "adls."))
                  if any(key.startswith(prefix) for key in conf)}  # fmt: skip
    return [cloud for cloud in BUNDLES if cloud in found]


def patience_of(conf: Mapping[str, str]) -> dict[str, str]:
    """How long to wait for a catalog with REST that does not answer: Iceberg would wait forever."""
    return dict(_PATIENCE) if conf.get("type", "").lower() == "rest" else {}


def database_of(conf: Mapping[str, str]) -> Database | None:
    """The kind of database that a catalog is in; None for other catalogs."""
    return next((each for each in DATABASES if conf.get("uri", "").startswith(f"jdbc:{each.name}:")), None)
