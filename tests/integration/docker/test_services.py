"""The services of docker/compose.yaml as processes of this machine: their commands, settings and health checks."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.local.ports import free_port
from airflow_kconnect.machine.process_tree import kill_tree
from tests.support.compose import FOLDER, image_environment, kafka_properties, services


def test_kafka_knows_each_of_its_settings(broker: EmbeddedBroker) -> None:
    values = broker.log.read_text(errors="replace").partition("KafkaConfig values:")[2]
    known = set(re.findall(r"^\s+([\w.]+) = ", values, re.MULTILINE))
    assert set(kafka_properties()) - known == set()


class Spark:
    """Master and worker, started as compose.yaml says, with other ports and folders."""

    def __init__(self, folder: Path) -> None:
        self.work = folder / "work"
        self._log = folder / "log"
        self._processes: list[subprocess.Popen[bytes]] = []
        self._ports = {name: str(free_port()) for name in ("spark-master", "spark-worker")}
        self._rpc = str(free_port())

    def start(self, service: str) -> None:
        """Run the command of a service."""
        arguments = [self._here(word) for word in services()[service]["command"]]
        spec = importlib.util.find_spec("pyspark")
        assert spec is not None and spec.origin is not None
        program = Path(spec.origin).parent / "bin" / arguments.pop(0)
        ports = {"SPARK_MASTER_PORT": self._rpc, "SPARK_MASTER_WEBUI_PORT": self._ports["spark-master"]}
        ports |= {"SPARK_WORKER_WEBUI_PORT": self._ports["spark-worker"]}
        environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "SPARK_HOME")}
        assert "SPARK_WORKER_DIR" in image_environment()
        with self._log.open("ab") as log:
            process = subprocess.Popen(
                [program, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=environment | ports | {"SPARK_LOCAL_IP": "127.0.0.1", "SPARK_WORKER_DIR": str(self.work)},
                start_new_session=True,
            )
        self._processes.append(process)

    def is_healthy(self, service: str) -> bool:
        """Run the health check of a service once."""
        _, python, script, *arguments = services()[service]["healthcheck"]["test"]
        assert python == "python"
        words = [self._here(word).replace(":8080", f":{self._ports['spark-master']}") for word in arguments]
        words = [word.replace(":8081", f":{self._ports['spark-worker']}") for word in words]
        checked = subprocess.run(
            [sys.executable, FOLDER / Path(script).name, *words], capture_output=True, timeout=120, check=False
        )
        return checked.returncode == 0

    def wait_for(self, service: str, timeout_s: float = 180.0) -> None:
        """Return when a service is healthy."""
        deadline_s = time.monotonic() + timeout_s
        while not self.is_healthy(service):
            assert time.monotonic() < deadline_s, self._log.read_text(errors="replace")
            time.sleep(0.2)

    def stop(self) -> None:
        """End both."""
        for process in self._processes:
            kill_tree(process.pid)
            process.wait(30)

    def _here(self, word: str) -> str:
        return word.replace("spark-master:7077", f"127.0.0.1:{self._rpc}").replace("spark-master", "127.0.0.1")


@pytest.fixture
def spark_services(tmp_path: Path) -> Iterator[Spark]:
    found = Spark(tmp_path)
    yield found
    found.stop()


def test_spark_is_healthy_once_the_worker_has_registered(spark_services: Spark) -> None:
    before = spark_services.is_healthy("spark-master")
    spark_services.start("spark-master")
    spark_services.wait_for("spark-master")
    without_worker = spark_services.is_healthy("spark-worker")
    spark_services.start("spark-worker")
    spark_services.wait_for("spark-worker")

    assert (before, without_worker) == (False, False)
    assert spark_services.work.is_dir()
