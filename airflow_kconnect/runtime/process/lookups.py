"""Remembers Java's functions by name: PySpark asks the JVM for each of them, each time that an expression uses it.

A plan consists of thousands of function calls (measured: 4,600 requests to the JVM for a preview of one
transformation, of which 1,900 were such questions).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The names under which PySpark looks them up.
_CLASSES = ("functions", "org.apache.spark.sql.functions", "PythonUtils")


class RememberedClass:
    """A Java class of which only static methods are used; each is looked up once."""

    def __init__(self, java_class: Any) -> None:
        self._java_class = java_class

    def __getattr__(self, name: str) -> Any:
        """Called for names that are not known yet."""
        member = getattr(self._java_class, name)
        setattr(self, name, member)
        return member


def remember_lookups(spark: SparkSession) -> None:
    """Remember the methods of the classes that PySpark's functions call, for as long as the JVM lives."""
    jvm = spark._jvm
    for name in _CLASSES:
        if name not in vars(jvm):
            setattr(jvm, name, RememberedClass(getattr(jvm, name)))
