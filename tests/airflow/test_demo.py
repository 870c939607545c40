"""The demo as users start it: Kafka, Airflow and Spark on this machine; and one whose task fails."""

from __future__ import annotations

import io
import itertools
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from airflow_kconnect.demo.demo import Demo
from airflow_kconnect.demo.folder import DemoFolder
from airflow_kconnect.demo.pipelines import FilePipeline
from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.local.errors import SetupError

# Longest time between two lines that a reader of a log should have to bear.
SILENCE_S = 30
FAILING = """
from airflow.sdk import DAG

from airflow_kconnect import KafkaSourceOperator

SOURCE = {"name": "failing", "config": {"connector.class": "JdbcSource", "topic.prefix": "t-", "mode": "bulk"}}

with DAG("failing") as dag:
    KafkaSourceOperator(task_id="read_nothing", connector=SOURCE)
"""


class FailingPipeline(FilePipeline):
    """Has a DAG whose connector lacks `connection.url`."""

    dag_id = "failing"

    def dag_file(self) -> Path:
        path = self.data / "failing.py"
        path.write_text(FAILING)
        return path


@pytest.mark.spark_submit
@pytest.mark.timeout(900)
class TestDemo:
    @pytest.fixture(scope="class")
    def folder(self, tmp_path_factory: pytest.TempPathFactory) -> DemoFolder:
        return DemoFolder(tmp_path_factory.mktemp("with a blank") / "demo")

    @pytest.fixture(scope="class")
    def output(self, folder: DemoFolder) -> Iterator[str]:
        """What it prints where there is no terminal, for a user whose files nobody else may read."""
        command = [sys.executable, "-m", "airflow_kconnect.cli", "demo", "--folder", str(folder.path)]
        ran = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, umask=0o077, check=False,
            env=os.environ | {"COLUMNS": "80"},
        )  # fmt: skip
        assert ran.returncode == 0, ran.stdout + ran.stderr
        yield ran.stdout

    def test_the_second_runs_move_only_what_is_new(self, output: str) -> None:
        written = re.findall(r"(\w+): ([\d,]+) records written$", output, re.MULTILINE)

        assert written == [
            *(("read_file", "974"), ("write_files", "974"), ("read_file", "487"), ("write_files", "487")),
            *(("read_table", "373"), ("write_parquet", "373"), ("read_table", "187"), ("write_parquet", "187")),
        ]

    def test_checks_what_came_out(self, output: str) -> None:
        assert "Checked: 1,461 lines in" in output
        assert "Checked: 560 rows in" in output

    def test_the_files_are_where_it_says(self, output: str, folder: DemoFolder) -> None:
        (found,) = {line.strip() for line in output.splitlines() if line.strip() == str(folder.data)}

        assert {path.suffix for path in Path(found).rglob("*.*") if path.is_file()} >= {".json", ".parquet", ".csv"}

    def test_is_never_silent_for_long(self, output: str) -> None:
        times_s = [int(second) for second in re.findall(r"^ *(\d+) s  ", output, re.MULTILINE)]

        assert max(after - before for before, after in itertools.pairwise(times_s)) <= SILENCE_S

    def test_the_commands_that_it_shows_work(self, output: str, folder: DemoFolder) -> None:
        shown = [line for line in output.splitlines() if re.match(r"  .*kconnect'? (broker|topic) ", line)]
        start, tail, stop = ([sys.executable, "-m", "airflow_kconnect.cli", *shlex.split(line)[1:]] for line in shown)
        try:
            subprocess.run(start, check=True)
            seen = subprocess.run(tail, check=True, capture_output=True, text=True)
        finally:
            subprocess.run(stop, check=True)

        assert "2024-12-31," in seen.stdout

    def test_leaves_nothing_running(self, output: str, folder: DemoFolder) -> None:
        assert EmbeddedBroker(folder.broker).status().state == "stopped"


@pytest.mark.timeout(300)
class TestFailingTask:
    def test_its_own_error_is_shown_and_then_the_log(self, tmp_path: Path) -> None:
        folder = DemoFolder(tmp_path / "demo")

        with pytest.raises(SetupError) as raised:
            Demo(folder.path, Console(file=io.StringIO()), kinds=(FailingPipeline,)).run()

        assert "Task read_nothing of failing failed.\nConnectorConfigError: " in str(raised.value)
        assert 'Missing required configuration "connection.url"' in str(raised.value)
        assert str(raised.value).endswith(str(folder.log))
        assert EmbeddedBroker(folder.broker).status().state == "stopped"
