"""A real Livy for tests: the last server that is on Maven Central, in a JVM of its own."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import requests

from airflow_kconnect.local.ports import LOOPBACK, free_port
from airflow_kconnect.machine.java import find_java
from airflow_kconnect.submit.spark import find_spark_submit
from tests.support.databases.servers import Owner, end, wait_until_up
from tests.support.jars import jars

_COORDINATES = ("org.apache.livy:livy-server:0.7.1-incubating",)
_OPTIONS = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


class LivyServer:
    """Its batches are jobs of this machine's Spark, on ``local[2]``. Use `remove` when it is not needed any more.

    :param folder: for its settings and logs. :param files: the folder in which files of batches are.
    :raises RuntimeError: it does not start.
    """

    def __init__(self, folder: Path, files: Path) -> None:
        port, java = free_port(), find_java()
        self.url = f"http://{LOOPBACK}:{port}"
        settings = {
            "livy.server.host": LOOPBACK,
            "livy.server.port": port,
            "livy.server.csrf-protection.enabled": "true",
            "livy.spark.master": "local[2]",
            "livy.file.local-dir-whitelist": files,
        }
        (folder / "livy.conf").write_text("".join(f"{key} = {value}\n" for key, value in settings.items()))
        (folder / "logs").mkdir()
        environment = {
            "LIVY_HOME": folder,
            "LIVY_CONF_DIR": folder,
            "SPARK_HOME": find_spark_submit().home,
            "SPARK_LOCAL_IP": LOOPBACK,
            "PYSPARK_PYTHON": sys.executable,
        }
        classes = jars(*_COORDINATES)
        command: list[str | Path] = [
            *("/usr/bin/env", *(f"{name}={value}" for name, value in environment.items())),
            *(java.path, *_OPTIONS, "-cp", f"{folder}:{classes}/*", "org.apache.livy.server.LivyServer"),
        ]
        log = folder / "livy.log"
        self._process: subprocess.Popen[bytes] = Owner(None).spawn(command, log, signal.SIGTERM)
        wait_until_up(self._process, log, self.batches)

    def batches(self) -> list[dict[str, Any]]:
        """The batches that it knows."""
        answer = requests.get(f"{self.url}/batches", timeout=10)
        answer.raise_for_status()
        found: list[dict[str, Any]] = answer.json()["sessions"]
        return found

    def forget(self, batch: str) -> None:
        """Forget a batch when it has ended, as Livy does with all of them after some time."""
        url = f"{self.url}/batches/{batch}"
        for _ in range(600):
            if requests.get(url, timeout=10).json()["state"] in ("success", "dead"):
                requests.delete(url, headers={"X-Requested-By": "tests"}, timeout=10).raise_for_status()
                return
            time.sleep(0.2)
        raise TimeoutError(f"batch {batch} does not end")

    def remove(self) -> None:
        """End it, and its batches."""
        end(self._process, signal.SIGTERM)
