from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.connect.replay import Replay
from airflow_kconnect.runs.group import GroupSpec, MemberEnd, exit_code_of
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.runtime.group.run import GroupRun, still_idle, weights
from airflow_kconnect.runtime.process.progress import speaker
from airflow_kconnect.runtime.process.session import LazySession

RunOne = Callable[[RunSpec, LazySession], RunReport]


def group(*configs: dict[str, str] | str, max_parallel: int = 4) -> GroupSpec:
    whole = [{"name": each} if isinstance(each, str) else each for each in configs]
    return GroupSpec(tuple(RunSpec(config, {}) for config in whole), max_parallel)


def report(spec: RunSpec) -> RunReport:
    return RunReport(spec.config["name"], "source", "C", "r")


class Order:
    """Runs that only note when they began."""

    def __init__(self) -> None:
        self.began: list[str] = []

    def __call__(self, spec: RunSpec, session: LazySession) -> RunReport:
        self.began.append(spec.config["name"])
        return report(spec)


def began(spec: GroupSpec) -> list[str]:
    order = Order()
    GroupRun(spec, order).run()
    return order.began


def failing(**errors: BaseException) -> RunOne:
    def run(spec: RunSpec, session: LazySession) -> RunReport:
        if (error := errors.get(spec.config["name"])) is not None:
            raise error
        return report(spec)

    return run


def ends(spec: GroupSpec, run: RunOne) -> dict[str, MemberEnd]:
    return {end.connector: end for end in GroupRun(spec, run).run()}


class TestOrder:
    def test_is_that_of_the_group(self) -> None:
        assert began(group("b", "a", "c", max_parallel=1)) == ["b", "a", "c"]

    def test_a_higher_priority_starts_first(self) -> None:
        urgent = {"name": "c", "kconnect.group.priority": "1"}
        assert began(group("a", "b", urgent, max_parallel=1)) == ["c", "a", "b"]

    def test_a_sink_starts_after_the_source_that_feeds_it(self) -> None:
        sink, source = {"name": "sink", "topics": "t"}, {"name": "source", "topic": "t"}
        assert began(group(sink, source)) == ["source", "sink"]

    def test_also_if_that_has_failed(self) -> None:
        sink, source = {"name": "sink", "topics": "t"}, {"name": "source", "topic": "t"}
        assert ends(group(sink, source), failing(source=RetriableError("no broker")))["sink"].exit_code == 0

    def test_as_many_run_at_once_as_may(self) -> None:
        both = threading.Barrier(2, timeout=30)

        def run(spec: RunSpec, session: LazySession) -> RunReport:
            both.wait()
            return report(spec)

        assert exit_code_of(GroupRun(group("a", "b", max_parallel=2), run).run()) == 0

    def test_a_slow_connector_holds_up_none_but_its_own_thread(self) -> None:
        others = threading.Barrier(2, timeout=30)

        def run(spec: RunSpec, session: LazySession) -> RunReport:
            if spec.config["name"] in ("slow", "last"):
                others.wait()
            return report(spec)

        assert exit_code_of(GroupRun(group("slow", "a", "b", "last", max_parallel=2), run).run()) == 0


class TestFailures:
    def test_fail_their_own_connector_only(self) -> None:
        found = ends(group("a", "b"), failing(a=RetriableError("no broker")))
        assert (found["a"].exit_code, found["b"].exit_code) == (3, 0)

    def test_are_told_as_in_a_run_of_its_own(self, capsys: pytest.CaptureFixture[str]) -> None:
        ends(group("a"), failing(a=ConfigError({"topic": ["is missing"]}, "a")))
        event = json.loads(capsys.readouterr().out.partition(" ")[2])
        assert (event["connector"], event["errors"], event["exit_code"]) == ("a", {"topic": ["is missing"]}, 1)

    def test_a_bug_is_an_internal_error_of_that_connector(self) -> None:
        found = ends(group("a", "b"), failing(a=ValueError("oops")))
        assert (found["a"].error or {})["message"] == "ValueError: oops"

    def test_a_connector_that_exits_ends_none_but_itself(self) -> None:
        found = ends(group("a", {"name": "b", "kconnect.group.after": "a"}), failing(a=SystemExit(0)))
        assert {name: end.exit_code for name, end in found.items()} == {"a": 5, "b": 0}

    def test_a_report_that_cannot_be_told_fails_its_connector_only(self) -> None:
        def run(spec: RunSpec, session: LazySession) -> RunReport:
            return replace(report(spec), notes={"x": object()} if spec.config["name"] == "a" else {})

        found = ends(group("a", {"name": "b", "kconnect.group.after": "a"}), run)
        assert {name: end.exit_code for name, end in found.items()} == {"a": 5, "b": 0}


class TestIdle:
    def test_they_are_not_run(self) -> None:
        order = Order()
        spec = group("a", "b")
        found = GroupRun(spec, order, idle=lambda runs: {"a": report(runs[0])}).run()
        assert (order.began, [end.connector for end in found]) == (["b"], ["a", "b"])

    def test_all_may_be(self) -> None:
        order = Order()
        GroupRun(group("a"), order, idle=lambda runs: {"a": report(runs[0])}).run()
        assert order.began == []

    def test_if_it_cannot_be_known_all_run(self) -> None:
        def unknown(runs: tuple[RunSpec, ...]) -> dict[str, RunReport]:
            raise RetriableError("no broker")

        order = Order()
        GroupRun(group("a", "b"), order, idle=unknown).run()
        assert sorted(order.began) == ["a", "b"]

    def test_nor_if_a_connector_exits_while_it_is_looked_at(self) -> None:
        def exits(runs: tuple[RunSpec, ...]) -> dict[str, RunReport]:
            raise SystemExit(0)

        order = Order()
        GroupRun(group("a", "b"), order, idle=exits).run()
        assert sorted(order.began) == ["a", "b"]

    def test_not_if_a_connector_that_runs_feeds_it(self) -> None:
        assert still_idle({"sink"}, {"sink": {"source"}, "source": set()}) == []

    def test_but_if_that_is_idle_too(self) -> None:
        assert still_idle({"sink", "source"}, {"sink": {"source"}, "source": set()}) == ["source", "sink"]


def test_a_run_speaks_for_its_connector() -> None:
    heard = []

    def run(spec: RunSpec, session: LazySession) -> RunReport:
        heard.append(speaker())
        return report(spec)

    GroupRun(group("a"), run).run()
    assert (heard, speaker()) == (["a"], None)


def test_priorities_are_weights_of_pools() -> None:
    spec = group("a", {"name": "b", "kconnect.group.priority": "3"}, {"name": "c", "kconnect.group.priority": "-3"})
    assert weights(spec) == {"b": 4}


def test_a_sinks_replay_takes_what_its_source_has_replayed() -> None:
    moved = {"topic": "orders", "partition": 0, "start": 3, "end": 5}
    seen: dict[str, list[Mapping[str, Any]]] = {}

    def run(spec: RunSpec, session: LazySession) -> RunReport:
        assert spec.replay is not None
        seen[spec.config["name"]] = list(spec.replay.written)
        return replace(report(spec), replay=str(spec.replay), ranges=[moved])

    source, sink = {"name": "read", "topic": "orders"}, {"name": "write", "topics": "orders"}
    spec = group(sink, source)
    replays = tuple(replace(each, replay=Replay(0, 3_600_000, "key")) for each in spec.runs)
    GroupRun(replace(spec, runs=replays), run).run()
    assert seen == {"read": [], "write": [moved]}
