"""A connector as a row: where it is configured, its last run, its schedule; with and without a scheduler."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

import pytest

from airflow_kconnect.control.overview.known import Known
from airflow_kconnect.control.overview.offsets import KnownOffsets
from airflow_kconnect.control.overview.rows import Scheduled, history, row
from airflow_kconnect.control.runs import Dag, TaskRun, TaskState
from airflow_kconnect.stores.config_topic.state import ConnectorState
from airflow_kconnect.stores.status_topic.records import State, Status
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns, RunRecord, RunState
from airflow_kconnect.stores.status_topic.state import ConnectorStatus
from airflow_kconnect.stores.target_states import TargetState

SINK = {"connector.class": "DirectorySink", "topics": "orders"}
OF_TASK: dict[str, str | int] = {"dag": "shop", "task": "write", "run": "scheduled__1", "map_index": -1, "try": 2}
RUN = RunRecord("r", RunState.SUCCESS, 1_000, 2_000, {"read": 9, "written": 9}, complete=True, origin=OF_TASK)
RUNS = ConnectorRuns(SINK, "DirectorySink", "sink", ("orders",), "connect-lake", None, (RUN,))
DAG = Dag(7_000, "*/15 * * * *", "red")


class Airflow:
    """Pages of a scheduler."""

    def dags(self, ids: Collection[str]) -> Mapping[str, Dag]:
        """Not asked here."""
        return {}

    def task_states(self, tasks: Collection[TaskRun]) -> Mapping[TaskRun, TaskState]:
        """Not asked here."""
        return {}

    def url(self, dag: str, task: str | None = None) -> str:
        """As texts."""
        return f"{dag}.{task}"

    def log_url(self, run: TaskRun, attempt: int) -> str:
        """As texts."""
        return f"{run.dag}.{run.task}.{run.run}.{attempt}"


def with_dags(*ids: str) -> Scheduled:
    """A scheduler that has these DAGs."""
    return Scheduled(Airflow(), dict.fromkeys(ids, DAG))


def registered(**more: Any) -> Known:
    """A registered sink."""
    return Known("lake", ConnectorState("lake", {**SINK, "name": "lake"}), "sink", **more)


def shown(known: Known, scheduled: Scheduled | None = None, *members: str) -> Any:
    """Members of a row; of one its value."""
    found = row(known, scheduled or Scheduled(), 10_000)
    return found[members[0]] if len(members) == 1 else tuple(found[member] for member in members)


class TestConnectorOfADag:
    def test_it_is_known_from_its_runs_alone(self) -> None:
        members = ("registered", "type", "class", "topics", "run_state", "fresh_ms", "cause")
        found = shown(Known("lake", kind="sink", runs=RUNS), None, *members)
        assert found == (False, "sink", "DirectorySink", ["orders"], "idle", 1_000, None)

    def test_it_is_configured_in_the_task_that_has_run_it(self) -> None:
        place = {"kind": "dag", "dag_id": "shop", "task_id": "write"}
        assert shown(Known("lake", runs=RUNS), None, "configured") == [{**place, "url": None}]
        assert shown(Known("lake", runs=RUNS), with_dags("shop"), "configured") == [{**place, "url": "shop.write"}]

    def test_a_registered_one_names_its_group(self) -> None:
        config = {**SINK, "name": "lake", "kconnect.group": "shop"}
        (place,) = shown(Known("lake", ConnectorState("lake", config), "sink"), None, "configured")
        assert place["group"] == "shop"

    def test_its_schedule_and_team_are_those_of_the_dag(self) -> None:
        found = shown(Known("lake", runs=RUNS), with_dags("shop"), "dag_id", "next_run_ms", "schedule", "team")
        assert found == ("shop", 7_000, "*/15 * * * *", "red")

    def test_a_dag_that_is_gone_has_no_page_and_no_schedule(self) -> None:
        known = Known("lake", runs=RUNS)
        assert shown(known, with_dags(), "dag_id", "schedule", "run_state") == ("shop", None, "idle")
        assert shown(known, with_dags(), "configured")[0]["url"] is None

    def test_the_last_run_links_to_the_log_of_its_attempt(self) -> None:
        last = shown(Known("lake", runs=RUNS), with_dags("shop"), "last_run")
        assert (last["id"], last["state"], last["records"]["read"], last["url"]) == (
            "r",
            "success",
            9,
            "shop.write.scheduled__1.2",
        )

    def test_a_run_by_hand_does_not_hide_the_dag(self) -> None:
        by_hand = replace(RUN, id="h", start_ms=3_000, origin={"file": "/c/lake.json", "host": "vm"})
        found = shown(Known("lake", runs=replace(RUNS, runs=(by_hand, RUN))), None, "configured")
        assert [(place["kind"], place.get("path")) for place in found] == [("dag", None), ("file", "/c/lake.json")]

    def test_a_replay_is_not_the_last_run(self) -> None:
        replay = replace(RUN, id="again", start_ms=3_000, replay="dead letters")
        assert shown(Known("lake", runs=replace(RUNS, runs=(replay, RUN))), None, "last_run")["id"] == "r"


@pytest.mark.parametrize(
    ("worker", "task", "found"),
    [
        ("connect-1:8083", State.RUNNING, "running"),
        ("connect-1:8083", State.FAILED, "failed"),
        ("here:0", State.RUNNING, "idle"),
        ("here:kconnect", State.RUNNING, "idle"),
    ],
)
def test_what_a_connect_cluster_with_the_same_topics_runs_is_running(worker: str, task: State, found: str) -> None:
    status = ConnectorStatus(Status(State.RUNNING, worker, 1), {0: Status(task, worker, 1)})
    assert shown(Known("lake", kind="sink", status=status, runs=RUNS), None, "run_state") == found


class TestRegisteredConnector:
    def test_one_that_has_never_run(self) -> None:
        assert shown(registered(), None, "run_state", "last_run", "dag_id") == ("never_run", None, None)

    @pytest.mark.parametrize(
        "sign",
        [
            {"status": ConnectorStatus(Status(State.RUNNING, "w", 0), {0: Status(State.RUNNING, "w", 0)})},
            {"offsets": KnownOffsets(1, None, 9, 5)},
            {"runs": RUNS},
        ],
        ids=["a task", "offsets", "runs"],
    )
    def test_one_that_has_run_is_idle(self, sign: dict[str, Any]) -> None:
        assert shown(registered(**sign), None, "run_state") == "idle"

    def test_without_a_dag_nothing_would_run_it(self) -> None:
        assert shown(registered(), with_dags("other"), "run_state", "dag_id") == ("no_dag", None)
        assert shown(registered(), with_dags("kconnect.lake"), "run_state", "dag_id") == ("never_run", "kconnect.lake")

    def test_a_dag_of_ones_own_runs_it_as_well(self) -> None:
        known = registered(runs=RUNS)
        assert shown(known, with_dags("shop"), "run_state", "dag_id") == ("idle", "shop")
        assert [place["kind"] for place in shown(known, with_dags("shop"), "configured")] == ["registered", "dag"]

    def test_its_dag_is_not_named_twice(self) -> None:
        run = replace(RUN, origin={**OF_TASK, "dag": "kconnect.lake", "task": "run"})
        found = shown(registered(runs=replace(RUNS, runs=(run,))), with_dags("kconnect.lake"), "configured")
        assert found == [{"kind": "registered", "dag_id": "kconnect.lake", "url": "kconnect.lake.None"}]

    def test_a_failure_is_told_by_the_trace_else_by_the_run(self) -> None:
        failed = Status(State.FAILED, "w", 0, "DataError: row 7\n\tat x")
        by_status = registered(status=ConnectorStatus(Status(State.RUNNING, "w", 0), {0: failed}))
        by_run = registered(runs=replace(RUNS, runs=(replace(RUN, state=RunState.FAILED, error="no disk"),)))
        assert shown(by_status, None, "run_state", "cause") == ("failed", "DataError: row 7")
        assert shown(by_run, None, "run_state", "cause") == ("failed", "no disk")

    def test_attention_is_for_those_that_are_idle(self) -> None:
        lost = replace(RUNS, runs=(replace(RUN, records={"read": 2, "dead_lettered": 2}),))
        text = "all 2 records of the last run became dead letters"
        assert shown(registered(runs=lost), None, "run_state", "attention") == ("idle", text)
        assert shown(registered(runs=lost, target=TargetState.PAUSED), None, "attention") is None


class TestWhatALagIsAbout:
    @pytest.mark.parametrize(
        ("topics", "config"),
        [
            ("orders", SINK),
            ("orders", {**SINK, "topics": "${env:TOPICS}"}),
            ("orders", {}),
            ("new", {**SINK, "topics": "new"}),
        ],
    )
    def test_topics_are_those_of_the_configuration_or_else_those_of_the_last_run(
        self, topics: str, config: dict[str, str]
    ) -> None:
        sink = Known("lake", kind="sink", runs=replace(RUNS, config=config)).as_sink()
        assert sink is not None
        assert (sink["topics"], sink["consumer.override.group.id"]) == (topics, "connect-lake")

    def test_a_pattern_stays_a_pattern(self) -> None:
        runs = replace(RUNS, config={"topics.regex": "orders.*"})
        sink = Known("lake", kind="sink", runs=runs).as_sink()
        assert sink is not None
        assert (sink["topics.regex"], "topics" in sink) == ("orders.*", False)

    def test_a_source_has_none(self) -> None:
        assert Known("lines", kind="source", runs=ConnectorRuns({"file": "f"}, topics=("t",))).as_sink() is None

    def test_a_group_and_a_dead_letter_topic_in_variables_are_those_of_the_last_run(self) -> None:
        keys = {"consumer.override.group.id": "${env:G}", "errors.deadletterqueue.topic.name": "${env:D}"}
        runs = replace(RUNS, config={**SINK, **keys}, group="own", dead_letter_topic="letters")
        found = Known("lake", kind="sink", runs=runs)
        assert (found.group, found.dead_letter_topic) == ("own", "letters")


class TestHistory:
    def test_runs_that_left_no_record_are_shown_between_the_others(self) -> None:
        others: list[dict[str, Any]] = [
            {"id": "queued", "start_ms": None, "origin": {**OF_TASK, "run": "manual__3"}},
            {"id": "killed", "start_ms": 1_500, "origin": {**OF_TASK, "run": "scheduled__2"}},
            {"id": "known", "start_ms": 1_000, "origin": OF_TASK},
        ]
        runs = [replace(RUN, id="new", start_ms=2_000, origin={**OF_TASK, "run": "scheduled__4"}), RUN]
        found = history(runs, with_dags(), others)
        assert [run["id"] for run in found] == ["queued", "new", "killed", "r"]


@pytest.mark.parametrize("topics", ["[hidden]", "orders," * 300 + "... (cut off)"])
def test_a_lag_is_not_that_of_some_topics_only(topics: str) -> None:
    assert Known("lake", kind="sink", runs=replace(RUNS, config={**SINK, "topics": topics})).as_sink() is None


def test_a_group_whose_name_was_not_kept_is_the_one_of_the_run() -> None:
    config = {**SINK, "consumer.override.group.id": "[hidden]"}
    assert Known("lake", kind="sink", runs=replace(RUNS, config=config, group="others")).group == "others"


def test_a_dead_letter_topic_that_was_not_kept_is_the_one_of_the_run() -> None:
    config = {**SINK, "errors.deadletterqueue.topic.name": "[hidden]"}
    assert Known("lake", kind="sink", runs=replace(RUNS, config=config, dead_letter_topic="d")).dead_letter_topic == "d"
