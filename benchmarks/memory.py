"""Memory of a run: driver, JVM and workers of a real spark-submit, for N and 10 N lines."""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from airflow_kconnect.connect.run import EVENT_PREFIX, RunSpec, run_spec_file
from airflow_kconnect.local.broker_files import worker_config
from airflow_kconnect.local.spark import find_spark_submit
from airflow_kconnect.local.submit import submit_command
from benchmarks.pipelines import write_lines


def memory_of_runs(bootstrap: str, folder: Path, lines: int, say: Callable[[str], None]) -> dict[str, Any]:
    """Peak memory in MB by kind of process, for `lines` and ten times as many."""
    figures: dict[str, Any] = {}
    for times in (1, 10):
        source = write_lines(folder / f"memory-{times}.txt", lines * times)
        topic, target = f"memory-{times}", str(folder / f"memory-{times}")
        configs = {
            "source": {"connector.class": "FileStreamSource", "file": str(source), "topic": topic},
            "sink": {"connector.class": "DirectorySink", "topics": topic, "directory": target},
        }
        for kind, config in configs.items():
            name = f"{kind}, {lines * times:,} lines"
            figures[name] = peak_memory(config | {"name": f"memory-{kind}-{times}"}, worker_config(bootstrap))
            say(f"peak memory in MB, {name}: {figures[name]}")
        source.unlink()
    return figures


def peak_memory(config: dict[str, str], worker: dict[str, str]) -> dict[str, int]:
    with run_spec_file(RunSpec(config=config, worker=worker)) as spec:
        command = submit_command(find_spark_submit(), spec, master="local[*]", conf={}, name="memory")
        process = psutil.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        peaks: dict[str, int] = {}
        watch = threading.Thread(target=_watch, args=(process, peaks))
        watch.start()
        output, _ = process.communicate()
        watch.join()
    reports = [line for line in output.splitlines() if line.startswith(EVENT_PREFIX) and '"report"' in line]
    assert reports, output
    json.loads(reports[-1][len(EVENT_PREFIX) :])
    return peaks


def _watch(process: psutil.Popen, peaks: dict[str, int]) -> None:
    while process.poll() is None:
        children: list[psutil.Process] = []
        with contextlib.suppress(psutil.Error):
            children = process.children(recursive=True)
        for part in (process, *children):
            with contextlib.suppress(psutil.Error):
                kind = "jvm" if "java" in part.name() else _python_kind(part)
                peaks[kind] = max(peaks.get(kind, 0), part.memory_info().rss >> 20)
        threading.Event().wait(0.2)


def _python_kind(process: psutil.Process) -> str:
    command = " ".join(process.cmdline())
    if "connector_job" in command:
        return "driver"
    return "worker" if "pyspark" in command else "other"
