"""Spark's JVM where the job itself starts it, with PySpark's own means: see docs/decisions/0038."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import subprocess
import sys
import threading
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from pathlib import Path
from signal import Signals
from typing import Any

from airflow_kconnect.connect.errors import RetriableError
from airflow_kconnect.runs.spec import SPARK_OPTIONS
from airflow_kconnect.runtime.process.early_workers import start_early

_JAVA_OPTIONS = "spark.driver.extraJavaOptions="
# Java's optimising compiler costs two CPU seconds, which few records do not bring back.
_ONE_COMPILER = "-XX:TieredStopAtLevel=1"
_ENDING_S = 30.0
_NOTICING_S = 2.0


def starts_spark() -> bool:
    """Whether this job starts Spark, and is not started by it."""
    return SPARK_OPTIONS in os.environ


def settings() -> dict[str, str]:
    """Spark's settings with which the JVM is started, among them `spark.master`."""
    found = {}
    for option, value in pairwise(_options()):
        if option == "--master":
            found["spark.master"] = value
        elif option == "--conf":
            key, _, text = value.partition("=")
            found[key] = text
    return found


def prepare(*, short: bool) -> None:
    """Tell PySpark how to start the JVM.

    :param short: the run is known to move little.
    """
    options = _options()
    if short:
        options = _with_one_compiler(options)
    os.environ["PYSPARK_SUBMIT_ARGS"] = shlex.join([*options, "pyspark-shell"])


def start_workers(environment: Mapping[str, str]) -> None:
    """Start the parent of the Python workers, which then does not start only when Spark needs it.

    :param environment: that workers get in addition to that of this process.
    """
    if (folder := settings().get("spark.python.unix.domain.socket.dir")) is not None:
        start_early(Path(folder), {**worker_environment(), **environment})


def worker_environment() -> dict[str, str]:
    """What Spark adds to the environment of its Python workers."""
    conf, prefix = settings(), "spark.executorEnv."
    theirs = {key.removeprefix(prefix): value for key, value in conf.items() if key.startswith(prefix)}
    return {"OMP_NUM_THREADS": conf.get("spark.task.cpus", "1"), **theirs}


def end() -> None:
    """End the JVM if this process has started one; returns when it is gone."""
    if (process := _process()) is None:
        return
    # A JVM that hangs does not answer.
    stopping = threading.Thread(target=_stop_context, daemon=True)
    stopping.start()
    stopping.join(_ENDING_S)
    process.stdin.close()
    try:
        process.wait(_ENDING_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _stop_context() -> None:
    """As PySpark's `context.stop()`, which waits up to 1.5 s for a server that ends with this process."""
    context = sys.modules["pyspark"].SparkContext._active_spark_context
    if context is not None:
        with contextlib.suppress(Exception):  # the JVM may be gone
            # That server would complain about a JVM that has gone before it.
            context._accumulatorServer.handle_error = lambda *_: None
            context._jsc.stop()
            # A JVM that ends waits 0.3 s for threads that wait for requests.
            context._gateway.shutdown()


def unexpected_end() -> RetriableError | None:
    """The error of a JVM that has ended while it was needed; None if it lives, or if another process has started it.

    To be asked after a request to it has failed: it waits for a moment.
    """
    if (process := _process()) is None:
        return None
    try:
        code = process.wait(_NOTICING_S)
    except subprocess.TimeoutExpired:
        return None
    how = f"exit code {code}" if code >= 0 else f"signal {-code} ({Signals(-code).name})"
    return RetriableError(
        f"Spark's JVM ended before the run did: {how}. SIGKILL is most often from a machine or a container that has no"
        " memory left; the lines before this one may say more. Nothing is lost: the next run resumes"
    )


def has_ended() -> bool:
    """Whether the JVM that this process has started is gone."""
    process = _process()
    return process is not None and process.poll() is not None


@cache
def _options() -> tuple[str, ...]:
    return tuple(json.loads(os.environ[SPARK_OPTIONS]))


def _with_one_compiler(options: tuple[str, ...]) -> tuple[str, ...]:
    """Of two Java options the last one counts, so the user's win."""
    if not any(option.startswith(_JAVA_OPTIONS) for option in options):
        return (*options, "--conf", f"{_JAVA_OPTIONS}{_ONE_COMPILER}")
    first = f"{_JAVA_OPTIONS}{_ONE_COMPILER} "
    return tuple(
        first + option.removeprefix(_JAVA_OPTIONS) if option.startswith(_JAVA_OPTIONS) else option for option in options
    )


def _process() -> Any:
    """PySpark's `Popen` of the JVM; None if this process has not started one."""
    pyspark = sys.modules.get("pyspark")
    return None if pyspark is None else getattr(pyspark.SparkContext._gateway, "proc", None)
