"""JDBC drivers in this Python process: a small JVM of its own, through JPype, in which the sink's tasks write.

A process has one JVM, which cannot be started again. So drivers are not on its class path: each set of jars has a class
loader of its own, as another connector in a process that Spark uses again may bring other ones.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connectors.jdbc.driver.drivers import CLASS, COORDINATES, DERBY_LOG, PATH
from airflow_kconnect.machine.java import find_java
from airflow_kconnect.machine.spark_home import spark_home

_OPTIONS = (
    *("-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-XX:-UsePerfData"),
    # Signals are Python's.
    "-Xrs",
    *("-Duser.timezone=UTC", "-Duser.language=en", "-Djava.awt.headless=true"),
    f"-D{DERBY_LOG}={os.devnull}",
)
_LIBRARY = Path("lib", "server", "libjvm.so")
_starting = threading.Lock()


def start() -> None:
    """Start the JVM, unless it runs.

    :raises SetupError: there is no Java.
    """
    import jpype

    with _starting:
        if jpype.isJVMStarted():
            return
        library = find_java().path.resolve().parents[1] / _LIBRARY
        jpype.startJVM(
            *_OPTIONS, jvmpath=str(library) if library.is_file() else None, convertStrings=False, interrupt=True
        )
        atexit.register(_leave_threads)


def _leave_threads() -> None:
    """The end of this process waits for that of the JVM, and that for threads that a driver may have left running."""
    import jpype.config

    thread: Any = jpype.JClass("java.lang.Thread")
    others = [other for other in thread.getAllStackTraces().keySet() if not other.equals(thread.currentThread())]
    if any(not other.isDaemon() for other in others):
        jpype.config.destroy_jvm = False


def new_driver(class_name: str, jars: Sequence[Path]) -> Any:
    """A `java.sql.Driver`.

    :param jars: that hold it; none: it is among Spark's.
    :raises ConfigError: they do not, or it is not a driver. :raises SetupError: there is no Java.
    """
    start()
    return load(class_name, jars).getDeclaredConstructor().newInstance()


def load(class_name: str, jars: Sequence[Path]) -> Any:
    """The `java.lang.Class` of a driver; see `new_driver`."""
    from jpype import JClass, JException

    thread: Any = JClass("java.lang.Thread").currentThread()
    loader = _loader(tuple(map(str, jars)) or _jars_of_spark())
    # Drivers look up classes of their own with it.
    thread.setContextClassLoader(loader)
    try:
        driver_class: Any = loader.loadClass(class_name)
    except JException as error:
        where = ", ".join(jar.name for jar in jars) or f"the jars of Spark; name its jar in {COORDINATES} or {PATH}"
        if not isinstance(error, JClass("java.lang.ClassNotFoundException")):
            raise ConfigError({CLASS: [f"{class_name} cannot be loaded: {error}"]}) from None
        raise ConfigError({CLASS: [f"{class_name} is not in {where}"]}) from None
    if not JClass("java.sql.Driver").class_.isAssignableFrom(driver_class):
        raise ConfigError({CLASS: [f"{class_name} is not a JDBC driver: it does not implement java.sql.Driver"]})
    return driver_class


@cache
def _loader(jars: tuple[str, ...]) -> Any:
    from jpype import JArray, JClass

    urls = [JClass("java.io.File")(jar).toURI().toURL() for jar in jars]
    parent = JClass("java.lang.ClassLoader").getPlatformClassLoader()
    return JClass("java.net.URLClassLoader")(JArray(JClass("java.net.URL"))(urls), parent)


@cache
def _jars_of_spark() -> tuple[str, ...]:
    home = spark_home()
    return tuple(map(str, sorted((home / "jars").glob("*.jar")))) if home else ()
