"""A demo whose task fails. One that ends well is run by the tests of newcomers, in a clone."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from airflow_kconnect.demo.demo import Demo
from airflow_kconnect.demo.folder import DemoFolder
from airflow_kconnect.demo.lake import LakePipeline
from airflow_kconnect.demo.pipelines import FilePipeline
from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.machine.errors import SetupError
from tests.support.spark.lakes import lakes_conf

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


@pytest.mark.exhaustive  # tests/newcomer/test_clone.py runs the demo that ends well
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


@pytest.mark.exhaustive  # takes as long as the other demo
@pytest.mark.timeout(400)
class TestLake:
    def test_the_table_has_what_the_changes_left(self, tmp_path: Path) -> None:
        if not lakes_conf(tmp_path):
            pytest.skip("Iceberg has not been released for this Spark")
        said = io.StringIO()
        Demo(tmp_path / "demo", Console(file=said, width=200), kinds=(LakePipeline,)).run()

        assert "650 changes in, " in said.getvalue()
        assert "Spark and DuckDB agree" in said.getvalue()
