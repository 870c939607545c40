"""JDBC connections in the JVM of a job before its Spark session is there: a run without news never needs one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.jdbc.drivers import CLASS, Driver, _jars, driver_of, use_driver
from airflow_kconnect.connectors.jdbc.urls import JdbcUrl


def connect(url: JdbcUrl, properties: Mapping[str, str], props: Mapping[str, Any]) -> Any:
    """A `java.sql.Connection`; the caller closes it.

    :param properties: for the driver, with ``user`` and ``password``.
    :param props: the connector's configuration, for the keys that name a driver.
    :raises ConfigError: there is no such driver. Also raises what py4j raises.
    """
    from pyspark import SparkContext

    SparkContext._ensure_initialized()
    gateway: Any = SparkContext._gateway
    driver = driver_of(url, props)
    info = gateway.jvm.java.util.Properties()
    for name, text in properties.items():
        info.setProperty(name, text)
    connection = _instance(gateway, _driver_class(gateway, driver, url, props)).connect(url.text, info)
    if connection is None:
        raise ConfigError({CLASS: [f"{driver.class_name} does not know the URL {url.shown}"]})
    return connection


_loaders: dict[tuple[int, Driver], Any] = {}


def _driver_class(gateway: Any, driver: Driver, url: JdbcUrl, props: Mapping[str, Any]) -> Any:
    """The class by the loader that the JVM had it from before: py4j mixes up classes of two loaders.

    That is Spark's, if there is a session; else the one that Spark was started with, or one of our own.

    :raises ConfigError: there is no such class.
    """
    from pyspark.sql import SparkSession

    key = id(gateway), driver
    if key in _loaders:
        return _class(gateway, driver.class_name, _loaders[key])
    if (session := SparkSession.getActiveSession()) is not None:
        use_driver(session, url, props)
    context = gateway.jvm.java.lang.Thread.currentThread().getContextClassLoader()
    if (found := _class(gateway, driver.class_name, context)) is not None:
        return found
    _loaders[key] = _loader(gateway, list(_jars(driver)))
    if (found := _class(gateway, driver.class_name, _loaders[key])) is None:
        raise ConfigError({CLASS: [f"{driver.class_name} is neither in the driver's jars nor in Spark's"]})
    return found


def _class(gateway: Any, name: str, loader: Any) -> Any:
    from py4j.protocol import Py4JJavaError

    try:
        return gateway.jvm.java.lang.Class.forName(name, True, loader)
    except Py4JJavaError as error:
        if "ClassNotFoundException" in str(error.java_exception.getClass().getName()):
            return None
        raise


def _loader(gateway: Any, jars: list[Path]) -> Any:
    """Its parent is not Spark's loader, which gets the same jars later: a class and its parts must not be of two."""
    jvm = gateway.jvm
    urls = gateway.new_array(jvm.java.net.URL, len(jars))
    for index, jar in enumerate(jars):
        urls[index] = jvm.java.io.File(str(jar)).toURI().toURL()
    return jvm.java.net.URLClassLoader(urls, jvm.java.lang.ClassLoader.getSystemClassLoader())


def _instance(gateway: Any, cls: Any) -> Any:
    none = gateway.new_array(gateway.jvm.java.lang.Class, 0)
    return cls.getDeclaredConstructor(none).newInstance(gateway.new_array(gateway.jvm.java.lang.Object, 0))
