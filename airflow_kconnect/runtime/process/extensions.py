"""Creates Spark sessions without the functions of MLlib, which jobs of this package do not call.

MLlib registers them by an extension of sessions, the only one that comes with Spark. It loads Scala's reflection, which
takes 0.6 s and as much CPU: see docs/decisions/0041.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from py4j.java_gateway import JavaObject
    from pyspark import SparkContext

_SERVICES = "META-INF/services/org.apache.spark.sql.SparkSessionExtensionsProvider"
_MLLIB = "/spark-mllib_"

log = logging.getLogger(__name__)


def session_without_mllib(context: SparkContext) -> JavaObject | None:
    """Java's session; None if others have extensions here, or if this Spark creates sessions by another constructor.

    Extensions of others are in Spark's configuration, or in jars, where Spark looks for the same file.
    """
    from py4j.protocol import Py4JError
    from pyspark.sql.utils import to_scala_map

    jvm: Any = context._jvm
    loader = jvm.Thread.currentThread().getContextClassLoader()
    files = [str(file) for file in jvm.java.util.Collections.list(loader.getResources(_SERVICES))]
    if context.getConf().get("spark.sql.extensions") or any(_MLLIB not in file for file in files):
        return None
    create, extensions = jvm.org.apache.spark.sql.classic.SparkSession, jvm.org.apache.spark.sql.SparkSessionExtensions
    none, nothing = jvm.scala.Option.empty(), to_scala_map(jvm, {})
    try:
        return create(context._jsc.sc(), none, none, extensions(), nothing, nothing)
    except Py4JError as error:
        log.debug("Spark's session is created with MLlib's functions: %s", error)
        return None
