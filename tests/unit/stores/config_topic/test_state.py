"""Reading the config topic as Connect does: deletions, states, and what others have left there."""

from __future__ import annotations

import logging

import pytest

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.kafka.log import LogRecord
from airflow_kconnect.stores.config_topic.state import ClusterConfig, ConfigTopicState
from airflow_kconnect.stores.target_states import TargetState

Entry = tuple[str, str | None]

CONNECTOR = ("connector-c", '{"properties":{"name":"c"}}')


def fold(*entries: Entry) -> ClusterConfig:
    state = ConfigTopicState()
    for offset, (key, value) in enumerate(entries):
        state.add(LogRecord("configs", 0, offset, 0, key.encode(), None if value is None else value.encode()))
    return state.snapshot()


class TestConnectors:
    def test_a_deleted_one_is_gone(self) -> None:
        assert not fold(CONNECTOR, ("connector-c", None)).connectors

    def test_the_target_state_of_one_without_configuration_is_left_out(self) -> None:
        assert not fold(("target-state-c", '{"state":"PAUSED","state.v2":"PAUSED"}')).connectors


class TestTargetStates:
    def test_started_unless_it_is_recorded(self) -> None:
        assert fold(CONNECTOR).connectors["c"].target_state is TargetState.STARTED

    def test_the_initial_state_precedes_the_configuration(self) -> None:
        state = fold(("target-state-c", '{"state":"PAUSED","state.v2":"STOPPED"}'), CONNECTOR)
        assert state.connectors["c"].target_state is TargetState.STOPPED

    @pytest.mark.parametrize("value", ['{"state":"ZOMBIE"}', '{"state":7}', "{}", "no JSON"])
    def test_one_that_cannot_be_read_starts_nothing(self, value: str, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.WARNING):
            state = fold(CONNECTOR, ("target-state-c", '{"state":"PAUSED"}'), ("target-state-c", value))
        assert state.connectors["c"].target_state is TargetState.PAUSED
        assert "configs-0@2" in caplog.text

    def test_a_tombstone_means_started(self) -> None:
        state = fold(CONNECTOR, ("target-state-c", '{"state":"PAUSED"}'), ("target-state-c", None))
        assert state.connectors["c"].target_state is TargetState.STARTED


class TestOtherRecords:
    def test_levels_of_loggers(self) -> None:
        levels: list[tuple[str, str, tuple[int, int]]] = []
        state = ConfigTopicState(lambda *level: levels.append(level))
        state.add(LogRecord("configs", 0, 7, 5, b"logger-cluster-org.x", b'{"level":"DEBUG"}'))
        assert levels == [("org.x", "DEBUG", (5, 7))]

    def test_the_offset_is_that_of_the_next_record(self) -> None:
        assert fold(CONNECTOR, ("session-key", "{}")).offset == 2


class TestGarbage:
    @pytest.mark.parametrize(
        "entry",
        [
            ("connector-c", "no JSON"),
            ("connector-c", '{"properties":{"a":1}}'),
            ("target-state-c", '{"state":"GONE"}'),
            ("target-state-c", "[" * 50_000),
            ("logger-cluster-x", "{}"),
            ("who-knows", "{}"),
        ],
        ids=lambda entry: f"{entry[0]} {str(entry[1])[:12]}",
    )
    def test_it_is_skipped_and_what_was_known_stays(self, entry: Entry, caplog: pytest.LogCaptureFixture) -> None:
        with caplog.at_level(logging.WARNING):
            folded = fold(CONNECTOR, entry)
        assert folded.connectors["c"].config == {"name": "c"}
        assert "configs-0@1" in caplog.text

    def test_values_do_not_get_into_the_log(self, caplog: pytest.LogCaptureFixture) -> None:
        fold(("connector-c", '{"properties":{"password":"hunter2",}}'))
        assert "hunter2" not in caplog.text

    @pytest.mark.parametrize("key", ["session-key", "task-c-0", "commit-c", "tasks-fencing-c", "restart-connector-c"])
    def test_what_connects_workers_have_among_themselves_is_not_read(
        self, key: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        fold((key, "no JSON"))
        assert caplog.text == ""

    def test_asking_for_a_connector_that_cannot_be_read_fails_and_says_where(self) -> None:
        state = fold(("connector-c", "no JSON"))
        with pytest.raises(DataError, match=r"connector c: its configuration at configs-0@0 .* write the config"):
            state.connector("c")

    def test_an_unknown_connector(self) -> None:
        assert fold(CONNECTOR).connector("d") is None
