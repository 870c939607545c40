"""Catalogs of Iceberg: what Spark needs for them, and how a session gets one without anything of it being shown.

The settings of a session are in Spark's event log and on its pages with each query, redacted by the names of keys
alone. So they are set, the session loads the catalog, and they are unset: the catalog stays with the session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.config import ConfigDef, Importance, Type, ValidList, nullable
from airflow_kconnect.connect.connector.base import SparkNeeds
from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.connect.validation.connector_keys import KCONNECT
from airflow_kconnect.connectors.jdbc.databases.entry import Database
from airflow_kconnect.connectors.jdbc.databases.registry import DATABASES
from airflow_kconnect.connectors.table.settings import CatalogSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
_SETTING = "spark.sql.catalog."
_SITES = ("core-site.xml", "hdfs-site.xml", "hive-site.xml")
TYPES = ("hadoop", "hive", "rest", "jdbc", "glue", "nessie", "bigquery")
"""The catalogs that Iceberg knows by name."""

# Which settings mean a cloud: the classes of Iceberg that use its SDK, places, and ways to sign requests.
_CLASSES = {"aws": "org.apache.iceberg.aws.", "gcp": "org.apache.iceberg.gcp.", "azure": "org.apache.iceberg.azure."}
_PLACES = {"aws": ("s3://",), "gcp": ("gs://",), "azure": ("abfs://", "abfss://", "wasb://", "wasbs://")}
_WITH_CLASSES = ("catalog-impl", "io-impl", "client.factory", "rest.auth.type")
_OF_TYPE = {"glue": "aws", "bigquery": "gcp"}
_HADOOP_IO = "org.apache.iceberg.hadoop.HadoopFileIO"
_UNAVAILABLE = ("java.net.", "java.io.IOException", "ServiceUnavailable", "ServiceFailure", "UncheckedSQLException",
                "SQLTransientConnection", "SdkClientException", "TTransportException", "HttpHostConnect",
                "RuntimeMetaException", "UncheckedInterrupted")  # fmt: skip


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
    database = _database(conf)
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


def _database(conf: Mapping[str, str]) -> Database | None:
    return next((each for each in DATABASES if conf.get("uri", "").startswith(f"jdbc:{each.name}:")), None)


def use_catalog(spark: SparkSession, catalog: CatalogSettings) -> None:
    """Give the session a catalog; with settings of its own it knows it from now on, without them Spark has it.

    :raises ConfigError: there is no such catalog, it is another one of Spark's, or it cannot be created.
    :raises RetriableError: what it connects to is unavailable.
    """
    if not catalog.conf:
        _load(spark, catalog)
        return
    name = f"{_SETTING}{catalog.name}"
    if spark.conf.get(name, None) is not None:
        text = f"is {catalog.name}, and Spark has a catalog of this name ({name}): choose another one, or leave out "
        raise ConfigError({catalog.key: [f"{text}`{catalog.key}.*` to use Spark's"]})
    _register_driver(spark, catalog.conf)
    sites = {} if catalog.conf_dir is None else hadoop_settings(spark, catalog.conf_dir)
    conf = {f"hadoop.{key}": text for key, text in sites.items()} | dict(catalog.conf)
    with _settings(spark, {f"{name}.{key}" if key else name: text for key, text in conf.items()}):
        _load(spark, catalog)


def _register_driver(spark: SparkSession, conf: Mapping[str, str]) -> None:
    """Java finds drivers only among the jars that it was started with, not in those that Spark adds."""
    database, jvm = _database(conf), spark._jvm
    if database is not None and database.driver_class is not None and jvm is not None:
        jvm.org.apache.spark.sql.execution.datasources.jdbc.DriverRegistry.register(database.driver_class)


@contextmanager
def _settings(spark: SparkSession, conf: Mapping[str, str]) -> Iterator[None]:
    for key, text in conf.items():
        spark.conf.set(key, text)
    try:
        yield
    finally:
        for key in conf:
            spark.conf.unset(key)


def _load(spark: SparkSession, catalog: CatalogSettings) -> None:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors.exceptions.captured import CapturedException

    assert spark._jvm is not None
    # Spark takes the settings of the session that is active in this thread.
    session_class, session = spark._jvm.org.apache.spark.sql.classic.SparkSession, spark._jsparkSession
    before = session_class.getActiveSession()
    session_class.setActiveSession(session)
    try:
        session.sessionState().catalogManager().catalog(catalog.name)
    except (Py4JJavaError, CapturedException) as error:
        causes = _causes(error.java_exception if isinstance(error, Py4JJavaError) else error._origin)
        text = f"catalog {catalog.name}: {causes[-1][:500]}"
        if any(sign in cause.split(":")[0] for cause in causes for sign in _UNAVAILABLE):
            raise RetriableError(f"{text}; it is unavailable, or its address is wrong") from None
        raise ConfigError({catalog.key: [f"{text}. Check `{catalog.key}.*`"]}) from None
    finally:
        if before.isDefined():
            session_class.setActiveSession(before.get())
        else:
            session_class.clearActiveSession()


def _causes(error: Any) -> list[str]:
    """Classes and messages of an exception and its causes, each on one line."""
    found: list[str] = []
    while error is not None and len(found) < 20:
        found.append(" ".join(str(error.toString()).split()))
        error = error.getCause()
    return found


def hadoop_settings(spark: SparkSession, folder: str) -> dict[str, str]:
    """What Hadoop's files in a folder say. Hadoop reads them: they may use its variables and includes."""
    jvm = spark._jvm
    assert jvm is not None
    conf = jvm.org.apache.hadoop.conf.Configuration(False)
    for name in _SITES:
        if (file := Path(folder, name)).is_file():
            conf.addResource(jvm.java.net.URI(file.resolve().as_uri()).toURL())
    entries, found = conf.iterator(), {}
    while entries.hasNext():
        name = str(entries.next().getKey())
        found[name] = str(conf.get(name))
    return found
