"""The Spark session of a job; created only if there is something to do."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.converters.types import SESSION_CONF
from airflow_kconnect.machine.spark_master import is_local
from airflow_kconnect.plugins.registry import registry
from airflow_kconnect.runtime.process import jvm
from airflow_kconnect.runtime.process.early_workers import DAEMON
from airflow_kconnect.runtime.process.extensions import session_without_mllib
from airflow_kconnect.runtime.process.late_imports import HIDE_PANDAS, hide_pandas, import_little_of_pyspark
from airflow_kconnect.runtime.process.lookups import remember_lookups
from airflow_kconnect.runtime.process.phases import PhaseTimer
from airflow_kconnect.runtime.process.plugin_modules import send_plugin_files
from airflow_kconnect.runtime.process.progress import emit
from airflow_kconnect.runtime.process.spark_errors import cause_of

if TYPE_CHECKING:
    from pyspark import SparkConf
    from pyspark.sql import SparkSession

START_CONF = {
    "spark.python.daemon.module": DAEMON,
    # Recording the Python line of each expression takes a third of the planning time.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}
"""What can be set only for a new session."""

_SPEED_CONF = {
    # Java does not compile methods of more than 8000 bytes. A record of ten fields with a schema makes a longer one,
    # which is then interpreted (measured: 27 000 instead of 50 000 records/s per core).
    "spark.sql.codegen.hugeMethodLimit": "8000",
}


_GATEWAY_PORT = "PYSPARK_GATEWAY_PORT"
_NO_JVM = "JAVA_GATEWAY_EXITED"


def _started(options: Mapping[str, str], *, with_mllib: bool) -> SparkSession:
    from py4j.protocol import Py4JError
    from pyspark import SparkConf, SparkContext, __version__
    from pyspark.errors import PySparkRuntimeError
    from pyspark.sql import SparkSession

    try:
        context = SparkContext.getOrCreate(SparkConf().setAll(list(options.items())))
        return SparkSession(context, None if with_mllib else session_without_mllib(context), dict(options))
    except PySparkRuntimeError as error:
        if error.getCondition() != _NO_JVM:
            raise
        raise RetriableError(
            "Spark's JVM ended while it was starting; the lines before this one are its own. Check"
            " `spark.driver.memory` and `spark.driver.extraJavaOptions`, and whether this machine has memory left"
        ) from error
    except Py4JError as error:
        master = SparkConf().get("spark.master", "") or ""
        if master.startswith("local"):
            raise
        raise RetriableError(
            f"Spark cannot start the application on {master}: {cause_of(str(error), __version__)}. Check that the"
            f" master can be reached and runs Spark {__version__}, as the driver does; Spark's log may say more"
        ) from error


class LazySession:
    """Starts Spark on first use: a run with nothing new to move ends before Spark would have started.

    :param session: a running session to use instead (benchmarks and previews keep one warm).
    :param settings: makes further settings of Spark, when it starts.
    """

    def __init__(
        self,
        app_name: str,
        session: SparkSession | None = None,
        settings: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._app_name = app_name
        self._given = session
        self._settings = settings
        self.short = False
        """Whether the run is known to move little. Has an effect until Spark has started."""

    @cached_property
    def spark(self) -> SparkSession:
        """The session.

        :raises ConfigError: its settings would duplicate data.
        :raises RetriableError: the master is unreachable, or does not accept the application.
        """
        spark = self._given or self._new()
        remember_lookups(spark)
        send_plugin_files(spark.sparkContext)
        for key, value in (SESSION_CONF | _SPEED_CONF).items():
            spark.conf.set(key, value)
        if str(spark.conf.get("spark.speculation", "false")).lower() == "true":
            raise ConfigError(
                {"spark.speculation": ["is true: two attempts of one split would fence each other; set it to false"]}
            )
        return spark

    def _new(self) -> SparkSession:
        # On a local master the workers use this Python, whichever `python3` comes first on the PATH.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        only_own = registry().only_own_loaded  # others may use pandas, here and in workers, and MLlib
        of_workers = {HIDE_PANDAS: "true"} if only_own else {}
        if jvm.starts_spark():
            jvm.start_workers(of_workers)
            jvm.prepare(short=self.short)
        import_little_of_pyspark()
        if only_own:
            hide_pandas()
        executors = {f"spark.executorEnv.{key}": value for key, value in of_workers.items()}
        options = {"spark.app.name": self._app_name, **START_CONF, **executors, **self._settings()}
        spark = _started(options, with_mllib=not only_own)
        if url := spark.sparkContext.uiWebUrl:
            emit("spark_ui", url=url)
        return spark

    def start(self, phases: PhaseTimer) -> None:
        """Start Spark, as a phase of its own, unless it has started."""
        if self._given is None and "spark" not in self.__dict__:
            phases.enter("starting Spark")
            _ = self.spark

    @property
    def is_local(self) -> bool:
        """Whether Spark has no executors but the driver itself. Does not start the session."""
        if self._given is not None:
            return is_local(str(self._given.sparkContext.master))
        if _GATEWAY_PORT not in os.environ:
            return True  # not started by spark-submit
        from pyspark import SparkConf, SparkContext

        SparkContext._ensure_initialized()
        return is_local(str(SparkConf().get("spark.master", "")))

    def parallelism(self) -> int:
        """How many tasks run at once. Does not start the session."""
        if self._given is not None:
            return int(self._given.sparkContext.defaultParallelism)
        conf = jvm.settings() if jvm.starts_spark() else _conf_of_spark()
        local = re.fullmatch(r"local(?:\[(\d+|\*)(?:,.*)?\])?", conf.get("spark.master", "") or "")
        if local:
            return (os.cpu_count() or 1) if local[1] == "*" else int(local[1] or 1)
        cluster = re.fullmatch(r"local-cluster\[\s*(\d+)\s*,\s*(\d+)\s*,.*\]", conf.get("spark.master", "") or "")
        if cluster:
            return int(cluster[1]) * int(cluster[2])
        cores = int(conf.get("spark.cores.max", "0") or 0)
        each = int(conf.get("spark.executor.cores", "1") or 1)
        return cores or int(conf.get("spark.executor.instances", "8") or 8) * each

    @property
    def driver_host(self) -> str:
        """Address of the driver that executors can reach."""
        return str(self.spark.conf.get("spark.driver.host", "127.0.0.1"))


def _conf_of_spark() -> SparkConf:
    from pyspark import SparkConf

    return SparkConf()
