"""`kconnect run` of many connectors as a user meets it, around a spark-submit that is a script."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from airflow_kconnect.cli import app
from airflow_kconnect.runs.events import event_line
from airflow_kconnect.runs.report import RunReport
from tests.support.spark.fake_spark import FakeSpark, printing

Connector = Callable[..., Path]


@pytest.fixture
def spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSpark:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    monkeypatch.setenv("KCONNECT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("COLUMNS", "200")
    # No broker is here that target states could be read from, nor one that could be told how a run has failed: where
    # one fails, it is a dry run.
    monkeypatch.setattr(sys.modules["airflow_kconnect.cli.running.group"], "not_started", lambda names, worker: {})
    return FakeSpark(tmp_path / "bin")


@pytest.fixture
def connector(tmp_path: Path) -> Connector:
    """Write a connector's file: `connector("orders", topic="t")`."""
    folder = tmp_path / "connectors"
    folder.mkdir()

    def write(name: str, **more: str) -> Path:
        config = {"connector.class": "FileStreamSource", "file": "/data/in", "topic": f"t-{name}"} | more
        file = folder / f"{name}.json"
        file.write_text(json.dumps({"name": name, "config": config}))
        return file

    return write


def run(*arguments: object) -> Result:
    options = ["--bootstrap-servers", "broker:9092"]
    return CliRunner().invoke(app, ["run", *map(str, arguments), *options])


def report(name: str, written: int = 7, **more: Any) -> str:
    records = {"read": written, "written": written}
    of = RunReport(name, "source", "C", "r", records=records, durations_s={"total": 0.4}, **more)
    return event_line("report", connector=name, report=of.as_dict())


def error(name: str, message: str = "broker is unavailable", code: int = 3, **more: Any) -> str:
    return event_line("error", connector=name, error="RetriableError", message=message, exit_code=code, **more)


def phase(name: str) -> str:
    return event_line("phase", connector=name, name="planning")


def test_one_job_runs_them_all(spark: FakeSpark, connector: Connector) -> None:
    run(connector("a"), connector("b"), "--max-parallel", 3)
    spec = spark.run["spec"]
    assert ([each["config"]["name"] for each in spec["runs"]], spec["max_parallel"]) == (["a", "b"], 3)


def test_a_folder_is_all_of_its_connectors(spark: FakeSpark, connector: Connector, tmp_path: Path) -> None:
    connector("a"), connector("b")
    run("--folder", tmp_path / "connectors")
    assert [each["origin"]["file"] for each in spark.run["spec"]["runs"]] == [
        str(tmp_path / "connectors" / name) for name in ("a.json", "b.json")
    ]


def test_a_line_tells_of_each_that_has_ended(spark: FakeSpark, connector: Connector) -> None:
    spark.behave(printing(phase("a"), report("a", 1000), error("b")))
    shown = run(connector("a"), connector("b")).stdout
    assert "[1/2] a: 1,000 records written in 0.4 s" in shown
    assert "[2/2] b failed: broker is unavailable" in shown
    assert "planning" not in shown


def test_a_wrong_one_does_not_keep_the_others_from_running(spark: FakeSpark, connector: Connector) -> None:
    spark.behave(printing(report("a")))
    result = run(connector("a"), connector("b", topic=""), "--dry-run")
    assert result.exit_code == 1
    assert [each["config"]["name"] for each in spark.run["spec"]["runs"]] == ["a"]


def test_nor_does_one_that_cannot_be_read(spark: FakeSpark, connector: Connector, tmp_path: Path) -> None:
    spark.behave(printing(report("a")))
    (tmp_path / "connectors" / "broken.json").write_text("{")
    result = run(connector("a"), tmp_path / "connectors" / "broken.json", "--json")
    ended = json.loads(result.stdout)["connectors"]
    assert {name: list(end) for name, end in ended.items()} == {
        "a": ["report"],
        str(tmp_path / "connectors" / "broken.json"): ["error"],
    }


def test_a_file_that_is_called_as_another_connector_fails_all_the_same(
    spark: FakeSpark, connector: Connector, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a").write_text("{")
    spark.behave(printing(report("a")))
    result = run("a", connector("a"), "--json")
    assert result.exit_code == 1
    assert sorted(map(sorted, json.loads(result.stdout)["connectors"].values())) == [["error"], ["report"]]


def test_all_errors_of_all_are_shown_at_once(spark: FakeSpark, connector: Connector) -> None:
    shown = run(connector("a", topic=""), connector("b", **{"tasks.max": "x"}), "--dry-run").stdout
    assert "Failed: a" in shown and "Failed: b" in shown
    assert "tasks.max" in shown
    assert not (spark.folder / "command.json").exists()


def test_json_is_one_line_with_how_each_has_ended(spark: FakeSpark, connector: Connector) -> None:
    spark.behave(printing(report("a"), error("b")))
    result = run(connector("a"), connector("b"), "--json")
    assert result.stdout.count("\n") == 1
    answer = json.loads(result.stdout)
    assert answer["connectors"]["a"]["report"]["records"] == {"read": 7, "written": 7}
    assert answer["connectors"]["b"]["error"]["message"] == "broker is unavailable"
    assert answer["exit_code"] == result.exit_code == 3


def test_one_that_fails_because_of_its_warnings_has_both(spark: FakeSpark, connector: Connector) -> None:
    spark.behave(printing(report("a"), error("a", "what was moved is committed", 1), report("b")))
    ended = json.loads(run(connector("a"), connector("b"), "--json").stdout)["connectors"]
    assert sorted(ended["a"]) == ["error", "report"]


def test_paused_ones_are_named_and_not_run(
    spark: FakeSpark, connector: Connector, monkeypatch: pytest.MonkeyPatch
) -> None:
    group = sys.modules["airflow_kconnect.cli.running.group"]
    monkeypatch.setattr(group, "not_started", lambda names, worker: {"b": "PAUSED"})
    spark.behave(printing(report("a")))
    result = run(connector("a"), connector("b"), "--json")
    assert "Connector b is paused: nothing was moved" in result.stderr
    assert json.loads(result.stdout)["connectors"]["b"] == {"state": "PAUSED"}
    assert result.exit_code == 0


def test_those_of_which_a_dead_job_has_said_nothing_are_lost(spark: FakeSpark, connector: Connector) -> None:
    spark.behave(printing(report("a"), "killed", exit_code=137))
    result = run(connector("a"), connector("b"), connector("c"))
    assert result.exit_code == 3
    assert "Failed: b, c" in result.stdout
    assert "killed" in result.stdout
    assert "the next run resumes it" in result.stdout


def test_a_job_that_never_began_is_an_error_of_its_own(spark: FakeSpark, connector: Connector) -> None:
    spark.behave(printing("no such master", exit_code=1))
    result = run(connector("a"), connector("b"))
    assert result.exit_code == 5
    assert "spark-submit ended with exit code 1 before the job could report" in result.stdout


def test_replays_are_those_of_all(spark: FakeSpark, connector: Connector) -> None:
    run(connector("a"), connector("b"), "--replay", "2026-01-01/2026-01-02")
    replays = [each["replay"] for each in spark.run["spec"]["runs"]]
    assert {replay["start_ms"] for replay in replays} == {1767225600000}
    assert len({replay["key"] for replay in replays}) == 2


def test_a_warning_of_many_is_one_line(spark: FakeSpark, connector: Connector) -> None:
    spark.behave(printing(*(report(name, warnings=["tasks.max has no effect"]) for name in "ab")))
    assert "Warning (unknown): a, b: tasks.max has no effect" in run(connector("a"), connector("b")).stdout


@pytest.mark.parametrize("arguments", [(), ("--max-parallel", "0")])
def test_without_connectors_it_is_wrong_usage(arguments: tuple[str, ...]) -> None:
    assert run(*arguments).exit_code == 2


def test_a_name_that_is_there_twice_is_wrong_usage(spark: FakeSpark, connector: Connector, tmp_path: Path) -> None:
    copy = tmp_path / "copy.json"
    copy.write_text(connector("a").read_text())
    result = run(tmp_path / "connectors" / "a.json", copy)
    assert result.exit_code == 2
    assert "connector a is there 2 times" in result.stderr


def test_a_folder_without_connectors_is_an_error(spark: FakeSpark, connector: Connector, tmp_path: Path) -> None:
    result = run("--folder", tmp_path / "connectors")
    assert (result.exit_code, "has no connector files" in result.stdout) == (1, True)


def test_many_are_shown_if_there_is_something_to_say(spark: FakeSpark, connector: Connector, tmp_path: Path) -> None:
    names = [f"c{n:02}" for n in range(40)]
    files = [connector(name) for name in names]
    spark.behave(printing(*(report(name) for name in names[1:]), error("c00")))
    shown = run(*files).stdout
    table = shown[shown.index("Connector  End") :]
    assert "40 connectors: 39 done, 1 failed; 273 records written." in table
    assert "c01" not in table


def test_an_interrupted_one_tells_what_has_ended(spark: FakeSpark, connector: Connector) -> None:
    spark.behave(
        f"print({report('a')!r}); print({phase('b')!r})\n"
        # More than a pipe holds: what came before has been read then.
        "import pathlib, sys, time\nsys.stdout.write('x' * 200_000)\nsys.stdout.flush()\n"
        "pathlib.Path(sys.argv[0]).with_name('up').touch()\ntime.sleep(300)"
    )
    # A dry run: a live one would ask the broker first.
    command = [sys.executable, "-m", "airflow_kconnect.cli", "run", "--json", "--dry-run"]
    command += ["--bootstrap-servers", "broker:9092", str(connector("a")), str(connector("b"))]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not (spark.folder / "up").exists() and time.monotonic() < deadline:
        time.sleep(0.05)

    os.kill(process.pid, signal.SIGINT)

    out, err = process.communicate(timeout=120)
    ended = json.loads(out)["connectors"]
    assert process.returncode == 130
    assert (list(ended["a"]), ended["b"]["error"]["error"]) == (["report"], "KeyboardInterrupt")
    assert "2 connectors: 1 done, 1 interrupted; 7 records written." in err
    assert "Failed" not in err and "Traceback" not in err
