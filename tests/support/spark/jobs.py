"""Real spark-submit jobs for tests: start one, stop it at a failpoint, kill parts of it, read its output."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import psutil

from airflow_kconnect.places.libraries import stores_hint
from airflow_kconnect.runs.events import parse_event
from airflow_kconnect.runs.spec import RunSpec, run_spec_file
from airflow_kconnect.submit.direct import by_python, direct_command, direct_environment, starts_spark_itself
from airflow_kconnect.submit.package_archive import package_archive
from airflow_kconnect.submit.spark import SparkSubmit, find_spark_submit
from airflow_kconnect.submit.spark_needs import with_needs
from airflow_kconnect.submit.submit import submit_command, submit_environment

# Overrides the product's own: a test's jobs are small, and tests look for their errors in the output.
_CONF = {"spark.log.level": "ERROR"}
_SPARK = "org.apache.spark.deploy.SparkSubmit"
_JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


@dataclass
class Job:
    """A running job, in its own process group."""

    process: subprocess.Popen[str]
    reached: Path
    output: Path
    _files: ExitStack = field(repr=False)
    token: str = field(repr=False)

    def wait_for_failpoint(self, timeout_s: float = 120.0) -> None:
        """Return when the job is at its failpoint: proof that the fault happens where it should."""
        deadline = time.monotonic() + timeout_s
        while not self.reached.exists():
            assert self.process.poll() is None, f"the job ended before the failpoint:\n{self.text()}"
            assert time.monotonic() < deadline, f"the failpoint was not reached:\n{self.text()}"
            time.sleep(0.001)

    def tree(self) -> list[psutil.Process]:
        """The Python driver, the JVM, the workers; with spark-submit, the JVM first."""
        root = psutil.Process(self.process.pid)
        return [root, *root.children(recursive=True)]

    def driver(self) -> psutil.Process:
        """The Python driver."""
        return next(each for each in self.tree() if _is_driver(command_of(each)))

    def jvms(self) -> list[psutil.Process]:
        """Spark's JVM; nothing if it has not started."""
        return [process for process in self.tree() if _SPARK in command_of(process)]

    def workers(self) -> list[psutil.Process]:
        """The Python workers, Spark's or the job's own, without their parent."""
        return [each for each in self.tree() if _is_split(each) or (_is_daemon(each) and _is_daemon(each.parent()))]

    def kill(self) -> None:
        """SIGKILL to everything at once, as when a machine fails."""
        kill_all(self.tree())
        self.process.wait(30)

    def kill_jvm_only(self) -> list[psutil.Process]:
        """SIGKILL to the JVM; returns what it leaves behind."""
        (jvm,) = self.jvms()
        others = [process for process in self.tree() if process != jvm]
        jvm.kill()
        self.process.wait(30)
        return others

    def wait(self, timeout_s: float = 180.0) -> int:
        """The job's exit code."""
        try:
            return self.process.wait(timeout_s)
        finally:
            self.close()

    def text(self) -> str:
        """Everything it has printed."""
        return self.output.read_text(errors="replace")

    def event(self, name: str) -> dict[str, Any]:
        """The last event with that name."""
        events = [
            event
            for line in self.text().splitlines()
            if (event := parse_event(line, self.token)) and event["event"] == name
        ]
        assert events, f"no {name} event:\n{self.text()}"
        return events[-1]

    def report(self) -> dict[str, Any]:
        """The job's report."""
        report: dict[str, Any] = self.event("report")["report"]
        return report

    def close(self) -> None:
        """End whatever is left of it."""
        if self.process.poll() is None:
            self.kill()
        self._files.close()


@cache
def _spark() -> SparkSubmit:
    return find_spark_submit()


def start_job(
    config: Mapping[str, str],
    worker: Mapping[str, str],
    folder: Path,
    *,
    failpoint: str | None = None,
    action: str = "block",
    conf: Mapping[str, str] | None = None,
    master: str = "local[2]",
    direct: bool = False,
    spark_submit: bool = False,
) -> Job:
    """Submit a connector, as the product does.

    :param direct: without Spark, as hosted connectors are started.
    :param spark_submit: by spark-submit, as on clusters.
    :param failpoint: where the job stops and waits to be killed (``action="touch"``: only reports that it was reached).
    """
    folder.mkdir(parents=True, exist_ok=True)
    spec = RunSpec(config=dict(config), worker=dict(worker))
    files = ExitStack()
    path = files.enter_context(run_spec_file(spec))
    # Executors of a Spark master have a Python of their own.
    package = files.enter_context(package_archive()) if master.startswith("spark:") else None
    reached = Path(tempfile.mkdtemp(dir=folder)) / "reached"
    output = reached.with_name("output.log")
    environment = submit_environment(master) | stores_hint([config])
    if failpoint:
        environment |= {"KCONNECT_TESTING": "1", "KCONNECT_FAILPOINT": f"{failpoint}:{action}:{reached}"}
    settings = {**_CONF, "spark.driver.extraJavaOptions": _JAVA_OPTIONS, **(conf or {})}
    settings = with_needs(settings, [config], _spark())
    command = submit_command(_spark(), path, master=master, conf=settings, name="test", package=package)
    if direct:
        command, environment = direct_command(["--run", str(path)], {}), direct_environment(environment)
    elif not spark_submit and starts_spark_itself(master, None, _spark()):
        command, environment = by_python(command, environment, settings)
    with output.open("w") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, env=environment,
            start_new_session=True, text=True,
        )  # fmt: skip
    return Job(process, reached, output, files, spec.token)


def kill_job_at(
    failpoint: str,
    config: Mapping[str, str],
    worker: Mapping[str, str],
    folder: Path,
    *,
    later_s: float = 0.0,
    **start: Any,
) -> None:
    """Submit a connector and kill it with SIGKILL where it stops.

    :param later_s: how long after reaching that point. :param start: additional parameters of `start_job`.
    """
    job = start_job(config, worker, folder, failpoint=failpoint, **start)
    job.wait_for_failpoint()
    time.sleep(later_s)
    job.kill()
    job.close()


def end_of_overtaken(
    failpoint: str,
    config: Mapping[str, str],
    worker: Mapping[str, str],
    folder: Path,
    newer: Callable[[], object],
) -> int:
    """The exit code of a job that stands at a failpoint while a newer run does everything."""
    job = start_job(config, worker, folder, failpoint=failpoint)
    job.wait_for_failpoint()
    newer()
    job.reached.unlink()
    return job.wait()


def kill_all(processes: list[psutil.Process]) -> None:
    """SIGKILL to each, even if some are already gone."""
    for process in processes:
        try:
            process.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            continue


def wait_gone(processes: list[psutil.Process], timeout_s: float = 60.0) -> list[psutil.Process]:
    """Wait until processes are gone; returns those that are not."""
    return list(psutil.wait_procs(processes, timeout=timeout_s)[1])


def _is_daemon(process: psutil.Process | None) -> bool:
    return process is not None and "worker_daemon pyspark.worker" in command_of(process)


def _is_split(process: psutil.Process) -> bool:
    """Whether it moves splits without Spark."""
    with contextlib.suppress(psutil.Error):
        return bool(process.name() == "kconnect-split")
    return False


def _is_driver(command: str) -> bool:
    """The JVM of spark-submit names the job too."""
    return "connector_job.py" in command and "org.apache.spark" not in command


def is_running(pid: int) -> bool:
    """Whether there is such a process, which may end meanwhile; one that no one has waited for has ended."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def command_of(process: psutil.Process) -> str:
    """Its command line; empty if it has just ended: a JVM runs small programs to inspect the machine."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""
