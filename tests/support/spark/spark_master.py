"""A standalone Spark cluster on this machine, from PySpark's own distribution: a master and its workers."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import psutil

from airflow_kconnect.local.ports import free_port
from airflow_kconnect.machine.process_tree import kill_tree

_QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_ENVIRONMENT = {
    "SPARK_LOCAL_IP": "127.0.0.1",
    "SPARK_DAEMON_MEMORY": "256m",
    "SPARK_DAEMON_JAVA_OPTS": _QUICK_JAVA,
}


class SparkCluster:
    """Started by `start`, ended with all its processes by `stop`.

    :param folder: for logs and the output of executors.
    :param workers: how many, each with two cores: as many machines, as far as Spark can tell.
    """

    def __init__(self, folder: Path, *, workers: int = 1) -> None:
        self._folder, self._workers = folder, workers
        self._processes: list[subprocess.Popen[bytes]] = []
        self.url = f"spark://127.0.0.1:{free_port()}"

    def start(self) -> None:
        """Return when the workers have registered with the master."""
        port = self.url.rpartition(":")[2]
        loopback = ["--host", "127.0.0.1", "--webui-port", "0"]
        self._run("master", "org.apache.spark.deploy.master.Master", *loopback, "--port", port)
        self._wait_for("master", "I have been elected leader")
        for number in range(self._workers):
            name = f"worker-{number}"
            size = ["--cores", "2", "--memory", "2g", "--work-dir", str(self._folder / name)]
            self._run(name, "org.apache.spark.deploy.worker.Worker", *loopback, *size, self.url)
            self._wait_for(name, "Successfully registered with master")

    def stop(self) -> None:
        """End them, and any executors that are left."""
        for process in reversed(self._processes):
            kill_tree(process.pid)
            process.wait(30)

    def kill_worker(self, number: int) -> list[psutil.Process]:
        """SIGKILL to a worker and all that it has started, as when its machine fails; returns what was killed."""
        process = psutil.Process(self._processes[1 + number].pid)
        everything = [process, *process.children(recursive=True)]
        for each in everything:
            each.kill()
        return everything

    def executors(self) -> list[psutil.Process]:
        """What the workers have started: executors and their Python workers."""
        workers = (psutil.Process(process.pid) for process in self._processes[1:] if process.poll() is None)
        return [each for worker in workers for each in worker.children(recursive=True)]

    def conf(self, folder: Path) -> dict[str, str]:
        """Spark settings of small jobs, whose executors have a Python without this package.

        :param folder: for that Python.
        """
        python = folder / "python"
        # Without `site` there are no editable installations.
        packages = sysconfig.get_paths()["purelib"]
        python.write_text(f'#!/bin/sh\nPYTHONPATH="$PYTHONPATH:{packages}" exec {sys.executable} -S "$@"\n')
        python.chmod(0o755)
        return {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.extraJavaOptions": _QUICK_JAVA,
            "spark.driver.host": "127.0.0.1",
            "spark.executor.extraJavaOptions": _QUICK_JAVA,
            "spark.executor.memory": "512m",
            "spark.pyspark.driver.python": sys.executable,
            "spark.pyspark.python": str(python),
        }

    def _run(self, name: str, main: str, *arguments: str) -> None:
        spec = importlib.util.find_spec("pyspark")
        assert spec is not None and spec.origin is not None
        program = Path(spec.origin).parent / "bin" / "spark-class"
        # As on a separate machine: nothing of this process's Python path reaches executors.
        environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "SPARK_HOME")}
        with (self._folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [str(program), main, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment | _ENVIRONMENT,
                cwd=self._folder,
                start_new_session=True,
            )
        self._processes.append(process)

    def _wait_for(self, name: str, line: str, timeout_s: float = 180.0) -> None:
        log, deadline = self._folder / f"{name}.log", time.monotonic() + timeout_s
        while line not in log.read_text(errors="replace"):
            assert self._processes[-1].poll() is None, log.read_text(errors="replace")
            assert time.monotonic() < deadline, log.read_text(errors="replace")
            time.sleep(0.1)
