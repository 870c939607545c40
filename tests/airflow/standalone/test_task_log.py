"""What the log of a task says, as Airflow's API gives it to the UI."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.airflow.standalone import ConnectorDag, StandaloneAirflow


@pytest.fixture(scope="module")
def failed(airflow: StandaloneAirflow, tmp_path_factory: pytest.TempPathFactory) -> tuple[list[dict[str, Any]], Any]:
    """The log of a task whose file has a line that is not UTF-8, and the links of the task."""
    file = tmp_path_factory.mktemp("log") / "input.txt"
    file.write_bytes(b"good\nbad \xe9\n")
    connector = {
        "name": "latin",
        "connector.class": "FileStreamSource",
        "file": str(file),
        "topic": "latin",
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    }
    dag = ConnectorDag(airflow, "latin", "KafkaSourceOperator", connector)
    dag.write()
    run = dag.wait_for_end(dag.trigger())
    assert run["state"] == "failed"
    task = f"/api/v2/dags/latin/dagRuns/{run['dag_run_id']}/taskInstances/move"
    log = airflow.ask("GET", f"{task}/logs/1?full_content=true")["content"]
    return log, airflow.ask("GET", f"{task}/links")["extra_links"]


@pytest.mark.spark_submit
@pytest.mark.timeout(600)
class TestFailure:
    def test_the_last_line_is_the_jobs_own_error(self, failed: Any) -> None:
        last = next(line for line in reversed(failed[0]) if "error_detail" in line or line.get("level") == "error")

        (error,) = last["error_detail"]
        assert error["exc_type"] == "ConnectorDataError"
        assert "the line is not valid UTF-8" in error["exc_value"]
        assert error["exc_value"].endswith("/docs/runbooks/bad-record.md)")

    def test_the_command_is_there_once_and_short(self, failed: Any) -> None:
        log = json.dumps(failed[0])
        assert (log.count("Spark-Submit cmd"), log.count("spark.redaction.regex")) == (1, 0)

    def test_it_says_what_is_done_from_the_beginning(self, failed: Any) -> None:
        events = [line["event"] for line in failed[0]]

        assert "starting the job" in events
        assert "[2/7] fencing older runs of latin" in events

    def test_there_is_no_link_to_a_spark_ui_that_is_off(self, failed: Any) -> None:
        assert failed[1]["Spark UI"] is None

    def test_there_is_one_to_the_runbook(self, failed: Any) -> None:
        assert failed[1]["Runbook"].endswith("/docs/runbooks/bad-record.md")
