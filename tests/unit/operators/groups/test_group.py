"""The task of a group: what its job gets, what comes out of it, how it fails, what a retry runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.common.compat.sdk import AirflowSkipException

from airflow_kconnect.errors import ConnectorConfigError, ConnectorRetriableError
from airflow_kconnect.operators.approvals import as_failures
from airflow_kconnect.operators.reports.failures import FAILURE
from tests.support.connectors.connector_tasks import context, report
from tests.support.connectors.group_tasks import Store, a_sink, a_source, done, failed, group, job, of_try
from tests.support.spark.fake_spark import FakeSpark

MEMORY = "kconnect.spark.conf.spark.driver.memory"


def names_run(spark: FakeSpark) -> list[str]:
    """The connectors that the last job got."""
    return [run["config"]["name"] for run in spark.run["spec"]["runs"]]


def fails(operator: Any, of: Any) -> str:
    """The text of the error with which the task fails."""
    with pytest.raises((ConnectorConfigError, ConnectorRetriableError)) as raised:
        operator.execute(of)
    return str(raised.value)


class TestJob:
    def test_one_job_gets_all_connectors(self, spark: FakeSpark) -> None:
        spark.behave(job(done("a"), done("b", "sink")))
        group(a_source("a"), a_sink("b"), max_parallel=2).execute(context())
        assert (names_run(spark), spark.run["spec"]["max_parallel"]) == (["a", "b"], 2)

    def test_the_task_returns_the_reports_by_connector(self, spark: FakeSpark) -> None:
        spark.behave(job(done("a"), done("b")))
        returned = group(a_source("a"), a_source("b")).execute(context())
        assert returned == {name: report(connector=name) for name in ("a", "b")}

    def test_the_record_of_each_run_names_the_task(self, spark: FakeSpark) -> None:
        spark.behave(job(done("a")))
        group(a_source("a")).execute(context())
        (run,) = spark.run["spec"]["runs"]
        assert run["origin"] == {"dag": "d", "task": "t", "run": "r", "map_index": -1, "try": 1}

    def test_a_file_and_a_folder_are_read_by_the_task(self, spark: FakeSpark, tmp_path: Path) -> None:
        (tmp_path / "connectors").mkdir()
        for name in ("a", "b"):
            (tmp_path / "connectors" / f"{name}.json").write_text(json.dumps(a_source(name)))
        spark.behave(job(done("a"), done("b")))
        group(connectors=None, folder=tmp_path / "connectors").execute(context())
        assert names_run(spark) == ["a", "b"]

    def test_files_of_one_name_that_cannot_be_read_are_told_apart(self, spark: FakeSpark, tmp_path: Path) -> None:
        for folder in ("x", "y"):
            (tmp_path / folder).mkdir()
            (tmp_path / folder / "a.json").write_text("{")
        spark.behave(job(done("a.json")))
        text = fails(group(a_source("a.json"), *(str(tmp_path / each / "a.json") for each in "xy")), context())
        assert "2 of 3 connectors failed" in text
        assert names_run(spark) == ["a.json"]

    def test_settings_of_spark_are_those_of_all(self, spark: FakeSpark) -> None:
        spark.behave(job(done("a"), done("b")))
        group(a_source("a", **{MEMORY: "3g"}), a_source("b"), conf={"spark.x": "y"}).execute(context())
        assert {"spark.driver.memory=3g", "spark.x=y"} <= set(spark.command)

    def test_a_run_may_be_for_some_of_the_connectors(self, spark: FakeSpark) -> None:
        spark.behave(job(done("b")))
        group(a_source("a"), a_source("b")).execute(context(params={"connectors": ["b"]}))
        assert names_run(spark) == ["b"]

    def test_of_all_if_it_names_none(self, spark: FakeSpark) -> None:
        spark.behave(job(done("a"), done("b")))
        group(a_source("a"), a_source("b")).execute(context(params={"connectors": []}))
        assert names_run(spark) == ["a", "b"]

    def test_a_name_that_is_none_of_the_groups_is_refused(self, spark: FakeSpark) -> None:
        text = fails(group(a_source("a")), context(params={"connectors": ["z"]}))
        assert "z: there is no such connector in the group" in text

    def test_dead_letters_are_those_of_the_sinks_that_keep_them(self, spark: FakeSpark) -> None:
        keeps = a_sink("c", **{"errors.tolerance": "all", "errors.deadletterqueue.topic.name": "dlq"})
        spark.behave(job(done("c", "sink")))
        group(a_source("a"), a_sink("b"), keeps).execute(context(params={"mode": "dead_letters"}))
        assert [(run["config"]["name"], run["replay_dead_letters"]) for run in spark.run["spec"]["runs"]] == [
            ("c", True)
        ]

    def test_large_groups_return_less_of_each(self, spark: FakeSpark) -> None:
        many = [f"c{n}" for n in range(400)]
        (spark.folder / "events.txt").write_text("\n".join(done(name) for name in many))
        spark.behave(f"for line in open({str(spark.folder / 'events.txt')!r}): print(line.rstrip())")
        returned = group(*map(a_source, many)).execute(context())
        assert returned is not None and len(json.dumps(returned)) < 200_000
        assert returned["c399"]["records"] == report()["records"]


class TestLog:
    def test_has_a_line_for_the_end_of_each_and_none_for_phases(
        self, spark: FakeSpark, capsys: pytest.CaptureFixture[str]
    ) -> None:
        phase = '{"event":"phase","name":"plan","text":"planning","connector":"a"}'
        spark.behave(job(f"KCONNECT {phase}", done("a"), failed("b", "RetriableError", 3), exit_code=3))
        fails(group(a_source("a"), a_source("b")), context())
        log = capsys.readouterr().out
        assert "[1/2] a: 7 records written in 0.0 s (exactly_once)" in log
        assert "[2/2] b: RetriableError: it is gone" in log
        assert "planning" not in log


class TestFailure:
    def test_a_wrong_configuration_fails_alone_and_is_not_sent_to_the_job(self, spark: FakeSpark) -> None:
        spark.behave(job(done("a")))
        text = fails(group(a_source("a"), a_source("b", **{"tasks.max": "many"})), context())
        assert names_run(spark) == ["a"]
        assert "1 of 2 connectors failed; a retry would not help" in text and "`tasks.max`" in text

    def test_one_that_a_retry_may_help_makes_the_task_retry(self, spark: FakeSpark) -> None:
        spark.behave(job(failed("a", "DataError", 1), failed("b", "FencedError", 4), exit_code=1))
        with pytest.raises(ConnectorRetriableError) as raised:
            group(a_source("a"), a_source("b")).execute(context())
        assert str(raised.value).splitlines() == [
            "2 of 2 connectors failed; a retry runs 1 of them again:",
            "Connector  Error",
            "a          ConnectorDataError    it is gone",
            "b          ConnectorFencedError  it is gone",
        ]

    def test_different_settings_of_spark_are_errors_of_those_connectors(self, spark: FakeSpark) -> None:
        spark.behave(job(done("c")))
        text = fails(group(a_source("a", **{MEMORY: "2g"}), a_source("b", **{MEMORY: "4g"}), a_source("c")), context())
        assert names_run(spark) == ["c"] and "is 2g, and 4g in connector b" in text

    def test_a_job_that_is_lost_is_an_error_of_those_that_have_not_ended(self, spark: FakeSpark) -> None:
        spark.behave(job(done("a"), exit_code=137))
        with pytest.raises(ConnectorRetriableError, match="1 of 2 connectors failed"):
            group(a_source("a"), a_source("b")).execute(context())

    def test_callbacks_get_all_failures_and_reports(self, spark: FakeSpark) -> None:
        spark.behave(job(done("a"), failed("b", "RetriableError", 3), exit_code=3))
        of = context()
        fails(group(a_source("a"), a_sink("b")), of)
        found = of["kconnect"]
        assert [(each["connector"], each["kind"], each["error"]) for each in found["failures"]] == [
            ("b", "sink", "ConnectorRetriableError")
        ]
        assert list(found["reports"]) == ["a"]

    def test_later_tasks_find_each_failure(self, spark: FakeSpark) -> None:
        spark.behave(job(done("a"), failed("b", "RetriableError", 3), exit_code=3))
        of = context()
        fails(group(a_source("a"), a_source("b"), a_source("c", topic="")), of)
        assert {each["connector"] for each in as_failures(of["xcoms"][FAILURE])} == {"b", "c"}

    def test_a_group_that_is_wrong_itself_fails_as_a_whole(self, spark: FakeSpark) -> None:
        of = context()
        assert "connector a is there 2 times" in fails(group(a_source("a"), a_source("a")), of)
        assert of["kconnect"]["failures"][0]["error"] == "ConnectorConfigError"


class TestPaused:
    @pytest.fixture(autouse=True)
    def paused(self, spark: FakeSpark, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            "airflow_kconnect.operators.groups.members.not_started", lambda names, worker: {"a": "PAUSED"}
        )

    def test_one_is_left_out(self, spark: FakeSpark) -> None:
        spark.behave(job(done("b")))
        assert list(group(a_source("a"), a_source("b")).execute(context()) or ()) == ["b"]

    def test_if_all_are_the_task_is_skipped(self) -> None:
        with pytest.raises(AirflowSkipException):
            group(a_source("a")).execute(context())


class TestRetry:
    def test_runs_only_what_it_may_help(self, spark: FakeSpark) -> None:
        store = Store()
        connectors = [a_source(name) for name in "abc"]
        spark.behave(job(done("a"), failed("b", "RetriableError", 3), failed("c", "DataError", 1), exit_code=1))
        fails(group(*connectors), of_try(store))
        spark.behave(job(done("b")))
        fails(group(*connectors), of_try(store, 2))
        assert names_run(spark) == ["b"]

    def test_what_was_wrong_stays_in_the_table(self, spark: FakeSpark) -> None:
        store = Store()
        wrong = a_source("c", **{"tasks.max": "many"})
        spark.behave(job(failed("b", "RetriableError", 3), exit_code=3))
        fails(group(a_source("b"), wrong), of_try(store))
        spark.behave(job(done("b")))
        text = fails(group(a_source("b"), wrong), of_try(store, 2))
        assert "1 of 2 connectors failed; a retry would not help" in text

    def test_the_reports_of_all_attempts_are_returned(self, spark: FakeSpark) -> None:
        store = Store()
        spark.behave(job(done("a"), failed("b", "RetriableError", 3), exit_code=3))
        fails(group(a_source("a"), a_source("b")), of_try(store))
        spark.behave(job(done("b")))
        assert set(group(a_source("a"), a_source("b")).execute(of_try(store, 2)) or ()) == {"a", "b"}

    def test_a_third_attempt_knows_what_both_before_have_finished(self, spark: FakeSpark) -> None:
        store = Store()
        connectors = [a_source(name) for name in "abc"]
        gone = [failed(name, "RetriableError", 3) for name in "bc"]
        for number, events in enumerate(([done("a"), *gone], [done("b"), gone[1]]), 1):
            spark.behave(job(*events, exit_code=3))
            fails(group(*connectors), of_try(store, number))
        spark.behave(job(done("c")))
        assert len(group(*connectors).execute(of_try(store, 3)) or ()) == 3

    def test_a_sink_is_run_again_with_the_source_before_it(self, spark: FakeSpark) -> None:
        store, connectors = Store(), [a_source("a"), a_sink("b")]
        spark.behave(job(failed("a", "RetriableError", 3), done("b", "sink"), exit_code=3))
        fails(group(*connectors), of_try(store))
        spark.behave(job(done("a"), done("b", "sink")))
        group(*connectors).execute(of_try(store, 2))
        assert names_run(spark) == ["a", "b"]

    def test_until_it_has_succeeded_after_that(self, spark: FakeSpark) -> None:
        store, connectors = Store(), [a_source("a"), a_sink("b")]
        spark.behave(job(failed("a", "RetriableError", 3), done("b", "sink"), exit_code=3))
        fails(group(*connectors), of_try(store))
        spark.behave(job(done("a"), failed("b", "RetriableError", 3), exit_code=3))
        fails(group(*connectors), of_try(store, 2))
        spark.behave(job(done("b", "sink")))
        group(*connectors).execute(of_try(store, 3))
        assert names_run(spark) == ["b"]

    def test_without_the_store_all_are_run(self, spark: FakeSpark) -> None:
        class Unavailable(Store):
            def get(self, key: str, default: Any = None) -> Any:
                raise OSError("503")

        spark.behave(job(done("a"), done("b")))
        group(a_source("a"), a_source("b")).execute(of_try(Unavailable(), 2))
        assert names_run(spark) == ["a", "b"]

    def test_clearing_the_task_runs_all_again(self, spark: FakeSpark) -> None:
        store = Store()
        spark.behave(job(done("a"), failed("b", "RetriableError", 3), exit_code=3))
        fails(group(a_source("a"), a_source("b")), of_try(store))
        cleared = of_try(store, 2)
        cleared["dag_run"].clear_number = 1
        fails(group(a_source("a"), a_source("b")), cleared)
        assert names_run(spark) == ["a", "b"]

    def test_events_are_those_of_all_attempts(self, spark: FakeSpark) -> None:
        store, last = Store(), of_try(Store(), 2)
        spark.behave(job(done("a", topics=["t-a"]), failed("b", "RetriableError", 3), exit_code=3))
        fails(group(a_source("a"), a_source("b")), of_try(store))
        spark.behave(job(done("b", topics=["t-b"])))
        operator, last["task_state_store"] = group(a_source("a"), a_source("b")), store
        operator.execute(last)
        events = [event for alias in operator.outlets for event in last["outlet_events"][alias].asset_alias_events]
        assert [event.dest_asset_key.uri for event in events] == [
            "kafka://kafka_default/t-a",
            "kafka://kafka_default/t-b",
        ]


class TestParameters:
    @pytest.mark.parametrize("wrong", [{"connectors": None}, {"folder": "x"}, {"max_parallel": 0}])
    def test_that_make_no_sense_are_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match="task move"):
            group(a_source("a"), **wrong)

    def test_sources_are_outlets_and_the_topics_of_sinks_inlets(self) -> None:
        operator = group(a_source("a"), a_sink("b"))
        assert ([alias.name for alias in operator.outlets], [asset.uri for asset in operator.inlets]) == (
            ["kconnect/a"],
            ["kafka://kafka_default/t-a"],
        )

    def test_what_is_known_in_a_run_alone_has_the_alias_of_the_task(self) -> None:
        assert [alias.name for alias in group("orders.json", a_source("a")).outlets] == ["kconnect/a", "kconnect/move"]
