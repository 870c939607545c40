"""Starts a connector job with spark-submit: its options, the parsing of its output, and its termination."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.printable import printable
from airflow_kconnect.machine.java import java_environment
from airflow_kconnect.machine.process_tree import kill_tree
from airflow_kconnect.machine.spark_home import installed_spark, spark_home
from airflow_kconnect.runs.events import parse_event
from airflow_kconnect.runs.spec import SUBMITTER
from airflow_kconnect.submit.class_archive import class_archive_options, java_option
from airflow_kconnect.submit.package_archive import with_archive
from airflow_kconnect.submit.spark import SparkSubmit, job_path
from airflow_kconnect.variables.secret_keys import SECRET_KEYS

_DEFAULT_CONF = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "WARN",
    # Otherwise a file `json.py` in the working directory of a worker would be imported instead of Python's own module.
    "spark.executorEnv.PYTHONSAFEPATH": "1",
    "spark.redaction.regex": SECRET_KEYS,
    "spark.speculation": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "20000",
}
_CLUSTER_CONF = {
    # Airflow's retries are enough, and distinguish the failures worth retrying.
    "spark.yarn.maxAppAttempts": "1",
    "spark.yarn.appMasterEnv.PYTHONSAFEPATH": "1",
    "spark.kubernetes.driverEnv.PYTHONSAFEPATH": "1",
}
SAFE_PATH = {"PYTHONSAFEPATH": "1"}
"""Environment of a Python that imports nothing from its working directory."""
# The system limits paths to 108 bytes (macOS 104), of which `/.<uuid>.sock` and the terminator take 44.
_SOCKET_FOLDER_MAX = 60
_JAVA_OPTIONS = "spark.driver.extraJavaOptions"
# Spark's start runs much code only a few times, for which the optimising compiler does not pay off; for the inner loops
# of a long run it does. So that compiler starts ten times later. CPU seconds on 2 cores, empty job / 6 million records
# through JSON twice: 21 / 53 with Java's defaults, 17 / 49 with the serial collector, 13 / 48 with both, 11 / 110
# without that compiler.
_LATER_COMPILER = (
    "-XX:Tier4InvocationThreshold=50000",
    "-XX:Tier4MinInvocationThreshold=6000",
    "-XX:Tier4CompileThreshold=150000",
    "-XX:Tier4BackEdgeThreshold=400000",
)
_LAST_JAVA_WITH_THEM = 21
_FEW_CPUS = 4
_COLLECTOR = re.compile(r"-XX:\+Use\w+GC\b")
# The launcher is a JVM that runs for half a second just to print the command of the real one.
_LAUNCHER_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto")


def spark_conf(
    user: Mapping[str, Any],
    *,
    master: str,
    deploy_mode: str | None = None,
    spark: SparkSubmit | None = None,
    folder: Path | None = None,
) -> dict[str, str]:
    """Spark configuration of a job: our defaults, overridden by the user's.

    :param folder: private to this user, for the sockets of a local master's Python workers.
    :param spark: adds Java options for a quick start where they can work, that is if the driver runs on this machine.
    :raises ConfigError: speculation is on. Two attempts of one split would fence each other.
    """
    if str(user.get("spark.speculation", "false")).lower() == "true":
        raise ConfigError({"spark.speculation": ["must not be true: two attempts of one split fence each other"]})
    conf = dict(_DEFAULT_CONF)
    if master.startswith("local"):
        conf |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
        conf |= {} if folder is None else socket_conf(folder)
    if deploy_mode != "cluster":
        conf |= _python_of_driver(master)
    else:
        conf |= _CLUSTER_CONF
    conf |= {key: str(value) for key, value in user.items()}
    if master.startswith("local") and spark is not None and spark.pyspark is not None:
        # Of two Java options the last one counts, so the user's win.
        own = str(user.get(_JAVA_OPTIONS, ""))
        options = [*map(java_option, _quick_start(spark, own)), own]
        conf[_JAVA_OPTIONS] = " ".join(option for option in options if option)
    return conf


def socket_conf(folder: Path) -> dict[str, str]:
    """Settings for a JVM and its Python workers to communicate through socket files instead of loopback connections.

    Data go to Python and back twice, which takes a tenth less time this way. Spark requires no secret there: the folder
    must keep other users out. If its path leaves no room for socket names, loopback and its secret are kept.
    """
    if len(os.fsencode(folder)) > _SOCKET_FOLDER_MAX:
        return {}
    return {
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.python.unix.domain.socket.dir": str(folder),
    }


def _python_of_driver(master: str) -> dict[str, str]:
    """Otherwise Spark takes `python3` from PATH, which is a different Python if no venv is activated."""
    if {"PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"} & set(os.environ):
        return {}
    key = "spark.pyspark.python" if master.startswith("local") else "spark.pyspark.driver.python"
    return {key: sys.executable}


def _quick_start(spark: SparkSubmit, own: str) -> list[str]:
    assert spark.pyspark is not None
    options = class_archive_options(spark)
    if spark.java.version <= _LAST_JAVA_WITH_THEM:
        options += _LATER_COMPILER
    # No JVM starts with two collectors.
    if (os.cpu_count() or 1) <= _FEW_CPUS and not _COLLECTOR.search(own):
        options.append("-XX:+UseSerialGC")
    if "SPARK_CONF_DIR" not in os.environ and not (spark.pyspark / "conf").exists():
        options.append(f"-Dlog4j2.configurationFile={Path(__file__).with_name('log4j2.properties').as_uri()}")
    return options


def submit_command(
    spark: SparkSubmit,
    run_file: Path,
    *,
    master: str,
    conf: Mapping[str, Any],
    name: str,
    package: Path | None = None,
) -> list[str]:
    """The command that runs the job of a run spec file on a Spark master.

    :param run_file: in a folder of its own, see `run_spec_file`.
    :param package: see `package_for`.
    """
    settings = spark_conf(conf, master=master, spark=spark, folder=run_file.parent)
    if package is not None:
        settings = with_archive(settings)
    options = [part for key, value in settings.items() for part in ("--conf", f"{key}={value}")]
    if package is not None:
        options += ["--py-files", str(package)]
    job = [str(job_path()), "--run", str(run_file)]
    return [str(spark.program), "--master", master, "--name", name, *options, *job]


def submit(
    command: Sequence[str],
    *,
    token: str,
    environment: Mapping[str, str],
    on_event: Callable[[dict[str, Any]], None],
    on_line: Callable[[str], None],
) -> int:
    """Run a job to its end; on Ctrl-C, SIGTERM and any error here it is ended with all its processes.

    :param token: that of the run spec.
    :param environment: see `submit_environment`.
    :param on_event: called with each event of the job.
    :param on_line: called with each other line of its output.
    :returns: the exit code of the job.
    """
    with sigterm_as_exit(), _running(command, environment) as process:
        assert process.stdout is not None
        for raw in process.stdout:
            line = raw.rstrip("\n")
            event = parse_event(line, token)
            if event is None:
                on_line(printable(line))
            else:
                on_event(event)
        return process.wait()


@contextmanager
def _running(command: Sequence[str], environment: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=dict(environment),
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            kill_tree(process.pid)
            process.wait()


def submit_environment(master: str) -> dict[str, str]:
    """The environment of a spark-submit that this process waits for; the user's settings win.

    It does not contain Airflow's keys, connections and variables: a job loads the code of drivers and plug-ins.
    """
    environment = {"SPARK_LAUNCHER_OPTS": " ".join(_LAUNCHER_OPTIONS), **SAFE_PATH}
    if master.startswith("local"):
        # Otherwise Spark looks for an external address of this machine and warns when it finds one.
        environment["SPARK_LOCAL_IP"] = "127.0.0.1"
    environment |= java_environment()
    if (home := spark_home()) is not None and home == installed_spark():
        # What else jobs need, for example pandas, was installed with it.
        path = [environment.get("PYTHONPATH"), str(home.parent)]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, path))
    return environment | {SUBMITTER: str(os.getpid())}


@contextmanager
def sigterm_as_exit() -> Iterator[None]:
    """Within the block SIGTERM unwinds the stack, as Ctrl-C does, so that started processes are ended."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _exit)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _exit(number: int, frame: FrameType | None) -> None:
    sys.exit(128 + number)
