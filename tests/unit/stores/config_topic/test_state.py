"""Reading the config topic as Connect does: commits, deletions, and what others have left there."""

from __future__ import annotations

import logging

import pytest

from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.kafka.log import LogRecord
from airflow_kconnect.stores.config_topic.records import RestartRequest
from airflow_kconnect.stores.config_topic.state import ClusterConfig, ConfigTopicState
from airflow_kconnect.stores.target_states import TargetState

Entry = tuple[str, str | None]

RESTART = ("restart-connector-c", '{"include-tasks":true,"only-failed":false}')
CONNECTOR = ("connector-c", '{"properties":{"name":"c"}}')


def task(number: int, text: str = "v") -> Entry:
    return f"task-c-{number}", f'{{"properties":{{"task":"{text}{number}"}}}}'


def commit(tasks: int) -> Entry:
    return "commit-c", f'{{"tasks":{tasks}}}'


def fold(*entries: Entry, into: ConfigTopicState | None = None) -> ClusterConfig:
    state = into or ConfigTopicState()
    for offset, (key, value) in enumerate(entries):
        state.add(LogRecord("configs", 0, offset, 0, key.encode(), None if value is None else value.encode()))
    return state.snapshot()


class TestTasks:
    def test_without_a_commit_there_are_none(self) -> None:
        assert fold(CONNECTOR, task(0)).connectors["c"].tasks == ()

    def test_a_commit_puts_them_into_force(self) -> None:
        state = fold(CONNECTOR, task(0), task(1), commit(2)).connectors["c"]
        assert state.tasks == ({"task": "v0"}, {"task": "v1"})

    def test_tasks_after_the_commit_wait_for_the_next(self) -> None:
        state = fold(CONNECTOR, task(0), commit(1), task(0, "w")).connectors["c"]
        assert (state.tasks, state.generation) == (({"task": "v0"},), 0)

    def test_each_set_is_a_generation(self) -> None:
        assert fold(CONNECTOR, task(0), commit(1), task(0), commit(1)).connectors["c"].generation == 1

    def test_a_commit_without_its_tasks_makes_the_connector_inconsistent(self) -> None:
        state = fold(CONNECTOR, task(1), commit(2)).connectors["c"]
        assert (state.inconsistent, state.tasks) == (True, ())

    def test_a_complete_set_ends_the_inconsistency(self) -> None:
        state = fold(CONNECTOR, task(1), commit(2), task(0), commit(1)).connectors["c"]
        assert (state.inconsistent, len(state.tasks)) == (False, 1)

    def test_a_commit_of_no_tasks(self) -> None:
        state = fold(CONNECTOR, task(0), commit(1), commit(0)).connectors["c"]
        assert (state.inconsistent, state.tasks) == (False, ())

    def test_the_configuration_that_the_tasks_were_made_for_is_kept(self) -> None:
        state = fold(CONNECTOR, task(0), commit(1), ("connector-c", '{"properties":{"name":"c","a":"1"}}'))
        assert state.connectors["c"].applied_config == {"name": "c"}


class TestFencing:
    def test_tasks_are_to_be_fenced_after_a_commit(self) -> None:
        assert fold(CONNECTOR, task(0), commit(1)).connectors["c"].pending_fencing

    def test_a_count_says_that_they_were(self) -> None:
        counted = ("tasks-fencing-c", '{"task-count":1}')
        state = fold(CONNECTOR, task(0), commit(1), counted).connectors["c"]
        assert (state.pending_fencing, state.task_count) == (False, 1)


class TestDeletion:
    def test_a_deleted_connector_is_gone_with_its_tasks(self) -> None:
        assert not fold(CONNECTOR, task(0), commit(1), ("connector-c", None)).connectors

    def test_a_connector_of_the_same_name_does_not_inherit_tasks(self) -> None:
        state = fold(CONNECTOR, task(0), commit(1), ("connector-c", None), CONNECTOR).connectors["c"]
        assert state.tasks == ()

    def test_tasks_that_compaction_left_are_ignored(self) -> None:
        state = fold(task(0), commit(1), CONNECTOR, commit(1)).connectors["c"]
        assert state.inconsistent

    def test_the_target_state_of_a_connector_without_configuration_is_left_out(self) -> None:
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
        assert fold(("logger-cluster-org.x", '{"level":"DEBUG"}')).loggers == {"org.x": "DEBUG"}

    def test_a_new_restart_request_is_reported(self) -> None:
        requests: list[RestartRequest] = []
        state = ConfigTopicState(requests.append)
        fold(RESTART, into=state)
        state.caught_up()
        fold(RESTART, into=state)
        assert requests == [RestartRequest("c", include_tasks=True, only_failed=False)]

    def test_the_offset_is_that_of_the_next_record(self) -> None:
        assert fold(CONNECTOR, ("session-key", "{}")).offset == 2


class TestGarbage:
    @pytest.mark.parametrize(
        "entry",
        [
            ("connector-c", "no JSON"),
            ("connector-c", '{"properties":{"a":1}}'),
            ("task-c-0", None),
            ("commit-c", '{"tasks":"x"}'),
            ("target-state-c", '{"state":"GONE"}'),
            ("target-state-c", "[" * 50_000),
            ("tasks-fencing-c", "[]"),
            ("logger-cluster-x", "{}"),
            ("restart-connector-c", "7"),
            ("who-knows", "{}"),
        ],
        ids=lambda entry: f"{entry[0]} {str(entry[1])[:12]}",
    )
    def test_it_is_skipped_and_what_was_known_stays(self, entry: Entry, caplog: pytest.LogCaptureFixture) -> None:
        state = ConfigTopicState(lambda request: None)
        with caplog.at_level(logging.WARNING):
            folded = fold(CONNECTOR, task(0), commit(1), entry, into=state)
        assert folded.connectors["c"].tasks == ({"task": "v0"},)
        assert "configs-0@3" in caplog.text

    def test_values_do_not_get_into_the_log(self, caplog: pytest.LogCaptureFixture) -> None:
        fold(("connector-c", '{"properties":{"password":"hunter2",}}'))
        assert "hunter2" not in caplog.text

    def test_the_session_key_is_not_read(self, caplog: pytest.LogCaptureFixture) -> None:
        fold(("session-key", "no JSON"))
        assert caplog.text == ""

    def test_asking_for_a_connector_that_cannot_be_read_fails_and_says_where(self) -> None:
        state = fold(("connector-c", "no JSON"))
        with pytest.raises(DataError, match=r"connector c: its configuration at configs-0@0 .* write the config"):
            state.connector("c")

    def test_an_unknown_connector(self) -> None:
        assert fold(CONNECTOR).connector("d") is None
