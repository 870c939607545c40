"""The results of a benchmark as a file: the machine, the versions, and every pass."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import confluent_kafka
import psutil

from airflow_kconnect import __version__
from airflow_kconnect.local.broker import KAFKA_VERSION
from airflow_kconnect.machine.java import find_java
from benchmarks.measure import Row

FOLDER = Path(__file__).parents[1] / "build" / "benchmarks"
"""Where results go, and where the report finds them."""


def machine() -> dict[str, str]:
    """What was measured on, and with which versions."""
    return {
        "cores": str(os.cpu_count()),
        "processor": _processor(),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "system": f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}",
        "Java": str(find_java().version),
        "Python": platform.python_version(),
        "airflow_kconnect": __version__,
        "PySpark": version("pyspark"),
        "Kafka and Kafka Connect": KAFKA_VERSION,
        "librdkafka": confluent_kafka.libversion()[0],
    }


def write(path: Path, rows: list[Row], *, facts: Mapping[str, str], **more: Any) -> None:
    """Write the results of a benchmark.

    :param facts: what else there is to say about how they came about, besides `machine`.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    found = {"machine": machine(), "facts": dict(facts), "rows": [row.as_dict() for row in rows], **more}
    path.write_text(json.dumps(found, indent=1) + "\n")


def read(path: Path) -> dict[str, Any]:
    """What `write` has written, with `rows` as rows."""
    found = json.loads(path.read_text())
    return {**found, "rows": [Row.of(row) for row in found["rows"]]}


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
