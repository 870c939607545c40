"""A sensor that waits in the triggerer of a whole Airflow."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.airflow.standalone import ConnectorDag, StandaloneAirflow, wait_for
from tests.support.kafka import produce

_DAG = """
from airflow.sdk import DAG

from airflow_kconnect import ConnectorLagSensor

with DAG("{topic}", schedule=None):
    ConnectorLagSensor(
        task_id="wait",
        connector={{"name": "{topic}-sink", "topics": "{topic}"}},
        min_records=2,
        deferrable=True,
        poke_interval=1,
        timeout=300,
    )
"""


@pytest.mark.exhaustive
@pytest.mark.timeout(600)
def test_a_deferred_sensor_continues_when_the_records_are_there(
    airflow: StandaloneAirflow, bootstrap: str, topic: Callable[..., str]
) -> None:
    name = topic(prefix="awaited")
    (airflow.dags / f"{name}.py").write_text(_DAG.format(topic=name))
    dag = ConnectorDag.of_file(airflow, name, "wait")
    run = dag.trigger()
    wait_for(lambda: dag.task(run)["state"] == "deferred", "the task is not deferred", airflow)

    produce(bootstrap, name, ["a", "b"])

    assert dag.wait_for_end(run)["state"] == "success"
    assert dag.report(run) == {"connector": f"{name}-sink", "records": 2, "topics": {name: 2}}
