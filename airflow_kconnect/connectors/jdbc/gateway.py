"""JDBC connections in the JVM of a job before its Spark session is there: a run without news never needs one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.jdbc.drivers import CLASS, _jars, driver_of
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
    loader = _loader(gateway, list(_jars(driver)))
    connection = _instance(gateway, loader, driver.class_name).connect(url.text, info)
    if connection is None:
        raise ConfigError({CLASS: [f"{driver.class_name} does not know the URL {url.shown}"]})
    return connection


_loaders: dict[tuple[int, tuple[Path, ...]], Any] = {}


def _loader(gateway: Any, jars: list[Path]) -> Any:
    """One class loader per driver: some load native libraries, which a JVM should do once."""
    key = (id(gateway), tuple(jars))
    if key not in _loaders:
        jvm = gateway.jvm
        urls = gateway.new_array(jvm.java.net.URL, len(jars))
        for index, jar in enumerate(jars):
            urls[index] = jvm.java.io.File(str(jar)).toURI().toURL()
        parent = jvm.java.lang.Thread.currentThread().getContextClassLoader()
        _loaders[key] = jvm.java.net.URLClassLoader(urls, parent)
    return _loaders[key]


def _instance(gateway: Any, loader: Any, class_name: str) -> Any:
    from py4j.protocol import Py4JJavaError

    try:
        cls = gateway.jvm.java.lang.Class.forName(class_name, True, loader)
    except Py4JJavaError as error:
        if "ClassNotFoundException" not in str(error.java_exception.getClass().getName()):
            raise
        raise ConfigError({CLASS: [f"{class_name} is neither in the driver's jars nor in Spark's"]}) from None
    none = gateway.new_array(gateway.jvm.java.lang.Class, 0)
    return cls.getDeclaredConstructor(none).newInstance(gateway.new_array(gateway.jvm.java.lang.Object, 0))
