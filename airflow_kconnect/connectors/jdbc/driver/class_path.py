"""Jars on the class path of a running JVM, with and without a Spark session.

They go to the loader of the application's own jars. Spark's `ADD JAR` has another one, which the threads that read the
errors of tasks do not know: of a database's exception only "unknown reason" would be left.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

_APPLICATION = (".MutableURLClassLoader", ".ChildFirstURLClassLoader")

ADDED: set[str] = set()
"""Drivers' classes that this process has added itself; executors get their jars when there is a session."""


def application_loader(jvm: Any) -> Any:
    """The class loader that spark-submit has made for the application; None in a JVM that it has not started."""
    outermost = None
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    while loader is not None:
        if str(loader.getClass().getName()).endswith(_APPLICATION):
            outermost = loader
        loader = loader.getParent()
    return outermost


def find_class(jvm: Any, name: str, loader: Any) -> Any:
    """The class, or None; no code of it is run."""
    from py4j.protocol import Py4JJavaError

    try:
        return jvm.java.lang.Class.forName(name, False, loader)
    except Py4JJavaError as error:
        if "ClassNotFoundException" in str(error.java_exception.getClass().getName()):
            return None
        raise


def new_instance(gateway: Any, cls: Any) -> Any:
    """An object of a class, created by its constructor without parameters."""
    none = gateway.new_array(gateway.jvm.java.lang.Class, 0)
    return cls.getDeclaredConstructor(none).newInstance(gateway.new_array(gateway.jvm.java.lang.Object, 0))


def add_jar(jvm: Any, loader: Any, jar: Path) -> None:
    """Let a loader find the classes of a jar."""
    loader.addURL(jvm.java.io.File(str(jar)).toURI().toURL())
