"""Backfills in a whole Airflow: created by its REST API, run by its scheduler, while live runs go on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from confluent_kafka import Producer

from tests.support import unique
from tests.support.standalone import StandaloneAirflow

MIDNIGHT = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1000)
HOUR = 3_600_000
DAG_ID = "orders"
DAG = """
from datetime import datetime

from airflow.sdk import DAG, CronDataIntervalTimetable

from airflow_kconnect import KafkaSinkOperator, run_params

with DAG(
    "{dag_id}",
    schedule=CronDataIntervalTimetable("0 * * * *", timezone="UTC"),
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,
    params=run_params(),
):
    KafkaSinkOperator(task_id="write", connector={connector!r})
"""


@pytest.fixture
def airflow(bootstrap: str, tmp_path: Path) -> Iterator[StandaloneAirflow]:
    kafka = {"conn_type": "kafka", "extra": {"bootstrap.servers": bootstrap}}
    connections = {
        "AIRFLOW_CONN_KAFKA_DEFAULT": json.dumps(kafka),
        "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": "local[2]"}),
    }
    found = StandaloneAirflow(tmp_path / "airflow", connections)
    yield found
    found.stop()


@pytest.mark.spark_submit
@pytest.mark.timeout(900)
def test_a_backfill_replays_its_intervals_beside_the_live_run(
    airflow: StandaloneAirflow, topic: Callable[..., str], bootstrap: str, tmp_path: Path
) -> None:
    name, out = topic(config={"retention.ms": "-1"}), tmp_path / "out"  # the records are old
    producer = Producer({"bootstrap.servers": bootstrap})
    for n in range(40):
        producer.produce(name, f"r{n}".encode(), timestamp=MIDNIGHT + n * HOUR // 10)
    assert producer.flush(30) == 0
    connector = {
        "name": unique("orders"),
        "connector.class": "DirectorySink",
        "topics": name,
        "directory": str(out),
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    }
    (airflow.dags / "orders.py").write_text(DAG.format(dag_id=DAG_ID, connector=connector))

    airflow.start()
    airflow.wait_for_dag(DAG_ID)
    interval = {"from_date": "2026-01-01T01:00:00Z", "to_date": "2026-01-01T02:00:00Z"}
    airflow.ask("POST", "/api/v2/backfills", {"dag_id": DAG_ID, **interval, "max_active_runs": 1})
    backfills = airflow.wait_for_runs(DAG_ID, "backfill", 2)
    (live,) = airflow.wait_for_runs(DAG_ID, "scheduled", 1)

    assert [run["state"] for run in (*backfills, live)] == ["success"] * 3, airflow.text()[-5000:]
    reports = [airflow.report(DAG_ID, run["dag_run_id"], "write") for run in backfills]
    assert [report["replay"] for report in reports] == [
        "2026-01-01T01:00:00Z/2026-01-01T02:00:00Z",
        "2026-01-01T02:00:00Z/2026-01-01T03:00:00Z",
    ]
    assert _records(out / "_replays" / "2026-01-01T01-00-00Z--2026-01-01T02-00-00Z") == [f"r{n}" for n in range(10, 20)]
    assert _records(out / "_replays" / "2026-01-01T02-00-00Z--2026-01-01T03-00-00Z") == [f"r{n}" for n in range(20, 30)]
    assert _records(out / name) == [f"r{n}" for n in range(40)]


def _records(folder: Path) -> list[str]:
    files = sorted(path for path in folder.rglob("*.json") if not path.name.startswith("."))
    return [json.loads(line) for path in files for line in path.read_text().splitlines()]
