"""JDBC connections in the JVM of a job before its Spark session exists: a run without new rows never needs one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.jdbc.driver.class_path import (
    ADDED,
    add_jar,
    application_loader,
    find_class,
    new_instance,
)
from airflow_kconnect.connectors.jdbc.driver.drivers import CLASS, DERBY_LOG, driver_jars, driver_of
from airflow_kconnect.connectors.jdbc.driver.urls import JdbcUrl


def connect(url: JdbcUrl, properties: Mapping[str, str], props: Mapping[str, Any]) -> Any:
    """A `java.sql.Connection`; the caller closes it.

    :param properties: for the driver, with ``user`` and ``password``.
    :param props: the connector's configuration, for the keys that name a driver.
    :raises ConfigError: there is no such driver. Also raises what py4j raises.
    """
    from pyspark import SparkContext

    SparkContext._ensure_initialized()
    gateway: Any = SparkContext._gateway
    info = gateway.jvm.java.util.Properties()
    for name, text in properties.items():
        info.setProperty(name, text)
    system = gateway.jvm.java.lang.System
    if system.getProperty(DERBY_LOG) is None:
        system.setProperty(DERBY_LOG, os.devnull)
    class_name = driver_of(url, props).class_name
    connection = new_instance(gateway, _driver_class(gateway.jvm, url, props)).connect(url.text, info)
    if connection is None:
        raise ConfigError({CLASS: [f"{class_name} does not know the URL {url.shown}"]})
    return connection


def _driver_class(jvm: Any, url: JdbcUrl, props: Mapping[str, Any]) -> Any:
    """The class, out of the jars that Spark was started with or of those that the driver needs.

    :raises ConfigError: it is in neither, or is not a driver.
    """
    driver = driver_of(url, props)
    loader = application_loader(jvm)
    driver_class = find_class(jvm, driver.class_name, loader)
    if driver_class is None and loader is not None:
        ADDED.add(driver.class_name)
        for jar in driver_jars(driver):
            add_jar(jvm, loader, jar)
        driver_class = find_class(jvm, driver.class_name, loader)
    if driver_class is None:
        raise ConfigError({CLASS: [f"{driver.class_name} is neither in the driver's jars nor in Spark's"]})
    if not jvm.java.lang.Class.forName("java.sql.Driver").isAssignableFrom(driver_class):
        raise ConfigError({CLASS: [f"{driver.class_name} is not a JDBC driver: it does not implement java.sql.Driver"]})
    return driver_class
