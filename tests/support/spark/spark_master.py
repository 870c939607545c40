"""A standalone Spark cluster on this machine, from PySpark's own distribution: one master, one worker."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import time
from pathlib import Path

import psutil

from airflow_kconnect.local.ports import free_port
from airflow_kconnect.machine.process_tree import kill_tree

_ENVIRONMENT = {
    "SPARK_LOCAL_IP": "127.0.0.1",
    "SPARK_DAEMON_MEMORY": "256m",
    "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}


class SparkCluster:
    """Started by `start`, ended with all its processes by `stop`.

    :param folder: for logs and the output of executors.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._processes: list[subprocess.Popen[bytes]] = []
        self.url = f"spark://127.0.0.1:{free_port()}"

    def start(self) -> None:
        """Return when the worker has registered with the master."""
        port = self.url.rpartition(":")[2]
        loopback = ["--host", "127.0.0.1", "--webui-port", "0"]
        self._run("org.apache.spark.deploy.master.Master", *loopback, "--port", port)
        self._wait_for("master", "I have been elected leader")
        size = ["--cores", "2", "--memory", "2g", "--work-dir", str(self._folder / "work")]
        self._run("org.apache.spark.deploy.worker.Worker", *loopback, *size, self.url)
        self._wait_for("worker", "Successfully registered with master")

    def stop(self) -> None:
        """End both, and any executors that are left."""
        for process in reversed(self._processes):
            kill_tree(process.pid)
            process.wait(30)

    def executors(self) -> list[psutil.Process]:
        """What the worker has started: executors and their Python workers."""
        return list(psutil.Process(self._processes[1].pid).children(recursive=True))

    def _run(self, main: str, *arguments: str) -> None:
        spec = importlib.util.find_spec("pyspark")
        assert spec is not None and spec.origin is not None
        program = Path(spec.origin).parent / "bin" / "spark-class"
        # As on a separate machine: nothing of this process's Python path reaches executors.
        environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "SPARK_HOME")}
        name = main.rpartition(".")[2].lower()
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

    def _wait_for(self, name: str, line: str, timeout_s: float = 90.0) -> None:
        log, deadline = self._folder / f"{name}.log", time.monotonic() + timeout_s
        while line not in log.read_text(errors="replace"):
            assert self._processes[-1].poll() is None, log.read_text(errors="replace")
            assert time.monotonic() < deadline, log.read_text(errors="replace")
            time.sleep(0.1)
