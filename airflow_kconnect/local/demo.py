"""The demo: a broker, Airflow and Spark on this machine move two data sets twice, the second time only
what is new: lines of a file into JSON lines, and rows of a SQLite table into Parquet.

    python -m airflow_kconnect.local.demo

Everything is in the folder `.demo` of the repository; nothing is left running.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console

from airflow_kconnect.connect.errors import ConnectError
from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.local.demo_pipelines import FilePipeline, Pipeline, TablePipeline
from airflow_kconnect.local.demo_view import Offsets, show_offsets, show_output, show_runs
from airflow_kconnect.local.errors import SetupError
from airflow_kconnect.local.process_tree import kill_tree
from airflow_kconnect.local.submit import sigterm_as_exit

REPOSITORY = Path(__file__).parents[2]


def main() -> int:
    """Run the demo; returns its exit code."""
    console = Console()
    started_s = time.monotonic()
    try:
        with sigterm_as_exit():
            Demo(REPOSITORY / ".demo", console).run()
    except ConnectError as error:
        console.print(f"[bold red]The demo failed:[/] {error}", highlight=False, soft_wrap=True)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    console.print(f"[bold green]Done[/] in {time.monotonic() - started_s:.0f} s.")
    return 0


class Demo:
    """One run of the demo.

    :param folder: its folder: data, broker, Airflow's home and log.
    """

    def __init__(self, folder: Path, console: Console) -> None:
        self._folder, self._console = folder, console
        self._data = folder / "data"
        self._broker = EmbeddedBroker(folder / "broker", progress=lambda text: None)

    def run(self) -> None:
        """Prepare, run the DAGs, add to their inputs, run them again, show what has happened."""
        self._clean()
        pipelines = (FilePipeline(self._data), TablePipeline(self._data))
        with self._status("Starting Kafka and Airflow"), self._airflow() as airflow:
            try:
                self._broker.start()
                airflow.ask()
                runs = [self._dag_run(airflow, pipeline, run) for pipeline in pipelines for run in (1, 2)]
                show_runs(self._console, runs)
                read = [Offsets.read(self._broker.bootstrap, *pipeline.connectors) for pipeline in pipelines]
                show_offsets(self._console, read)
            finally:
                self._broker.stop()
        for pipeline in pipelines:
            self._check(pipeline)

    def _clean(self) -> None:
        """Remove what an earlier demo left; Airflow's database stays, since making it takes time."""
        self._broker.stop()
        for folder in (self._data, self._folder / "broker"):
            shutil.rmtree(folder, ignore_errors=True)
        self._data.mkdir(parents=True)

    @contextmanager
    def _status(self, text: str) -> Iterator[None]:
        if self._console.is_terminal:
            with self._console.status(text) as self._spinner:
                yield
        else:
            self._console.print(text)
            yield

    def _say(self, text: str) -> None:
        if self._console.is_terminal:
            self._spinner.update(text)
        else:
            self._console.print(text, highlight=False)

    @contextmanager
    def _airflow(self) -> Iterator[Airflow]:
        airflow = Airflow(self._folder)
        try:
            yield airflow
        finally:
            airflow.stop()

    def _dag_run(self, airflow: Airflow, pipeline: Pipeline, run: int) -> dict[str, Any]:
        title = pipeline.feed(run)
        self._say(f"Airflow runs the DAG {pipeline.dag_id} with {pipeline.data_set}. {title}")
        connection = {"conn_type": "kafka", "extra": {"bootstrap.servers": self._broker.bootstrap}}
        started_s = time.monotonic()
        answer = airflow.ask(pipeline.dag_id, {"AIRFLOW_CONN_KAFKA_DEFAULT": json.dumps(connection)})
        if answer["state"] != "success":
            raise SetupError(f"the run of {pipeline.dag_id} ended as {answer['state']}; see {airflow.log}")
        return {"title": title, "seconds": time.monotonic() - started_s, "reports": answer["reports"]}

    def _check(self, pipeline: Pipeline) -> None:
        show_output(self._console, pipeline.files(), pipeline.written(), self._folder.parent, pipeline.unit)
        if not pipeline.is_complete():
            raise SetupError(f"the files that {pipeline.dag_id} wrote below {self._data} are not what it read")


class Airflow:
    """Airflow in a process of its own; see `demo_airflow`."""

    def __init__(self, folder: Path) -> None:
        self.log = folder / "airflow.log"
        home = folder / "airflow"
        home.mkdir(parents=True, exist_ok=True)
        with self.log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "airflow_kconnect.local.demo_airflow"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=REPOSITORY,
                env=os.environ | _environment(folder, home),
                start_new_session=True,
            )

    def ask(self, dag_id: str | None = None, settings: dict[str, str] | None = None) -> dict[str, Any]:
        """The next answer; with a DAG, that to one more run of it.

        :param settings: environment variables for the run.
        :raises SetupError: there is no answer, because Airflow has ended.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        if dag_id is not None:
            self._process.stdin.write(json.dumps({"dag": dag_id, "environment": settings or {}}) + "\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            last = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-1:]
            raise SetupError(f"Airflow has ended: {' '.join(last)} (see {self.log})")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def stop(self) -> None:
        """End it, and a job that may still be running."""
        if self._process.poll() is None:
            kill_tree(self._process.pid)
        self._process.wait()


def _environment(folder: Path, home: Path) -> dict[str, str]:
    """Settings of an Airflow that knows nothing of the user's, and connections as environment variables."""
    return {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(REPOSITORY / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}",
        "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": "local[2]"}),
        "AIRFLOW_VAR_KCONNECT_EXAMPLE_FOLDER": str(folder / "data"),
        # The quick compiler alone: right for jobs of a few seconds, wrong for long ones.
        "SPARK_SUBMIT_OPTS": "-XX:TieredStopAtLevel=1",
    }


if __name__ == "__main__":
    sys.exit(main())
