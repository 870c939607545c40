"""Source, wait, sink as a task group."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import AirflowFailException
from airflow.sdk import DAG, TaskGroup

from airflow_kconnect import KafkaSinkOperator, KafkaSourceOperator
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.operators.base import ConnectorOperator
from airflow_kconnect.operators.pipeline import NewRecordsSensor, connector_pipeline
from airflow_kconnect.stores.positions.conditions import LagCondition
from tests.support.airflow.versions import needs_airflow_3_2

SOURCE = {"name": "lines", "config": {"connector.class": "FileStreamSource", "file": "/in", "topic": "orders"}}
SINK = {"name": "orders", "config": {"connector.class": "FileStreamSink", "file": "/out", "topics": "orders"}}


def _dag(**parameters: Any) -> DAG:
    with DAG("d", schedule=None) as dag:
        connector_pipeline("move", **{"source": SOURCE, "sink": SINK} | parameters)
    return dag


def _wait(dag: DAG) -> NewRecordsSensor:
    wait = dag.get_task("move.wait")
    assert isinstance(wait, NewRecordsSensor)
    return wait


class TestGroup:
    def test_is_source_wait_sink(self) -> None:
        dag = _dag()

        assert {task.task_id: sorted(task.downstream_task_ids) for task in dag.tasks} == {
            "move.source": ["move.wait"],
            "move.wait": ["move.sink"],
            "move.sink": [],
        }

    def test_the_sensor_waits_for_the_sinks_connector_where_the_sink_reads(self) -> None:
        wait = _wait(_dag(worker_config={"group.id": "team"}, kafka_conn_id="my_kafka"))

        assert (wait.connector, wait.worker_config, wait.kafka_conn_id) == (SINK, {"group.id": "team"}, "my_kafka")

    def test_parameters_go_to_the_operators(self) -> None:
        dag = _dag(driver_memory="3g")
        operators = [task for task in dag.tasks if isinstance(task, ConnectorOperator)]

        assert [(task.task_id, task._driver_memory) for task in operators] == [
            ("move.source", "3g"),
            ("move.sink", "3g"),
        ]

    def test_the_sensor_has_parameters_of_its_own(self) -> None:
        wait = _wait(_dag(sensor={"min_records": 500, "timeout": 7}))

        assert (wait._condition(), wait.timeout, wait.soft_fail) == (LagCondition(500), 7, True)

    def test_a_paused_source_does_not_stop_the_sink(self) -> None:
        assert _dag().get_task("move.wait").trigger_rule == "none_failed"

    def test_ready_operators_move_into_the_group_and_keep_their_names(self) -> None:
        with DAG("d", schedule=None) as dag:
            read = KafkaSourceOperator(task_id="read", connector=SOURCE)
            group = connector_pipeline(
                "move", source=read, sink=KafkaSinkOperator(task_id="write", connector=SINK, kafka_conn_id="other")
            )

        assert sorted(group.children) == ["move.wait", "read", "write"]
        assert dag.get_task("move.wait").upstream_task_ids == {"read"}

    @needs_airflow_3_2  # for the name of the class
    def test_a_group_with_ready_operators_can_be_serialized(self) -> None:
        from airflow.serialization.definitions.taskgroup import SerializedTaskGroup
        from airflow.serialization.serialized_objects import DagSerialization

        with DAG("d", schedule=None) as dag:
            connector_pipeline("move", source=KafkaSourceOperator(task_id="read", connector=SOURCE), sink=SINK)

        read = DagSerialization.from_dict(DagSerialization.to_dict(dag))
        group = read.task_group.children["move"]
        assert isinstance(group, SerializedTaskGroup)
        assert sorted(group.children) == ["move.sink", "move.wait", "read"]

    def test_it_can_be_put_between_other_tasks(self) -> None:
        with DAG("d", schedule=None) as dag, TaskGroup("outer"):
            connector_pipeline("one", source=SOURCE, sink=SINK) >> connector_pipeline("two", source=SOURCE, sink=SINK)

        assert dag.get_task("outer.one.sink").downstream_task_ids == {"outer.two.source"}

    def test_a_sink_in_the_place_of_the_source_is_refused(self) -> None:
        with DAG("d", schedule=None):
            wrong = KafkaSinkOperator(task_id="write", connector=SINK)
            with pytest.raises(ConfigError, match="task write is a KafkaSinkOperator; expected a KafkaSourceOperator"):
                connector_pipeline("move", source=wrong, sink=SINK)


class TestReplays:
    @staticmethod
    def _context(hours: int) -> Any:
        interval = {"data_interval_start": datetime(2026, 1, 1, tzinfo=UTC)}
        interval["data_interval_end"] = datetime(2026, 1, 1, hours, tzinfo=UTC)
        ti = SimpleNamespace(dag_id="d", task_id="t", run_id="r", map_index=-1, try_number=1)
        return {"ti": ti, "dag_run": SimpleNamespace(clear_number=0, run_type="backfill", **interval)}

    def test_pass_however_far_the_live_offsets_are(self) -> None:
        sensor = NewRecordsSensor(task_id="wait", connector=SINK, min_records=1, kafka_conn_id="nowhere")

        assert sensor.execute(self._context(hours=1)) is None

    def test_without_an_interval_fail_as_the_operators_do(self) -> None:
        sensor = NewRecordsSensor(task_id="wait", connector=SINK, min_records=1, kafka_conn_id="nowhere")
        with pytest.raises(AirflowFailException, match="CronDataIntervalTimetable"):
            sensor.execute(self._context(hours=0))


def test_connectors_may_be_texts() -> None:
    dag = _dag(sink=json.dumps(SINK))

    assert _wait(dag).connector == json.dumps(SINK)
