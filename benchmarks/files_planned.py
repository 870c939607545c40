"""What it takes the driver of a files source to list and plan a folder: CPU seconds and memory.

    python -m benchmarks.files_planned [files] [columns]

First all files are new: they are planned, plan after plan, as a run does. Then all have been read.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.connector.source import Offset, PlanContext
from airflow_kconnect.connectors.record_files.source import FilesSourceConnector
from airflow_kconnect.java_text.json import partition_identity


def main(count: int, columns: int) -> None:
    """Write files, plan them, and list them again."""
    offsets: dict[str, Offset] = {}
    facts: dict[str, dict[str, Any]] = {}

    def connector() -> FilesSourceConnector:
        return FilesSourceConnector({"directory": folder, "topic": "t"})

    def context() -> PlanContext:
        return PlanContext(offsets, facts, None, None, lambda: 2, _no_spark, plan_splits=1000)

    def plan_all() -> int:
        made = connector()
        plans, more = 0, made.nothing_new(context()) is None
        while more:
            plan = made.plan(context())
            for split in plan.splits:
                identity = partition_identity(split.source_partition)
                offsets[identity] = made.offset(split, split.end)
                if (kept := made.facts(split)) is not None:
                    facts[identity] = kept
            plans, more = plans + 1, plan.full
        return plans

    with tempfile.TemporaryDirectory() as folder:
        text = ",".join(f"column{n}" for n in range(columns)) + "\n" + ",".join(["1"] * columns) + "\n"
        for n in range(count):
            (Path(folder) / f"{n:06}.csv").write_text(text)
        print(f"{count:,} files of {columns} columns")
        _timed("planned, in plans", plan_all)
        print(f"facts: {len(facts):,}, {sum(len(json.dumps(each)) for each in facts.values()) / 1e6:.1f} MB")
        _timed("nothing new", lambda: connector().nothing_new(context()))
        _timed("a plan of nothing", lambda: connector().plan(context()))


def _timed(what: str, work: Callable[[], object]) -> None:
    begin = time.process_time()
    found = work()
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    shown = f" {found}" if isinstance(found, int) else ""
    print(f"{what}{shown}: {time.process_time() - begin:.2f} s CPU, at most {most} MB")


def _no_spark() -> Any:
    raise AssertionError("Spark was started")


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    main(*given, *(10_000, 50)[len(given) :])
