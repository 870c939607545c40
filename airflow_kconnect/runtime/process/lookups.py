"""Remembers Java's functions and types: PySpark asks the JVM for each of them, each time that an expression uses it.

A plan consists of thousands of function calls (measured: 4,600 requests to the JVM for a preview of one
transformation, of which 1,900 were such questions). Names of types are read by Spark's parser of SQL, which takes 0.3 s
to load.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The names under which PySpark looks them up.
_TYPES = "org.apache.spark.sql.types.DataTypes"
_CLASSES = ("functions", "org.apache.spark.sql.functions", "PythonUtils", _TYPES)

# Those whose meaning depends on no setting: `timestamp` does.
_JAVA_TYPES = {
    "bigint": "LongType",
    "binary": "BinaryType",
    "boolean": "BooleanType",
    "date": "DateType",
    "double": "DoubleType",
    "float": "FloatType",
    "int": "IntegerType",
    "long": "LongType",
    "smallint": "ShortType",
    "string": "StringType",
    "tinyint": "ByteType",
}


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
    _cast_to_remembered_types()


@cache
def _cast_to_remembered_types() -> None:
    from pyspark.sql.classic.column import Column

    for method in ("cast", "try_cast"):
        setattr(Column, method, _casting(method, getattr(Column, method)))


def _casting(method: str, original: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """PySpark's method of columns, which gives Java a type instead of its name."""
    from pyspark import SparkContext

    def cast(column: Any, data_type: Any) -> Any:
        java_type = _JAVA_TYPES.get(data_type) if isinstance(data_type, str) else None
        if java_type is None:
            return original(column, data_type)
        types = getattr(SparkContext._jvm, _TYPES)
        return type(column)(getattr(column._jc, method)(getattr(types, java_type)))

    return cast
