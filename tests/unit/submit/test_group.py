from __future__ import annotations

from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConfigError, RetriableError
from airflow_kconnect.runs.group import MemberEnd, exit_code_of
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.runs.spec import RunSpec
from airflow_kconnect.submit.group import HEADER, GroupProgress, checked_group, end_rows, failed, table_lines

WORKER = {"bootstrap.servers": "localhost:9092"}
MEMORY = "kconnect.spark.conf.spark.driver.memory"


def source(name: str, **more: str) -> RunSpec:
    config = {"name": name, "connector.class": "FileStreamSource", "file": "/data/in.txt", "topic": f"t-{name}", **more}
    return RunSpec(config, WORKER, variables={})


def report(name: str, **more: Any) -> dict[str, Any]:
    records = {"read": 1200, "written": 1200}
    of = RunReport(name, "source", "FileStreamSource", "r", records=records, durations_s={"total": 2.25}, **more)
    return {"event": "report", "connector": name, "report": of.as_dict()}


def error(name: str | None, code: int = 3) -> dict[str, Any]:
    named = {} if name is None else {"connector": name}
    return {"event": "error", "error": "RetriableError", "message": "gone\nfor now", "exit_code": code, **named}


class TestCheck:
    def test_a_wrong_connector_is_left_out_alone(self) -> None:
        found = checked_group([source("a"), source("b", topic="")], {}, "4.1.4")
        assert ([run.config["name"] for run in found.runs], list(found.errors)) == (["a"], ["b"])

    def test_its_error_names_it(self) -> None:
        assert "of connector b" in str(checked_group([source("b", topic="")], {}, "4.1.4").errors["b"])

    def test_warnings_are_by_connector(self) -> None:
        found = checked_group([source("a"), source("b", unknown="1")], {}, "4.1.4")
        assert list(found.warnings) == ["b"]

    def test_the_same_connector_twice_is_an_error_of_the_group(self) -> None:
        with pytest.raises(ConfigError, match="connector a is there 2 times"):
            checked_group([source("a"), source("a")], {}, "4.1.4")

    def test_one_for_which_spark_has_no_jars_is_left_out_alone(self) -> None:
        table = {"connector.class": "SparkTableSink", "topics": "t", "table.format": "iceberg"}
        found = checked_group([source("a"), RunSpec({"name": "b", **table}, WORKER)], {}, "4.3.0")
        assert ([run.config["name"] for run in found.runs], list(found.errors)) == (["a"], ["b"])
        assert "iceberg has been released for Spark 4.0, 4.1, and Spark here is 4.3.0" in str(found.errors["b"])


class TestSparkSettings:
    def test_are_those_of_all_connectors(self) -> None:
        cores = "kconnect.spark.conf.spark.executor.cores"
        found = checked_group([source("a", **{MEMORY: "2g"}), source("b", **{cores: "2"})], {}, "4.1.4")
        assert found.conf == {"spark.driver.memory": "2g", "spark.executor.cores": "2"}

    def test_different_values_are_errors_of_those_that_bring_them(self) -> None:
        found = checked_group([source("a", **{MEMORY: "2g"}), source("b", **{MEMORY: "4g"}), source("c")], {}, "4.1.4")
        assert list(found.errors) == ["a", "b"]

    def test_the_error_names_both(self) -> None:
        found = checked_group([source("a", **{MEMORY: "2g"}), source("b", **{MEMORY: "4g"})], {}, "4.1.4")
        assert f"connector a is invalid: `{MEMORY}`: is 2g, and 4g in connector b" in str(found.errors["a"])

    def test_the_groups_own_win(self) -> None:
        runs = [source("a", **{MEMORY: "2g"}), source("b", **{MEMORY: "4g"})]
        assert checked_group(runs, {"spark.driver.memory": "8g"}, "4.1.4").conf == {"spark.driver.memory": "8g"}


class TestProgress:
    def test_counts_what_has_ended_failed_and_runs(self) -> None:
        progress = GroupProgress(["a", "b", "c", "d"])
        for event in (report("a"), error("b"), {"event": "phase", "connector": "c", "name": "plan"}):
            progress.take(event)
        assert progress.text() == "2 of 4 connectors done, 1 of them failed, 1 running: c"

    def test_a_report_is_an_end(self) -> None:
        end = GroupProgress(["a"]).take(report("a"))
        assert end is not None and end.report is not None and end.report["records"]["written"] == 1200

    def test_a_run_that_fails_because_of_warnings_has_both(self) -> None:
        progress = GroupProgress(["a"])
        progress.take(report("a"))
        end = progress.take(error("a", 1))
        assert end is not None and end.report is not None and end.exit_code == 1

    def test_those_without_an_end_are_lost(self) -> None:
        progress = GroupProgress(["a", "b"])
        progress.take(report("a"))
        assert [end.exit_code for end in progress.ends("the JVM has ended")] == [0, 3]

    def test_an_error_of_the_job_is_that_of_all_that_have_not_ended(self) -> None:
        progress = GroupProgress(["a", "b"])
        progress.take(report("a"))
        progress.take(error(None, 1))
        assert [end.exit_code for end in progress.ends("exit code 1")] == [0, 1]

    def test_it_is_told_how_the_job_has_ended_also_by_an_error_of_the_job(self) -> None:
        progress = GroupProgress(["a", "b"])
        assert not progress.told
        progress.take({"event": "error", "error": "ConfigError", "message": "no", "exit_code": 1})
        assert progress.told

    def test_all_is_well_when_each_has_ended_and_none_has_failed(self) -> None:
        progress = GroupProgress(["a", "b"])
        found = []
        for event in (report("a"), report("b"), error("b")):
            progress.take(event)
            found.append(progress.well)
        assert found == [False, True, False]

    def test_an_error_of_an_earlier_job_does_not_count_once_it_is_forgotten(self) -> None:
        progress = GroupProgress(["a"])
        progress.take(error("a"))
        progress.take(error(None))
        progress.forget()
        progress.take(report("a"))
        assert progress.well

    def test_what_others_say_is_not_taken(self) -> None:
        assert GroupProgress(["a"]).take(report("b")) is None


class TestTable:
    ends = (
        failed("wrong", ConfigError({"file": ["is missing"], "topic": ["is missing"]}, "wrong")),
        failed("unlucky", RetriableError("the broker\nis gone")),
        MemberEnd("orders", report("orders")["report"]),
        MemberEnd("more", report("more", complete=False)["report"]),
        MemberEnd("resting", state="PAUSED"),
    )

    def test_has_a_line_for_each_those_that_failed_at_the_end(self) -> None:
        assert table_lines(HEADER, end_rows(self.ends)) == [
            "Connector  End           Records  Seconds",
            "orders     done          1,200    2.2",
            "more       not complete  1,200    2.2",
            "resting    paused",
            "wrong      failed                          ConfigError: `file`: is missing (and 1 more)",
            "unlucky    failed                          RetriableError: the broker",
        ]

    @pytest.mark.parametrize(("resumed", "how"), [(False, "nothing new"), (True, "done")])
    def test_a_run_that_only_ends_what_an_earlier_one_has_moved_had_something_to_do(
        self, resumed: bool, how: str
    ) -> None:
        idle = RunReport("a", "source", "C", "r", records={"read": 0}, resumed_plan=resumed)
        ((_, end, *_others),) = end_rows([MemberEnd("a", idle.as_dict())])
        assert end == how

    def test_the_exit_code_is_the_worst(self) -> None:
        assert exit_code_of(self.ends) == 1
