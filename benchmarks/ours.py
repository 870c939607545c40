"""Our side: a job that stays, in a process of its own, with all that it has started, and the runs in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.submit.direct import by_python
from airflow_kconnect.submit.spark import find_spark_submit, job_path
from airflow_kconnect.submit.spark_needs import with_needs
from airflow_kconnect.submit.submit import spark_conf, submit_environment
from benchmarks.measure import CpuMeter, Pass
from benchmarks.settings import HEAP_MB, our_worker

if TYPE_CHECKING:
    from airflow_kconnect.runtime.process.session import LazySession

_session: LazySession | None = None


class OurSide:
    """Runs connectors in a running job. Use it as a context manager.

    :param master: `local[1]` or `local[2]`.
    :param config: of a connector that needs more of Spark than others.
    """

    def __init__(self, master: str, folder: Path, bootstrap: str, config: Mapping[str, str] | None = None) -> None:
        self._bootstrap = bootstrap
        own = (master, folder / f"spark-{master[6]}", [dict(config)] if config else [])
        self._process = ProcessPoolExecutor(1, get_context("spawn"), _start, own)
        self.pid: int = self._process.submit(os.getpid).result()

    def __enter__(self) -> OurSide:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.submit(_stop).result()
        self._process.shutdown()

    def run(self, config: dict[str, str], worker: Mapping[str, str] | None = None) -> RunReport:
        """Run a connector once.

        :param worker: worker properties besides `our_worker`.
        """
        properties = our_worker(self._bootstrap) | dict(worker or {})
        return self._process.submit(_run, RunSpec(config=config, worker=properties)).result()

    def measure(self, config: dict[str, str], records: int, meter: CpuMeter) -> Pass:
        """From the start of the Spark job, which is before its first record, to the last commit.

        CPU time is that of the whole run: connecting, fencing and planning count too.
        """
        before = meter.look([self.pid])
        report = self.run(config)
        after = meter.look([self.pid])
        took = report.durations_s
        assert report.records["written"] == records, report
        moving = took["moving records"] + took["committing offsets"]
        cpu = meter.between(before, after)
        return Pass(records, moving, *cpu, whole_s=took["total"], splits=report.splits)


def _start(master: str, folder: Path, configs: Sequence[Mapping[str, str]]) -> None:
    global _session
    # Events of the runs, and warnings of Spark's about this machine's name.
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, sys.stdout.fileno())
    os.dup2(silent, sys.stderr.fileno())
    folder.mkdir(mode=0o700)
    _session = _as_in_a_job(master, folder, configs)


def _as_in_a_job(master: str, folder: Path, configs: Sequence[Mapping[str, str]]) -> LazySession:
    """What a job has before its first run: Python processes for what needs no Spark, and Spark for the rest."""
    spark = find_spark_submit()
    own = {"spark.driver.memory": f"{HEAP_MB}m", "spark.log.level": "ERROR", "spark.local.dir": str(folder / "spark")}
    conf = spark_conf(with_needs(own, configs, spark), master=master, spark=spark, folder=folder)
    options = ["--master", master, *(part for pair in conf.items() for part in ("--conf", "=".join(pair)))]
    command = [str(spark.program), *options, str(job_path())]
    os.environ.update(by_python(command, submit_environment(master), conf)[1])
    import airflow_kconnect.runtime.sink.run
    import airflow_kconnect.runtime.source.run  # noqa: F401
    from airflow_kconnect.runtime.process import jvm, split_processes
    from airflow_kconnect.runtime.process.session import LazySession

    split_processes.start()
    jvm.prepare(short=False)
    return LazySession("benchmarks")


def _run(spec: RunSpec) -> RunReport:
    from airflow_kconnect.runtime.job import run

    return run(spec, _session)


def _stop() -> None:
    from airflow_kconnect.runtime.process import jvm, split_processes

    split_processes.end()
    jvm.end()
