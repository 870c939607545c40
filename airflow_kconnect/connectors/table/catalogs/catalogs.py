"""Catalogs of Iceberg: how a session gets one without anything of it being shown.

The settings of a session are in Spark's event log and on its pages with each query, redacted by the names of keys
alone. So they are set, the session loads the catalog, and they are unset: the catalog stays with the session.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.connectors.table.catalogs.keys import database_of, patience_of
from airflow_kconnect.connectors.table.session_conf import with_conf
from airflow_kconnect.connectors.table.settings import CatalogSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SETTING = "spark.sql.catalog."
_SITES = ("core-site.xml", "hdfs-site.xml", "hive-site.xml")
_UNAVAILABLE = ("java.net.", "java.io.IOException", "ServiceUnavailable", "ServiceFailure", "UncheckedSQLException",
                "SQLTransientConnection", "SdkClientException", "TTransportException", "HttpHostConnect",
                "RuntimeMetaException", "UncheckedInterrupted")  # fmt: skip


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
    conf = {f"hadoop.{key}": text for key, text in sites.items()} | patience_of(catalog.conf) | dict(catalog.conf)
    with with_conf(spark, {f"{name}.{key}" if key else name: text for key, text in conf.items()}):
        _load(spark, catalog)


def _register_driver(spark: SparkSession, conf: Mapping[str, str]) -> None:
    """Java finds drivers only among the jars that it was started with, not in those that Spark adds."""
    database, jvm = database_of(conf), spark._jvm
    if database is not None and database.driver_class is not None and jvm is not None:
        jvm.org.apache.spark.sql.execution.datasources.jdbc.DriverRegistry.register(database.driver_class)


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
