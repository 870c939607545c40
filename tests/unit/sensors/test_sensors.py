"""The sensors without Kafka: their parameters, what deferral refuses, what events and errors become."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import AirflowFailException, redact

from airflow_kconnect.connect.errors import ConfigError, ConnectError, RetriableError
from airflow_kconnect.errors import ConnectorRetriableError
from airflow_kconnect.sensors.positions import ConnectorLagSensor, ConnectorOffsetSensor
from airflow_kconnect.sensors.states import ConnectorStateSensor
from airflow_kconnect.stores.positions.condition import Condition
from airflow_kconnect.stores.positions.conditions import (
    LagCondition,
    SinkOffsetCondition,
    SourceOffsetCondition,
    StateCondition,
    TimestampCondition,
)
from airflow_kconnect.stores.target_states import TargetState

SINK = {"name": "orders", "config": {"topics": "orders", "connector.class": "C"}}
UNAVAILABLE = {"status": "error", "message": "no broker", "exit_code": 3}


def _lag(**parameters: Any) -> ConnectorLagSensor:
    defaults: dict[str, Any] = {"task_id": "wait", "connector": SINK, "min_records": 1}
    return ConnectorLagSensor(**defaults | parameters)


def _offset(**parameters: Any) -> Condition:
    return ConnectorOffsetSensor(task_id="wait", connector=SINK, **parameters)._condition()


class TestOffsetSensor:
    @pytest.mark.parametrize(
        ("parameters", "expected"),
        [
            pytest.param(
                {"partition": {"filename": "/in"}, "offset": {"position": 7}},
                SourceOffsetCondition({"filename": "/in"}, {"position": 7}),
                id="source",
            ),
            pytest.param(
                {"partition": {"kafka_topic": "orders", "kafka_partition": "2"}, "offset": {"kafka_offset": "7"}},
                SinkOffsetCondition("orders", 2, 7),
                id="sink, numbers from templates",
            ),
            pytest.param({"timestamp": datetime(2026, 1, 1, tzinfo=UTC)}, TimestampCondition(1767225600000), id="time"),
            pytest.param({"timestamp": "2026-01-01 01:00:00+01:00"}, TimestampCondition(1767225600000), id="zone"),
            pytest.param(
                {"timestamp": " 2026-01-01T00:00:00 "}, TimestampCondition(1767225600000), id="no zone is UTC"
            ),
        ],
    )
    def test_parameters_become_a_condition(self, parameters: dict[str, Any], expected: Condition) -> None:
        assert _offset(**parameters) == expected

    @pytest.mark.parametrize(
        "parameters",
        [
            pytest.param({}, id="neither"),
            pytest.param({"partition": {"a": 1}}, id="half"),
            pytest.param({"partition": {"a": 1}, "offset": {"b": 1}, "timestamp": "2026-01-01"}, id="both"),
        ],
    )
    def test_there_is_exactly_one_way_to_wait(self, parameters: dict[str, Any]) -> None:
        with pytest.raises(ConfigError, match="wait either for"):
            _offset(**parameters)

    @pytest.mark.parametrize(
        ("parameters", "message"),
        [
            ({"timestamp": "soon"}, "`timestamp`: is 'soon'"),
            ({"timestamp": ""}, "`timestamp`: is ''"),
            ({"partition": {"kafka_topic": "a"}, "offset": {"x": 1}}, "`partition`: lacks `kafka_partition`"),
            ({"partition": {"kafka_topic": "a", "kafka_partition": 0}, "offset": {"x": 1}}, "lacks `kafka_offset`"),
            (
                {"partition": {"kafka_topic": "a", "kafka_partition": "x"}, "offset": {"kafka_offset": 1}},
                "`partition.kafka_partition`: is 'x'",
            ),
            ({"partition": {}, "offset": {"x": 1}}, "`partition`: is {}"),
        ],
    )
    def test_what_is_wrong_is_said(self, parameters: dict[str, Any], message: str) -> None:
        with pytest.raises(ConfigError) as caught:
            _offset(**parameters)
        assert message in str(caught.value)


def test_states_may_be_members_of_the_enum() -> None:
    sensor = ConnectorStateSensor(task_id="wait", connector=SINK, states=[TargetState.PAUSED, "stopped"])

    assert sensor._condition() == StateCondition(["PAUSED", "STOPPED"])


class TestDeferral:
    def test_a_secret_in_the_worker_configuration_is_refused_with_the_cure(self) -> None:
        sensor = _lag(deferrable=True, worker_config={"sasl.password": "literal-1"})
        with pytest.raises(AirflowFailException, match=r"`sasl\.password`: .* put it into the Kafka connection"):
            sensor.execute({})

    def test_the_event_becomes_the_result(self) -> None:
        position = {"connector": "orders", "records": 7}

        assert _lag().execute_complete({}, {"status": "met", "position": position}) == position

    def test_an_error_event_is_raised_by_its_kind(self) -> None:
        with pytest.raises(ConnectorRetriableError, match="no broker"):
            _lag().execute_complete({}, UNAVAILABLE)

    def test_a_wrong_configuration_is_not_retried(self) -> None:
        with pytest.raises(AirflowFailException):
            _lag().execute_complete({}, {**UNAVAILABLE, "exit_code": 1})

    @pytest.mark.parametrize("exit_code", [1, 3, 5])
    def test_errors_are_not_skips_although_failures_are_soft(self, exit_code: int) -> None:
        sensor = _lag(soft_fail=True)
        with pytest.raises(ConnectError, match="no broker"):
            sensor.resume_execution("execute_complete", {"event": {**UNAVAILABLE, "exit_code": exit_code}}, {})


class TestPoke:
    def test_a_missing_connection_fails_without_a_retry(self) -> None:
        with pytest.raises(AirflowFailException, match="nowhere"):
            _lag(kafka_conn_id="nowhere").poke({})

    def test_an_unavailable_broker_is_retriable(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("airflow_kconnect.kafka.shared.TIMEOUT_S", 0.2)
        sensor = _lag(kafka_conn_id=None, worker_config={"bootstrap.servers": "127.0.0.1:1"})
        with pytest.raises(ConnectorRetriableError, match=r"no Kafka broker answers at 127\.0\.0\.1:1"):
            sensor.execute({})

    def test_it_is_not_a_skip_although_failures_are_soft(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("airflow_kconnect.kafka.shared.TIMEOUT_S", 0.2)
        sensor = _lag(soft_fail=True, kafka_conn_id=None, worker_config={"bootstrap.servers": "127.0.0.1:1"})
        with pytest.raises(RetriableError):
            sensor.execute({})


def test_literal_secrets_of_the_connector_are_masked_once_it_is_rendered() -> None:
    sensor = _lag(connector={"name": "orders", "topics": "orders", "connection.password": "literal-secret-9"})
    sensor.render_template_fields({})

    assert "literal-secret-9" not in json.dumps(redact({"text": "a literal-secret-9 in a line"}))


class TestTemplates:
    def test_the_bounds_of_the_lag_may_come_from_templates(self) -> None:
        sensor = _lag(min_records="{{ params.most }}", min_seconds="{{ params.age }}")
        sensor.render_template_fields({"params": {"most": 7, "age": 1.5}})

        assert sensor._condition() == LagCondition(7, 1.5)

    def test_a_rendered_bound_that_is_not_a_number_is_named(self) -> None:
        sensor = _lag(min_records="{{ params.most }}")
        sensor.render_template_fields({"params": {"most": "many"}})

        with pytest.raises(ConfigError, match="`min_records`: is 'many'; expected a whole number"):
            sensor._condition()

    def test_a_wrong_bound_that_is_not_a_template_shows_at_once(self) -> None:
        with pytest.raises(ConfigError, match="must be greater than 0"):
            _lag(min_records=0)

    def test_states_may_come_from_templates(self) -> None:
        sensor = ConnectorStateSensor(task_id="wait", connector=SINK, states=["{{ params.state }}"])
        sensor.render_template_fields({"params": {"state": "paused"}})

        assert sensor._condition() == StateCondition(["PAUSED"])

    def test_the_kafka_connection_may_come_from_a_template(self) -> None:
        sensor = _lag(kafka_conn_id="kafka_{{ params.team }}")
        sensor.render_template_fields({"params": {"team": "a"}})

        assert sensor.kafka_conn_id == "kafka_a"
