"""A real YARN for tests: Hadoop's ResourceManager and NodeManager, each in a JVM of its own, without HDFS."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import requests

from airflow_kconnect.local.ports import LOOPBACK, free_port
from airflow_kconnect.machine.java import find_java
from airflow_kconnect.submit.spark import find_spark_submit
from tests.support.databases.servers import Owner, end, wait_until_up
from tests.support.jars import jars

_COORDINATES = (
    "org.apache.hadoop:hadoop-yarn-server-resourcemanager:3.4.2",
    "org.apache.hadoop:hadoop-yarn-server-nodemanager:3.4.2",
    "org.apache.hadoop:hadoop-yarn-server-timelineservice:3.4.2",
    "org.apache.hadoop:hadoop-hdfs-client:3.4.2",
)
_SERVER = "org.apache.hadoop.yarn.server"
_OPTIONS = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "--add-opens=java.base/java.lang=ALL-UNNAMED")
_QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_LOGGING = """log4j.rootLogger=WARN, console
log4j.appender.console=org.apache.log4j.ConsoleAppender
log4j.appender.console.layout=org.apache.log4j.PatternLayout
log4j.appender.console.layout.ConversionPattern=%d %p %c{1} %m%n
"""
_PORTS = {
    "yarn.resourcemanager.address",
    "yarn.resourcemanager.scheduler.address",
    "yarn.resourcemanager.resource-tracker.address",
    "yarn.resourcemanager.admin.address",
    "yarn.resourcemanager.webapp.address",
    "yarn.nodemanager.address",
    "yarn.nodemanager.localizer.address",
    "yarn.nodemanager.webapp.address",
}


class YarnCluster:
    """One node, whose containers are processes of this user. Use `remove` when it is not needed any more.

    :param folder: for its settings, its logs and what containers have.
    :ivar settings: the folder of its settings, for ``YARN_CONF_DIR``. :ivar url: of the ResourceManager's pages.
    :raises RuntimeError: it does not start.
    """

    def __init__(self, folder: Path) -> None:
        ports = {name: f"{LOOPBACK}:{free_port()}" for name in sorted(_PORTS)}
        self.url = f"http://{ports['yarn.resourcemanager.webapp.address']}"
        self.settings, self._folder = folder / "conf", folder
        self.settings.mkdir()
        own = {
            "yarn.resourcemanager.hostname": LOOPBACK,
            "yarn.resourcemanager.scheduler.class": f"{_SERVER}.resourcemanager.scheduler.fifo.FifoScheduler",
            "yarn.nodemanager.hostname": LOOPBACK,
            "yarn.nodemanager.local-dirs": str(folder / "local"),
            "yarn.nodemanager.log-dirs": str(folder / "containers"),
            "yarn.nodemanager.resource.memory-mb": "4096",
            "yarn.nodemanager.resource.cpu-vcores": "4",
            "yarn.scheduler.minimum-allocation-mb": "128",
            "yarn.nodemanager.pmem-check-enabled": "false",
            "yarn.nodemanager.vmem-check-enabled": "false",
            "yarn.nodemanager.disk-health-checker.enable": "false",
            # Otherwise a node says every second what it has, and asks for nothing in between.
            "yarn.resourcemanager.nodemanagers.heartbeat-interval-ms": "100",
        }
        self._write("yarn-site.xml", {**own, **ports})
        self._write("core-site.xml", {"fs.defaultFS": "file:///"})
        (self.settings / "log4j.properties").write_text(_LOGGING)
        self._manager = self._start("resourcemanager.ResourceManager")
        self._node = self._start("nodemanager.NodeManager")
        wait_until_up(self._node, folder / "nodemanager.NodeManager.log", self._has_a_node)

    def conf(self) -> dict[str, str]:
        """Spark settings of small jobs."""
        home = find_spark_submit().home
        return {
            "spark.yarn.jars": f"local:{home}/jars/*",
            "spark.yarn.stagingDir": f"file://{self._folder}/staging",
            "spark.pyspark.python": sys.executable,
            "spark.driver.extraJavaOptions": _QUICK_JAVA,
            "spark.executor.extraJavaOptions": _QUICK_JAVA,
            "spark.executor.memory": "512m",
            "spark.yarn.am.memory": "512m",
            "spark.executor.instances": "1",
        }

    def start(self, command: str) -> str:
        """Start an application that is a command of a shell; returns its id."""
        application = str(self._ask("apps/new-application", {})["application-id"])
        container = {"commands": {"command": command}}
        size = {"memory": 128, "vCores": 1}
        named = {"application-id": application, "application-name": command, "application-type": "SPARK"}
        self._ask("apps", {**named, "am-container-spec": container, "max-app-attempts": 1, "resource": size})
        return application

    def remove(self) -> None:
        """End it, and its containers."""
        for process in (self._node, self._manager):
            end(process, signal.SIGTERM)

    def _start(self, name: str) -> subprocess.Popen[bytes]:
        java, log = find_java(), self._folder / f"{name}.log"
        classes = f"{self.settings}:{jars(*_COORDINATES)}/*"
        options = [*_OPTIONS, f"-Dhadoop.log.dir={self._folder}", "-Djava.net.preferIPv4Stack=true"]
        return Owner(None).spawn([java.path, *options, "-cp", classes, f"{_SERVER}.{name}"], log, signal.SIGTERM)

    def _write(self, name: str, values: dict[str, str]) -> None:
        properties = (f"<property><name>{key}</name><value>{text}</value></property>" for key, text in values.items())
        (self.settings / name).write_text(f"<configuration>{''.join(properties)}</configuration>")

    def _has_a_node(self) -> None:
        if not self._ask("metrics")["clusterMetrics"]["activeNodes"]:
            raise RuntimeError("no node has registered yet")

    def _ask(self, path: str, body: Any = None) -> Any:
        response = requests.request(
            "GET" if body is None else "POST", f"{self.url}/ws/v1/cluster/{path}", json=body, timeout=10
        )
        response.raise_for_status()
        return response.json() if response.content else None
