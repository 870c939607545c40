"""`kconnect run` as a user meets it, around a spark-submit that is a script."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from airflow_kconnect import __version__
from airflow_kconnect.cli import airflow_variables, app
from airflow_kconnect.cli.running.job import archive_hint
from airflow_kconnect.runs.events import event_line
from airflow_kconnect.runs.report import RunReport
from airflow_kconnect.submit.class_archive import make_class_archive
from airflow_kconnect.submit.spark import SparkSubmit
from airflow_kconnect.submit.worker_defaults import WORKER_DEFAULTS
from tests.support.spark.fake_spark import FakeSpark, printing
from tests.support.spark.pyspark_package import WRITES_ARCHIVE, pyspark_package, write_program

REPORT = RunReport(
    connector="lines",
    kind="source",
    connector_class="C",
    run_id="r",
    records={"read": 7, "written": 7, "filtered": 0},
    topics=["lines"],
    offsets=[{"partition": {"filename": "/data/in"}, "offset": {"position": 42}}],
    warnings=["tasks.max has no effect"],
    durations_s={"moving records": 1.5, "total": 2.0},
).as_dict()
CONFIG = {"connector.class": "FileStreamSource", "file": "/data/in", "topic": "lines"}


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSpark:
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    monkeypatch.setenv("KCONNECT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")
    # No broker is here that a target state could be read from, nor one that could be told how a run has failed: where
    # one fails, it is a dry run.
    monkeypatch.setattr(
        sys.modules["airflow_kconnect.cli.running.single"], "target_state", lambda name, worker: "STARTED"
    )
    spark = FakeSpark(tmp_path)
    spark.behave(printing(event_line("phase", name="planning"), event_line("report", report=REPORT)))
    return spark


@pytest.fixture
def connector(tmp_path: Path) -> Path:
    file = tmp_path / "lines.json"
    file.write_text(json.dumps({"name": "lines", "config": CONFIG}))
    return file


def _run(*arguments: object, servers: bool = True) -> Result:
    options = ["--bootstrap-servers", "broker:9092"] if servers else []
    return CliRunner().invoke(app, ["run", *map(str, arguments), *options])


def _spec(spark: FakeSpark) -> dict[str, Any]:
    spec: dict[str, Any] = json.loads((spark.folder / "run.json").read_text())["spec"]
    return spec


class TestRun:
    def test_shows_a_table_at_the_end(self, spark: FakeSpark, connector: Path) -> None:
        result = _run(connector)

        assert result.exit_code == 0
        for text in (
            "planning",
            "7 read, 7 written",
            "exactly once",
            '{"position": 42}',
            "Warning (unknown): tasks.max",
        ):
            assert text in result.stdout

    def test_says_why_it_is_not_complete_and_shows_notes(self, spark: FakeSpark, connector: Path) -> None:
        notes = {"held_back": "rows since noon wait", "more": True}
        report = REPORT | {"complete": False, "incomplete": ["held_back"], "notes": notes}
        spark.behave(printing(event_line("report", report=report)))

        shown = _run(connector).stdout

        assert "rows wait for the end of transactions of the source" in shown
        assert "rows since noon wait" in shown
        assert "more" not in shown

    def test_a_run_that_fails_because_of_its_warnings_shows_both(self, spark: FakeSpark, connector: Path) -> None:
        error = event_line(
            "error", error="WarnedError", message="what was moved is committed", exit_code=1, errors=None
        )
        spark.behave(printing(event_line("report", report=REPORT), error, exit_code=1))

        result = _run(connector)
        assert result.exit_code == 1
        assert "7 read, 7 written" in result.stdout
        assert "Error: what was moved is committed" in result.stdout
        assert json.loads(_run(connector, "--json").stdout)["report"] == REPORT

    def test_json_is_one_line_on_stdout(self, spark: FakeSpark, connector: Path) -> None:
        result = _run(connector, "--json")

        assert result.exit_code == 0
        assert json.loads(result.stdout) == REPORT
        assert result.stdout.count("\n") == 1
        assert "planning" in result.stderr

    def test_passes_master_and_conf_on(self, spark: FakeSpark, connector: Path) -> None:
        _run(connector, "--master", "local[7]", "--conf", "spark.x=a=b", "--conf", "spark.y=")

        command = json.loads((spark.folder / "command.json").read_text())
        assert command[command.index("--master") + 1] == "local[7]"
        assert {"spark.x=a=b", "spark.y="} <= set(command)

    def test_verbose_shows_the_log_of_the_job(self, spark: FakeSpark, connector: Path) -> None:
        spark.behave(printing("a line of Spark", event_line("report", report=REPORT)))

        assert "a line of Spark" in _run(connector, "--verbose").stdout
        assert "a line of Spark" not in _run(connector).stdout


class TestWorker:
    def test_a_file_is_used_and_servers_win_over_it(self, spark: FakeSpark, connector: Path, tmp_path: Path) -> None:
        file = tmp_path / "worker.properties"
        file.write_text("bootstrap.servers=one:9092\ngroup.id=team\n")

        _run(connector, "--worker", file, servers=False)
        assert _spec(spark)["worker"] == {**WORKER_DEFAULTS, "bootstrap.servers": "one:9092", "group.id": "team"}

        _run(connector, "--worker", file)
        assert _spec(spark)["worker"]["bootstrap.servers"] == "broker:9092"

    def test_the_default_is_that_of_the_embedded_broker(
        self, spark: FakeSpark, connector: Path, tmp_path: Path
    ) -> None:
        file = tmp_path / "home" / "broker" / "worker.properties"
        file.parent.mkdir(parents=True)
        file.write_text("bootstrap.servers=here:9092\n")

        _run(connector, servers=False)

        assert _spec(spark)["worker"] == {**WORKER_DEFAULTS, "bootstrap.servers": "here:9092"}

    def test_without_any_it_says_how_to_get_one(self, spark: FakeSpark, connector: Path) -> None:
        result = _run(connector, servers=False)

        assert result.exit_code == 1
        assert "kconnect broker start" in result.stdout


class TestErrors:
    def test_all_errors_of_a_configuration_are_shown(self, spark: FakeSpark, tmp_path: Path) -> None:
        file = tmp_path / "bad.json"
        file.write_text(json.dumps({"name": "x", "config": {"connector.class": "FileStreamSource", "tasks.max": "y"}}))

        result = _run(file, "--dry-run")

        assert result.exit_code == 1
        assert "tasks.max" in result.stdout
        assert "topic" in result.stdout
        assert not (spark.folder / "command.json").exists()

    @pytest.fixture
    def of_airflow(self, tmp_path: Path) -> Path:
        config = {"connector.class": "FileStreamSource", "topic": "t", "file": "${airflow-var:file}"}
        file = tmp_path / "orders.json"
        file.write_text(json.dumps({"name": "orders", "config": config}))
        return file

    def test_variables_of_airflow_need_airflow(
        self, spark: FakeSpark, of_airflow: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(airflow_variables, "find_spec", lambda name: None)

        result = _run(of_airflow, "--json", "--dry-run")

        assert result.exit_code == 1
        assert "needs Airflow" in json.loads(result.stdout)["error"]["errors"]["file"][0]
        assert not (spark.folder / "command.json").exists()

    def test_variables_of_airflow_are_looked_up_where_it_is_installed(
        self, spark: FakeSpark, of_airflow: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AIRFLOW_VAR_FILE", "/data/in.txt")

        result = _run(of_airflow, "--json")

        assert json.loads(result.stdout)["connector"] == "lines", result.output
        assert _spec(spark)["variables"] == {"airflow-var::file": "/data/in.txt"}
        assert _spec(spark)["config"]["file"] == "${airflow-var:file}"

    @pytest.mark.parametrize("content", ["{", "[]", "", '{"name": 1, "config": {"x": {}}}', "\ufeff{}"])
    def test_a_broken_file_is_one_error_and_no_traceback(self, spark: FakeSpark, tmp_path: Path, content: str) -> None:
        file = tmp_path / "broken.json"
        file.write_text(content)

        result = _run(file, "--json")

        assert result.exit_code == 1
        assert isinstance(result.exception, SystemExit)
        assert json.loads(result.stdout)["error"]["exit_code"] == 1
        assert "Traceback" not in result.stderr

    @pytest.mark.parametrize("code", [1, 3, 4, 5])
    def test_the_jobs_error_and_exit_code_are_ours(self, spark: FakeSpark, connector: Path, code: int) -> None:
        event = event_line("error", error="X", message="broker is unavailable", exit_code=code, errors=None)
        spark.behave(printing(event, exit_code=code))

        result = _run(connector, "--json")

        assert result.exit_code == code
        assert json.loads(result.stdout)["error"]["message"] == "broker is unavailable"
        assert "broker is unavailable" in result.stderr

    def test_a_silent_end_of_spark_shows_its_last_lines(self, spark: FakeSpark, connector: Path) -> None:
        spark.behave(printing("no such master", exit_code=1))

        result = _run(connector, "--dry-run")

        assert result.exit_code == 5
        assert "no such master" in result.stdout
        assert "spark-submit ended with exit code 1" in result.stdout

    @pytest.mark.parametrize("pair", ["spark.x", "=1", ""])
    def test_a_setting_that_is_not_a_pair_is_wrong_usage(self, connector: Path, pair: str) -> None:
        assert _run(connector, "--conf", pair).exit_code == 2

    def test_speculation_is_refused(self, spark: FakeSpark, connector: Path) -> None:
        assert _run(connector, "--conf", "spark.speculation=true").exit_code == 1

    def test_the_job_gets_its_id_and_where_it_comes_from(self, spark: FakeSpark, connector: Path) -> None:
        _run(connector)
        spec = _spec(spark)
        assert spec["run_id"]
        assert spec["origin"] == {"file": str(connector), "host": socket.gethostname()}

    def test_an_interrupted_run_says_that_nothing_is_lost(self, spark: FakeSpark, connector: Path) -> None:
        spark.behave("import pathlib, sys, time\npathlib.Path(sys.argv[0]).with_name('up').touch()\ntime.sleep(300)")
        # A dry run: a live one would ask the broker first.
        command = [sys.executable, "-m", "airflow_kconnect.cli", "run", str(connector), "--json", "--dry-run"]
        process = subprocess.Popen(
            [*command, "--bootstrap-servers", "broker:9092"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        deadline = time.monotonic() + 120
        while not (spark.folder / "up").exists() and time.monotonic() < deadline:
            time.sleep(0.05)

        os.kill(process.pid, signal.SIGINT)

        out, err = process.communicate(timeout=120)
        assert process.returncode == 130
        assert "continues where" in json.loads(out)["error"]["message"]
        assert "Traceback" not in err


class TestReplay:
    DAY = ("--replay", "2026-01-01/2026-01-02")

    def test_the_job_gets_the_interval(self, spark: FakeSpark, connector: Path) -> None:
        _run(connector, *self.DAY)
        replay = _spec(spark)["replay"]
        assert (replay["start_ms"], replay["end_ms"]) == (1767225600000, 1767312000000)

    def test_the_same_command_has_the_same_key(self, spark: FakeSpark, connector: Path) -> None:
        keys = set()
        for _ in range(2):
            _run(connector, *self.DAY)
            keys.add(_spec(spark)["replay"]["key"])
        assert len(keys) == 1

    def test_again_has_another_one(self, spark: FakeSpark, connector: Path) -> None:
        _run(connector, *self.DAY)
        first = _spec(spark)["replay"]["key"]
        _run(connector, *self.DAY, "--again")
        assert _spec(spark)["replay"]["key"] != first

    @pytest.mark.parametrize("options", [("--replay", "2026"), ("--replay", "2026-01-01/2026-01-01"), ("--again",)])
    def test_what_is_not_an_interval_is_wrong_usage(
        self, spark: FakeSpark, connector: Path, options: tuple[str, ...]
    ) -> None:
        assert _run(connector, *options).exit_code == 2

    def test_a_connector_that_cannot_replay_says_so_before_spark_starts(self, spark: FakeSpark, tmp_path: Path) -> None:
        file = tmp_path / "sink.json"
        file.write_text(json.dumps({"name": "s", "connector.class": "FileStreamSink", "topics": "t", "file": "/out"}))
        assert "would stand twice" in _run(file, *self.DAY).stdout
        assert not (spark.folder / "command.json").exists()

    def test_a_replay_that_was_done_before_says_so(self, spark: FakeSpark, connector: Path) -> None:
        report = REPORT | {"replay": "a/b", "notes": {"already_replayed": True}}
        spark.behave(printing(event_line("report", report=report)))
        assert "a/b was moved before: nothing was done; `--again` moves it again" in _run(connector).stdout


class TestDryRun:
    def test_the_job_only_plans(self, spark: FakeSpark, connector: Path) -> None:
        _run(connector, "--dry-run")
        assert _spec(spark)["dry_run"] is True

    @pytest.mark.parametrize(
        ("notes", "text"),
        [
            ({"would_read_offsets": 1234}, "1,234 offsets would be read"),
            (
                {"would_read": [{"source_partition": {"filename": "/in"}, "start": 0, "end": 9, "detail": {}}]},
                '{"filename": "/in"} 0 to 9',
            ),
        ],
    )
    def test_it_shows_what_would_be_read(
        self, spark: FakeSpark, connector: Path, notes: dict[str, Any], text: str
    ) -> None:
        spark.behave(printing(event_line("report", report=REPORT | {"notes": {"dry_run": True, **notes}})))
        assert text in _run(connector, "--dry-run").stdout


class TestValidate:
    def test_a_valid_one(self, connector: Path) -> None:
        result = CliRunner().invoke(app, ["validate", str(connector)])
        assert (result.exit_code, result.stdout) == (0, "Connector lines (source) is valid.\n")

    def test_json_describes_it(self, connector: Path) -> None:
        result = CliRunner().invoke(app, ["validate", str(connector), "--json"])
        assert json.loads(result.stdout)["kind"] == "source"

    def test_all_errors_are_shown(self, tmp_path: Path) -> None:
        file = tmp_path / "bad.json"
        file.write_text(json.dumps({"name": "x", "connector.class": "FileStreamSource", "tasks.max": "y"}))
        result = CliRunner().invoke(app, ["validate", str(file), "--json"])
        assert result.exit_code == 1
        assert {"tasks.max", "topic", "file"} <= json.loads(result.stdout)["errors"].keys()

    def test_many_are_checked_each(self, connector: Path, tmp_path: Path) -> None:
        (tmp_path / "bad.json").write_text(json.dumps({"name": "x", "connector.class": "FileStreamSource"}))
        result = CliRunner().invoke(app, ["validate", "--folder", str(tmp_path), "--json"])
        answers = json.loads(result.stdout)["connectors"]
        assert result.exit_code == 1
        assert {Path(file).name: "errors" in answer for file, answer in answers.items()} == {
            "bad.json": True,
            "lines.json": False,
        }

    def test_none_is_wrong_usage(self) -> None:
        assert CliRunner().invoke(app, ["validate"]).exit_code == 2


class TestApp:
    def test_version(self) -> None:
        assert CliRunner().invoke(app, ["--version"]).stdout == f"kconnect {__version__}\n"

    def test_help_shows_an_example_and_the_exit_codes(self) -> None:
        text = CliRunner().invoke(app, ["run", "--help"]).stdout

        assert "kconnect run orders.json" in text
        assert "Exit codes" in text


class TestHint:
    @pytest.fixture
    def pyspark(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SparkSubmit:
        monkeypatch.setenv("KCONNECT_CACHE", str(tmp_path / "cache"))
        return pyspark_package(tmp_path)

    def test_names_the_command_that_lets_spark_start_sooner(self, pyspark: SparkSubmit) -> None:
        assert "`kconnect spark archive`" in str(archive_hint(pyspark))

    def test_is_not_given_once_it_has_been_typed(self, pyspark: SparkSubmit) -> None:
        write_program(pyspark, WRITES_ARCHIVE)
        make_class_archive(pyspark)
        assert archive_hint(pyspark) is None

    def test_is_not_given_for_a_distribution(self, pyspark: SparkSubmit) -> None:
        assert archive_hint(SparkSubmit(pyspark.program, pyspark.java, None)) is None
