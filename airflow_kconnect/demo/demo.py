"""The demo itself: its announcements, the runs of the two DAGs, and the proof that nothing was lost or duplicated."""

from __future__ import annotations

import importlib.util
import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from airflow_kconnect.demo import tables
from airflow_kconnect.demo.airflow import Airflow
from airflow_kconnect.demo.folder import DemoFolder
from airflow_kconnect.demo.narrator import Narrator
from airflow_kconnect.demo.pipelines import FilePipeline, Pipeline, Run, TablePipeline
from airflow_kconnect.local.broker import KAFKA, EmbeddedBroker
from airflow_kconnect.local.broker_files import worker_config
from airflow_kconnect.machine import ivy
from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.submit.operations import show_offsets
from airflow_kconnect.submit.spark import find_spark_submit


class Demo:
    """One run of the demo.

    :param folder: holds all files of the demo; created if missing.
    :param keep: leave the broker running at the end.
    :param kinds: the pipelines to run, in this order.
    """

    def __init__(
        self,
        folder: Path,
        console: Console,
        *,
        keep: bool = False,
        kinds: Sequence[type[Pipeline]] = (FilePipeline, TablePipeline),
    ) -> None:
        self._folder, self._console, self._keep = DemoFolder(folder), console, keep
        self._pipelines = [kind(self._folder.data) for kind in kinds]
        self._narrator = Narrator(console)
        self._broker = EmbeddedBroker(self._folder.broker, progress=self._narrator)

    def run(self) -> None:
        """Announce, prepare, run each DAG, add to its input, run it again, check and show the results.

        :raises SetupError: something is missing on this machine, a run failed, or the output differs from the input.
        :raises RetriableError: a download failed, or Kafka did not answer.
        """
        began_s = time.monotonic()
        _check_machine(self._pipelines)
        with self._folder.taken():
            # From an earlier demo with --keep.
            self._broker.stop()
            self._folder.clear()
            for pipeline in self._pipelines:
                shutil.copy(pipeline.dag_file(), self._folder.dags)
            tables.show_plan(self._console, self._pipelines, self._folder, first=not ivy.is_cached(KAFKA))
            self._move()
        self._say(f"Done in {time.monotonic() - began_s:.0f} s. What to look at next:", "bold green")
        tables.show_next(self._console, self._folder, self._pipelines, self._broker.bootstrap, running=self._keep)

    def _move(self) -> None:
        """Everything that needs servers."""
        completed = False
        try:
            with self._narrator, Airflow(self._folder, self._narrator, self._task_done) as airflow:
                runs = self._runs(airflow)
            tables.show_runs(self._console, runs)
            worker = worker_config(self._broker.bootstrap)
            connectors = [name for pipeline in self._pipelines for name in pipeline.connectors]
            tables.show_offsets(self._console, {name: show_offsets(name, worker) for name in connectors})
            for pipeline in self._pipelines:
                self._check(pipeline)
            completed = True
        finally:
            if not (self._keep and completed):
                self._broker.stop()

    def _runs(self, airflow: Airflow) -> list[Run]:
        self._broker.start()
        self._narrator.say(f"Kafka runs at {self._broker.bootstrap}")
        airflow.wait_until_ready()
        self._narrator.say("Airflow is ready")
        return [self._dag_run(airflow, pipeline, run) for pipeline in self._pipelines for run in (1, 2)]

    def _task_done(self, task: str, report: dict[str, Any]) -> None:
        self._narrator.say(f"  {task}: {report['records']['written']:,} records written")

    def _dag_run(self, airflow: Airflow, pipeline: Pipeline, run: int) -> Run:
        added = pipeline.feed(run)
        self._narrator.say(f"Run {run} of {pipeline.dag_id}, with {added} in {pipeline.input}")
        self._narrator(f"{pipeline.dag_id}: starting the run")
        connection = {"conn_type": "kconnect", "host": self._broker.bootstrap}
        began_s = time.monotonic()
        ended = airflow.run(pipeline.dag_id, {"AIRFLOW_CONN_KAFKA_DEFAULT": json.dumps(connection)})
        for task, error in ended.errors.items():
            raise SetupError(f"Task {task} of {pipeline.dag_id} failed.\n{error}\nAirflow's log: {self._folder.log}")
        if ended.state != "success":
            raise SetupError(f"The run of {pipeline.dag_id} ended as {ended.state}: see {self._folder.log}")
        return Run(pipeline.dag_id, added, time.monotonic() - began_s, ended.reports)

    def _check(self, pipeline: Pipeline) -> None:
        tables.show_output(self._console, pipeline, self._folder)
        if (answer := pipeline.answer()) is not None:
            tables.show_answer(self._console, answer)
        if not pipeline.is_complete():
            raise SetupError(
                f"What {pipeline.dag_id} wrote below {self._folder.data} is not what it read: "
                "please report it, with that folder."
            )
        self._say(f"Checked: {pipeline.proof()}.\n", "green")

    def _say(self, text: str, style: str) -> None:
        self._console.print(Text(text, style))


def _check_machine(pipelines: Sequence[Pipeline]) -> None:
    """Find out now, not after minutes, that something is missing.

    :raises SetupError: Java, Spark or a Python package is missing. :raises ConfigError: PySpark is incomplete.
    """
    if importlib.util.find_spec("pyarrow") is None:
        raise SetupError("Package `pyarrow` is not installed: pip install 'airflow-kconnect[spark,jdbc]'")
    spark = find_spark_submit()
    for pipeline in pipelines:
        pipeline.check(spark)
