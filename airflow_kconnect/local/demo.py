"""The demo: a broker, Airflow and Spark on this machine move a data set twice, the second time only what is new.

    python -m airflow_kconnect.local.demo

Everything is in the folder `.demo` of the repository; nothing is left running.
"""

from __future__ import annotations

import importlib.util
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
from airflow_kconnect.local.demo_view import Offsets, show_offsets, show_output, show_runs
from airflow_kconnect.local.errors import SetupError
from airflow_kconnect.local.process_tree import kill_tree
from airflow_kconnect.local.submit import sigterm_as_exit

REPOSITORY = Path(__file__).parents[2]
DATA_SET = "seattle-weather.csv"


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
        """Prepare, run the DAG, append to the input, run it again, show what has happened."""
        lines = _data_set()
        first = len(lines) * 2 // 3
        self._clean()
        with self._status("Starting Kafka and Airflow"), self._airflow() as airflow:
            try:
                self._broker.start()
                airflow.ask()
                reports = [
                    self._dag_run(airflow, lines[:first], f"1: {first:,} lines"),
                    self._dag_run(airflow, lines, f"2: {len(lines) - first:,} more"),
                ]
                show_runs(self._console, reports)
                show_offsets(self._console, Offsets.read(self._broker.bootstrap, "weather-source", "weather-sink"))
            finally:
                self._broker.stop()
        self._check(lines)

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

    def _dag_run(self, airflow: Airflow, lines: list[str], title: str) -> dict[str, Any]:
        self._say(f"Airflow runs the DAG example_file_pipeline. {DATA_SET}, run {title}")
        (self._data / "input.csv").write_text("".join(lines), encoding="utf-8")
        connection = {"conn_type": "kafka", "extra": {"bootstrap.servers": self._broker.bootstrap}}
        started_s = time.monotonic()
        answer = airflow.ask({"AIRFLOW_CONN_KAFKA_DEFAULT": json.dumps(connection)})
        if answer["state"] != "success":
            raise SetupError(f"the DAG run ended as {answer['state']}; see {airflow.log}")
        return {"title": title, "seconds": time.monotonic() - started_s, "reports": answer["reports"]}

    def _check(self, lines: list[str]) -> None:
        """The proof: what came out is what went in, line by line."""
        files = sorted((self._data / "output").rglob("*.json"))
        written = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
        show_output(self._console, files, written, self._folder.parent)
        if written != [line.rstrip("\n") for line in lines]:
            raise SetupError(f"the files in {self._data / 'output'} are not what was read from the input")


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

    def ask(self, settings: dict[str, str] | None = None) -> dict[str, Any]:
        """The next answer; with settings, that to one more run with them.

        :raises SetupError: there is no answer, because Airflow has ended.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        if settings is not None:
            self._process.stdin.write(json.dumps(settings) + "\n")
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


def _data_set() -> list[str]:
    """The lines of a CSV file that vega_datasets ships; found without importing it, which would load pandas."""
    spec = importlib.util.find_spec("vega_datasets")
    if spec is None or spec.origin is None:
        raise SetupError("vega_datasets is not installed: pip install 'airflow-kconnect[demo]'.")
    text = (Path(spec.origin).parent / "_data" / DATA_SET).read_text(encoding="utf-8")
    return text.splitlines(keepends=True)


if __name__ == "__main__":
    sys.exit(main())
