"""DAGs that run because of a topic: the examples, in a whole Airflow."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.airflow.standalone import ConnectorDag, StandaloneAirflow
from tests.support.kafka import create_topic, produce


@pytest.mark.spark_submit
@pytest.mark.timeout(600)
@pytest.mark.exhaustive
def test_a_dag_runs_when_a_source_has_written_to_its_topic(airflow: StandaloneAirflow) -> None:
    (airflow.example_folder / "orders.txt").write_text("one\ntwo\nthree\n")
    airflow.add_example("example_asset_pipeline")
    sink = ConnectorDag.of_file(airflow, "example_asset_sink", "write_files")

    (run,) = sink.wait_for_runs("asset_triggered", 1)

    assert (run["state"], run["data_interval_start"]) == ("success", None)
    assert sink.report(run)["records"]["written"] == 3
    assert _records(airflow.example_folder / "orders") == ["one", "two", "three"]


@pytest.mark.spark_submit
@pytest.mark.timeout(600)
@pytest.mark.exhaustive
def test_a_dag_runs_when_enough_records_are_waiting(airflow: StandaloneAirflow, bootstrap: str) -> None:
    topic = create_topic(bootstrap, "example-clicks")
    airflow.add_example("example_lag_pipeline")
    sink = ConnectorDag.of_file(airflow, "example_lag_pipeline", "write_files")
    produce(bootstrap, topic, [f"click {n}" for n in range(1000)])

    runs = [sink.wait_for_end(run) for run in sink.wait_for_runs("asset_triggered", 1)]

    assert {run["state"] for run in runs} == {"success"}
    # On a slow machine the trigger asks again before the first run has moved everything.
    assert sum(sink.report(run)["records"]["written"] for run in runs) == 1000


def _records(folder: Path) -> list[str]:
    files = sorted(path for path in folder.rglob("*.json") if not path.name.startswith("."))
    return [json.loads(line) for path in files for line in path.read_text().splitlines()]
