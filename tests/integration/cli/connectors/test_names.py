"""A connector's name in commands that take a file as well, and what they say of names that mean something else."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from airflow_kconnect.cli import airflow_variables, app
from airflow_kconnect.runs.events import event_line
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.stores.status_topic.run_records import ConnectorRuns, RunRecord, RunsKey, RunState
from tests.support import unique
from tests.support.kafka import produce
from tests.support.positions import commit
from tests.support.spark.fake_spark import FakeSpark, printing

Kconnect = Callable[..., Result]


@pytest.fixture
def kconnect(control_file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Kconnect:
    """The command, straight to the topics."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setenv("KCONNECT_WORKER", str(control_file))
    return lambda *arguments, stdin=None: CliRunner().invoke(app, list(map(str, arguments)), input=stdin)


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSpark:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    fake = FakeSpark(tmp_path)
    records = {"read": 1, "written": 1, "filtered": 0}
    report = RunReport(connector="c", kind="sink", connector_class="C", run_id="r", records=records)
    fake.behave(printing(event_line("report", report=report.as_dict())))
    return fake


@pytest.fixture
def read_topic(topic: Callable[..., str], bootstrap: str) -> str:
    """A topic with three records."""
    name = topic()
    produce(bootstrap, name, ["a", "b", "c"])
    return name


@pytest.fixture
def sink(kconnect: Kconnect, read_topic: str, topic: Callable[..., str]) -> str:
    """A registered sink with a password that only Airflow knows."""
    name = unique("sink")
    config = {
        "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
        "topics": read_topic,
        "connection.url": "jdbc:postgresql://db/shop",
        "connection.user": "app",
        "connection.password": "${airflow:warehouse:password}",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": topic(),
    }
    created = kconnect("create", "-", stdin=json.dumps({"name": name, "config": config}))
    assert created.exit_code == 0, created.output
    return name


@pytest.fixture
def source(kconnect: Kconnect) -> str:
    """A registered source."""
    name = unique("lines")
    config = {"name": name, "connector.class": "FileStreamSource", "file": "/data/in", "topic": "t"}
    assert kconnect("create", "-", stdin=json.dumps(config)).exit_code == 0
    return name


@pytest.fixture
def unregistered(bootstrap: str, read_topic: str) -> str:
    """A sink that has run from a file."""
    name = unique("files")
    commit(bootstrap, f"connect-{name}", {(read_topic, 0): 1})
    return name


@pytest.fixture
def recorded(bootstrap: str, control_file: Path, read_topic: str, topic: Callable[..., str]) -> str:
    """A sink with a consumer group of its own that has run from a file, and has left a record."""
    name, letters = unique("lake"), topic()
    run = RunRecord("r", RunState.SUCCESS, 1_000, 3_000, {"read": 3, "written": 2, "dead_lettered": 1}, complete=True)
    run = replace(run, origin={"file": "/data/lake.json", "host": "here"}, warnings=("1 record became a dead letter",))
    config = {"connector.class": "DirectorySink", "topics": read_topic, "name": name}
    runs = ConnectorRuns(config, "DirectorySink", "sink", (read_topic,), unique("own-group"), letters, (run,))
    worker = dict(line.partition("=")[::2] for line in control_file.read_text().splitlines())
    produce(bootstrap, worker["status.storage.topic"], [runs.encode()], key=RunsKey(name).encode().decode())
    return name


@pytest.fixture
def no_airflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(airflow_variables, "find_spec", lambda name: None)


def _spec(spark: FakeSpark) -> Any:
    return json.loads((spark.folder / "run.json").read_text())["spec"]


def _json(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


class TestRun:
    def test_a_registered_one_runs_with_what_is_registered(
        self, kconnect: Kconnect, spark: FakeSpark, source: str
    ) -> None:
        result = kconnect("run", source)
        assert result.exit_code == 0, result.output
        assert _spec(spark)["config"] == {
            "name": source,
            "connector.class": "FileStreamSource",
            "file": "/data/in",
            "topic": "t",
        }

    def test_a_paused_one_is_not_run(self, kconnect: Kconnect, spark: FakeSpark, source: str) -> None:
        kconnect("pause", source)
        result = kconnect("run", source)
        assert (result.exit_code, "is paused: nothing was moved" in result.stdout) == (0, True)
        assert not (spark.folder / "run.json").exists()

    def test_its_dead_letters_are_replayed(
        self, kconnect: Kconnect, spark: FakeSpark, sink: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AIRFLOW_CONN_WAREHOUSE", json.dumps({"conn_type": "generic", "password": "secret-1"}))
        result = kconnect("dlq", "replay", sink)
        assert result.exit_code == 0, result.output
        spec = _spec(spark)
        assert (spec["config"]["name"], spec["replay_dead_letters"]) == (sink, True)
        assert spec["variables"] == {"airflow:warehouse:password": "secret-1"}

    def test_a_typing_error_gets_the_closest_name(self, kconnect: Kconnect, source: str) -> None:
        result = kconnect("run", f"{source}x")
        assert result.exit_code == 1
        assert f"`{source}x` is neither a file nor a connector registered at" in result.stdout
        assert f"did you mean `{source}`?" in result.stdout

    def test_a_file_may_be_what_was_meant(self, kconnect: Kconnect) -> None:
        Path("orders-by-day.json").write_text("{}")
        assert "did you mean `orders-by-day.json`?" in kconnect("run", "orders-by-day").stdout
        assert "did you mean `orders-by-day.json`?" in kconnect("run", "order-by-day.json").stdout

    def test_one_that_is_not_registered_is_told_from_one_that_does_not_exist(
        self, kconnect: Kconnect, unregistered: str
    ) -> None:
        assert f"`{unregistered}` has run but is not registered" in kconnect("run", unregistered).stdout


class TestValidate:
    def test_a_registered_one(self, kconnect: Kconnect, source: str) -> None:
        assert f"Connector {source} (source) is valid." in kconnect("validate", source).stdout

    def test_over_rest_it_is_checked_with_the_secrets_that_are_hidden(
        self, kconnect: Kconnect, source: str, url: str
    ) -> None:
        kconnect("config", source, "producer.override.sasl.password=s3cr3t")
        result = kconnect("validate", source, "--server", url)
        assert f"Connector {source} (source) is valid." in result.stdout, result.output


class TestWithoutAirflow:
    """What a database's password has to do with is a run, and not where a connector is in Kafka."""

    def test_where_a_connector_is_in_kafka_is_known(self, kconnect: Kconnect, sink: str, no_airflow: None) -> None:
        assert _json(kconnect("lag", sink, "--json"))["records"] == 3
        assert _json(kconnect("dlq", "count", sink, "--json"))["records"] == 0
        assert "has no dead letters" in kconnect("dlq", "show", sink).stdout
        assert kconnect("offsets", "show", sink).stdout == "No offsets are committed.\n"
        assert sink in kconnect("status", sink).stdout

    def test_a_run_needs_it(self, kconnect: Kconnect, sink: str, no_airflow: None) -> None:
        result = kconnect("run", sink)
        assert (result.exit_code, "needs Airflow" in result.stdout) == (1, True)


class TestNotRegistered:
    def test_what_only_registered_ones_have_says_so(self, kconnect: Kconnect, unregistered: str) -> None:
        for command in ("describe", "tasks", "config"):
            result = kconnect(command, unregistered)
            assert result.exit_code == 1, command
            assert f"`{unregistered}` has run but is not registered" in result.stderr
            assert f"`kconnect status {unregistered}`" in result.stderr
            assert "kconnect create" in result.stderr

    def test_the_topics_that_it_has_read_are_known(
        self, kconnect: Kconnect, unregistered: str, read_topic: str
    ) -> None:
        assert _json(kconnect("topics", unregistered, "--json")) == {"topics": [read_topic]}

    def test_a_name_of_which_nothing_is_known_is_an_error(self, kconnect: Kconnect, source: str) -> None:
        result = kconnect("topics", f"{source}x")
        assert (result.exit_code, f"did you mean `{source}`?" in result.stderr) == (1, True)


class TestRecorded:
    """What a run has left is enough where a registered configuration would be needed."""

    def test_it_is_listed_with_its_last_run(self, kconnect: Kconnect, recorded: str) -> None:
        (row,) = [row for row in _json(kconnect("list", "--json"))["connectors"] if row["name"] == recorded]
        assert (row["registered"], row["run_state"], row["last_run"]["records"]["read"]) == (False, "idle", 3)
        (line,) = [line for line in kconnect("list").stdout.splitlines() if line.startswith(recorded)]
        assert line.split()[1:3] == ["sink", "idle"]

    def test_its_runs_are_a_table(self, kconnect: Kconnect, recorded: str) -> None:
        header, run, warning = kconnect("runs", recorded).stdout.splitlines()
        assert " ".join(header.split()) == "Started (UTC) Took Read Written Dead letters Warnings State Where"
        assert " ".join(run.split()) == "1970-01-01 00:00:01 2 s 3 2 1 1 success /data/lake.json on here"
        assert warning == "Warning: 1 record became a dead letter"

    def test_its_topics_lag_and_dead_letters_are_known(
        self, kconnect: Kconnect, recorded: str, read_topic: str
    ) -> None:
        assert _json(kconnect("topics", recorded, "--json")) == {"topics": [read_topic]}
        assert _json(kconnect("lag", recorded, "--json"))["records"] == 3
        assert _json(kconnect("dlq", "count", recorded, "--json"))["not_replayed"] == 0
        assert {"connector": recorded, "records": 3} in _json(kconnect("lag", "--json"))["sinks"]

    def test_runs_that_have_left_nothing_are_told_from_none(self, kconnect: Kconnect, unregistered: str) -> None:
        result = kconnect("runs", unregistered)
        assert (result.exit_code, "its runs have left no records" in result.stderr) == (1, True)


class TestLag:
    def test_of_all_sinks(self, kconnect: Kconnect, sink: str, source: str, unregistered: str) -> None:
        lags = {each["connector"]: each["records"] for each in _json(kconnect("lag", "--json"))["sinks"]}
        assert (lags[sink], lags[unregistered]) == (3, 2)
        assert source not in lags

    def test_of_a_source_is_a_sentence(self, kconnect: Kconnect, source: str) -> None:
        result = kconnect("lag", source)
        assert result.exit_code == 1
        assert result.stderr.startswith(f"Error: {source} is a source, and only sinks have a lag in Kafka.")


def test_a_restart_that_nothing_would_start_names_the_command_that_runs_it(kconnect: Kconnect, source: str) -> None:
    assert f"`kconnect run {source}` runs it now" in kconnect("restart", source).stderr
