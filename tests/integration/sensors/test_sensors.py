"""Sensors in their three modes, with a real broker."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.exceptions import AirflowRescheduleException
from airflow.providers.common.compat.sdk import AirflowSensorTimeout, AirflowSkipException, TaskDeferred

from airflow_kconnect.sensors.positions import ConnectorLagSensor, ConnectorOffsetSensor
from airflow_kconnect.sensors.states import ConnectorStateSensor
from airflow_kconnect.triggers.positions import ConnectorPositionTrigger
from tests.support import unique
from tests.support.kafka import produce
from tests.support.positions import commit_source

MakeTopic = Callable[..., str]

CONTEXT: Any = {"ti": SimpleNamespace(get_first_reschedule_date=lambda context: None)}


@pytest.fixture(autouse=True)
def kafka_connection(bootstrap: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`kafka_default` is the broker of this test run."""
    connection = {"conn_type": "kafka", "extra": {"bootstrap.servers": bootstrap}}
    monkeypatch.setenv("AIRFLOW_CONN_KAFKA_DEFAULT", json.dumps(connection))


def _lag(topic: str, **parameters: Any) -> ConnectorLagSensor:
    connector = {"name": unique("sink"), "config": {"topics": topic}}
    defaults: dict[str, Any] = {"task_id": "wait", "connector": connector, "min_records": 1}
    return ConnectorLagSensor(**defaults | parameters)


@pytest.mark.parametrize(
    "mode", [{}, {"mode": "reschedule"}, {"deferrable": True}], ids=["poke", "reschedule", "defer"]
)
class TestMet:
    def test_returns_what_it_saw(self, bootstrap: str, topic: MakeTopic, mode: dict[str, Any]) -> None:
        name = topic()
        produce(bootstrap, name, ["a", "b"])
        sensor = _lag(name, **mode)

        found = sensor.execute(CONTEXT)
        assert isinstance(sensor.connector, Mapping)
        assert found == {"connector": sensor.connector["name"], "records": 2, "topics": {name: 2}}


class TestNotMet:
    def test_poking_ends_with_the_timeout(self, topic: MakeTopic) -> None:
        with pytest.raises(AirflowSensorTimeout):
            _lag(topic(), timeout=0.1, poke_interval=0.1).execute(CONTEXT)

    def test_a_soft_timeout_is_a_skip(self, topic: MakeTopic) -> None:
        with pytest.raises(AirflowSkipException):
            _lag(topic(), timeout=0.1, poke_interval=0.1, soft_fail=True).execute(CONTEXT)

    def test_rescheduling_frees_the_worker(self, topic: MakeTopic) -> None:
        with pytest.raises(AirflowRescheduleException):
            _lag(topic(), mode="reschedule").execute(CONTEXT)

    def test_deferring_hands_over_to_the_trigger_with_the_timeout(self, topic: MakeTopic) -> None:
        sensor = _lag(topic(), deferrable=True, timeout=77, poke_interval=5)
        with pytest.raises(TaskDeferred) as caught:
            sensor.execute(CONTEXT)

        assert isinstance(caught.value.trigger, ConnectorPositionTrigger)
        assert (caught.value.method_name, caught.value.timeout) == ("execute_complete", timedelta(seconds=77))

    def test_the_trigger_gets_the_connection_by_name_only(self, bootstrap: str, topic: MakeTopic) -> None:
        with pytest.raises(TaskDeferred) as caught:
            _lag(topic(), deferrable=True).execute(CONTEXT)

        stored = json.dumps(caught.value.trigger.serialize())
        assert "kafka_default" in stored
        assert bootstrap not in stored


class TestOtherSensors:
    def test_a_source_has_reached_an_offset(self, bootstrap: str, worker_topics: str) -> None:
        source = unique("source")
        commit_source(bootstrap, worker_topics, source, {"filename": "/in"}, {"position": 100})
        sensor = ConnectorOffsetSensor(
            task_id="wait",
            connector={"name": source},
            worker_config={"offset.storage.topic": worker_topics},
            partition={"filename": "/in"},
            offset={"position": "{{ 10 * 10 }}"},
        )
        sensor.render_template_fields({})

        assert sensor.execute(CONTEXT)["offset"] == {"position": 100}

    def test_a_connector_that_no_one_has_paused_is_started(self, worker_topics: str) -> None:
        sensor = ConnectorStateSensor(task_id="wait", connector={"name": unique("sink")}, states=["STARTED"])

        assert sensor.execute(CONTEXT)["state"] == "STARTED"
