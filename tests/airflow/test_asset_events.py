"""What a run says in asset events, as Airflow has recorded it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support import unique
from tests.support.airflow.dags import add_dag
from tests.support.airflow.versions import needs_airflow_3_3
from tests.support.connectors.connector_tasks import ending_with, report
from tests.support.spark.fake_spark import FakeSpark

_DAG = """
from airflow.sdk import DAG, Asset, CronDataIntervalTimetable

from airflow_kconnect import KafkaSinkOperator

with DAG({name!r}, schedule=CronDataIntervalTimetable("0 * * * *", timezone="UTC"), catchup=False):
    KafkaSinkOperator(
        task_id="write",
        connector={{
            "name": {name!r},
            "connector.class": "DirectorySink",
            "topics": {topic!r},
            "directory": "/lake",
        }},
        outlets=[Asset({name!r})],
        asset_partitions=True,
    )
"""


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, connections: None) -> FakeSpark:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return FakeSpark(tmp_path)


@needs_airflow_3_3
def test_a_sinks_event_has_its_positions_and_the_partition_of_the_interval(
    airflow_database: Path, spark: FakeSpark, topic: Callable[..., str], tmp_path: Path
) -> None:
    name = unique("lake")
    spark.behave(ending_with(report("sink", connector=name)))
    dag = add_dag(tmp_path / "dags", _DAG.format(name=name, topic=topic()))

    dag.test(logical_date=datetime(2026, 1, 1, 10, 30, tzinfo=UTC))

    event = _event(name)
    assert event.extra["offsets"] == [{"topic": "lines", "partition": 0, "offset": 7}]
    assert event.partition_key == "2026-01-01T09:00:00"


def _event(asset: str) -> Any:
    from airflow.models.asset import AssetEvent, AssetModel
    from airflow.utils.session import create_session
    from sqlalchemy import select

    with create_session() as session:
        of_asset = AssetEvent.asset_id.in_(select(AssetModel.id).where(AssetModel.name == asset))
        return session.scalars(select(AssetEvent).where(of_asset)).one()
