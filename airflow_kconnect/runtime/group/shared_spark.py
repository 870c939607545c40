"""Spark for all runs of a job: it starts once, when one of them needs it, and each run has a session of its own."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import quoteattr

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.runtime.process import jvm
from airflow_kconnect.runtime.process.phases import PhaseTimer
from airflow_kconnect.runtime.process.session import LazySession

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_POOL = "spark.scheduler.pool"
_GONE = "Spark's JVM, which all connectors of the group share, ended before this one needed it. The next run resumes"
# Of a scheduler's pool. Twice the priority is no more than twice the share: none waits forever.
_WEIGHTS = range(1, 101)


class SharedSpark:
    """One Spark application for the runs of a group.

    Each run's tasks are in a pool of their own: Spark's fair scheduler gives each pool a share of the cores, so that a
    run with few tasks does not wait for one with thousands.

    :param name: of the application.
    :param weights: of the pools, by connector; 1 where there is none.
    :param given: a running session to use instead.
    """

    def __init__(self, name: str, weights: Mapping[str, int] | None = None, given: SparkSession | None = None) -> None:
        self._weights = dict(weights or {})
        self._base = LazySession(name, given, self._settings)
        self._lock = threading.Lock()
        self._given = given is not None
        self._started = self._given
        self._pools: Path | None = None

    def session_of(self, connector: str) -> LazySession:
        """The session of a run; made, and Spark started, when it is first used, for the thread that uses it."""
        return _MemberSession(self, connector)

    @property
    def base(self) -> LazySession:
        """Knows Spark's settings before Spark has started."""
        return self._base

    @property
    def started(self) -> bool:
        """Whether Spark has started."""
        return self._started

    def new_session(self, pool: str) -> SparkSession:
        """A session for this thread, whose jobs are then those of the pool.

        :raises RetriableError: Spark has ended, or cannot be started.
        """
        with self._lock:  # one of them starts Spark, and the others wait
            if self._started and not self._given and jvm.has_ended():
                raise RetriableError(_GONE)
            spark = self._base.spark
            self._started = True
            if self._pools is not None:
                self._pools.unlink(missing_ok=True)
        own = spark.newSession()
        own.sparkContext.setLocalProperty(_POOL, pool)
        # What has no session at hand, such as a cast to a type, asks the settings of the thread's.
        own._get_j_spark_session_class(own._jvm).setActiveSession(own._jsparkSession)
        return own

    def _settings(self) -> dict[str, str]:
        conf = {"spark.scheduler.mode": "FAIR"}
        if self._weights:
            self._pools = _allocation_file(self._weights)
            conf["spark.scheduler.allocation.file"] = self._pools.as_uri()
        return conf


class _MemberSession(LazySession):
    def __init__(self, shared: SharedSpark, connector: str) -> None:
        super().__init__(f"kconnect {connector}")
        self._shared, self._connector = shared, connector

    def _new(self) -> SparkSession:
        return self._shared.new_session(self._connector)

    def start(self, phases: PhaseTimer) -> None:
        if self._shared.started:
            _ = self.spark
        else:
            super().start(phases)

    @property
    def is_local(self) -> bool:
        return self._shared.base.is_local

    def parallelism(self) -> int:
        return self._shared.base.parallelism()


def weight_of(priority: int) -> int:
    """The weight of a pool, for a connector's priority."""
    return min(max(1 + priority, _WEIGHTS.start), _WEIGHTS.stop - 1)


def _allocation_file(weights: Mapping[str, int]) -> Path:
    """The pools with other weights than 1, as Spark's fair scheduler reads them once, when it starts."""
    pools = "".join(
        f"<pool name={quoteattr(name)}><schedulingMode>FIFO</schedulingMode><weight>{weight}</weight></pool>"
        for name, weight in weights.items()
    )
    handle, path = tempfile.mkstemp(prefix="kconnect-pools-", suffix=".xml")
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        out.write(f'<?xml version="1.0" encoding="UTF-8"?>\n<allocations>{pools}</allocations>\n')
    return Path(path)
