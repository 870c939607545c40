"""``python -m benchmarks.group_memory``: whether a thousand runs in one Spark application leave something over."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import psutil
import typer

from airflow_kconnect.runs.group import GroupSpec, exit_code_of
from airflow_kconnect.runs.spec import RunSpec
from benchmarks import environment, results
from benchmarks.files import SOURCE, write_lines
from benchmarks.measure import Say
from benchmarks.session import spark_session
from benchmarks.settings import STRING, our_worker
from benchmarks.topics import Topics

app = typer.Typer(add_completion=False)

# So that each run uses Spark: without it, none would.
_TRANSFORM = {
    "transforms": "hoist",
    "transforms.hoist.type": "org.apache.kafka.connect.transforms.HoistField$Value",
    "transforms.hoist.field": "line",
}
Sample = dict[str, float]


@app.command()
def main(
    runs: Annotated[int, typer.Option(help="Runs, in groups of a tenth of them.")] = 1000,
    lines: Annotated[int, typer.Option(help="New lines of each run.")] = 100,
    spark: Annotated[bool, typer.Option(help="With a transformation, which needs Spark.")] = True,
    output: Annotated[Path, typer.Option(help="Results go to this JSON file.")] = results.FOLDER / "group_memory.json",
) -> None:
    """Print what this process, Spark's JVM and their children hold, after each tenth of the runs."""
    say = environment.console()
    with environment.broker(say) as place:
        samples = list(_Runs(place.bootstrap, place.folder, lines, spark, say).samples(runs))
    results.write(output, [], facts={"runs": str(runs), "lines": str(lines)}, samples=samples)
    say(f"Results: {output}")


class _Runs:
    def __init__(self, bootstrap: str, folder: Path, lines: int, spark: bool, say: Say) -> None:
        self._folder, self._lines, self._say = folder, lines, say
        self._session = spark_session(folder) if spark else None
        self._transform = _TRANSFORM if spark else {}
        self._worker = our_worker(bootstrap)
        self._topic = Topics(bootstrap).create("group-memory")
        # Events of the runs are not for this console.
        self._silent = os.open(os.devnull, os.O_WRONLY)

    def samples(self, runs: int) -> Iterator[Sample]:
        """After each tenth of the runs."""
        each = max(runs // 10, 1)
        for tenth in range(10):
            specs = tuple(self._spec(f"memory-{tenth}-{n}") for n in range(each))
            self._run(GroupSpec(specs))
            sample = {"runs": float((tenth + 1) * each), **self._sample()}
            self._say(", ".join(f"{what} {found:,.0f}" for what, found in sample.items()))
            yield sample

    def _spec(self, name: str) -> RunSpec:
        file = write_lines(self._folder / f"{name}.txt", self._lines)
        config = {"name": name, "connector.class": SOURCE, "file": str(file), "topic": self._topic,
                  "value.converter": STRING, **self._transform}  # fmt: skip
        return RunSpec(config, self._worker)

    def _run(self, spec: GroupSpec) -> None:
        from airflow_kconnect.runtime.job import run_group

        out = sys.stdout
        sys.stdout = os.fdopen(os.dup(self._silent), "w")
        try:
            assert exit_code_of(run_group(spec, self._session)) == 0
        finally:
            sys.stdout.close()
            sys.stdout = out

    def _sample(self) -> Sample:
        process = psutil.Process()
        children = process.children(recursive=True)
        found: dict[str, Any] = {
            "driver MB": process.memory_info().rss >> 20,
            "driver threads": threading.active_count(),
            "driver files": process.num_fds(),
            "children": len(children),
            "workers MB": sum(c.memory_info().rss >> 20 for c in children if "java" not in c.name()),
        }
        return {**found, **(self._of_jvm() if self._session is not None else {})}

    def _of_jvm(self) -> Sample:
        from py4j.finalizer import ThreadSafeFinalizer

        assert self._session is not None
        lang = self._session._jvm.java.lang
        lang.System.gc()
        memory = lang.Runtime.getRuntime()
        management = lang.management.ManagementFactory
        return {
            "JVM heap MB after a collection": (memory.totalMemory() - memory.freeMemory()) >> 20,
            "JVM threads": management.getThreadMXBean().getThreadCount(),
            "JVM classes": management.getClassLoadingMXBean().getLoadedClassCount(),
            "py4j objects": len(ThreadSafeFinalizer.finalizers),
        }


if __name__ == "__main__":
    app()
