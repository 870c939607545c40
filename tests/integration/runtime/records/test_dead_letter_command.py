"""`kconnect dlq replay` as a user runs it: a real job, after the configuration was fixed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from airflow_kconnect.cli import app
from airflow_kconnect.runs.events import EXIT_OK
from tests.integration.runtime.conftest import Run
from tests.integration.runtime.test_directory_pipeline import SCHEMALESS, lines
from tests.support import unique
from tests.support.kafka import produce, read_all

MESSAGES = ['{"n":0}', "no json", '{"n":2}', "neither"]


@pytest.fixture
def config(topic: Callable[..., str], bootstrap: str, tmp_path: Path, run_here: Run) -> dict[str, str]:
    """A sink that has made dead letters of what its converter cannot read, and has another converter now."""
    name = topic()
    produce(bootstrap, name, MESSAGES, key="k", headers=[("own", b"1")])
    config = {
        "name": unique("sink"),
        "connector.class": "DirectorySink",
        "directory": str(tmp_path / "out"),
        "topics": name,
        "key.converter": "StringConverter",
        "errors.tolerance": "all",
        "errors.deadletterqueue.topic.name": unique("dead"),
        "errors.deadletterqueue.topic.replication.factor": "1",
        "errors.deadletterqueue.context.headers.enable": "true",
        **SCHEMALESS,
    }
    assert run_here(config).records["dead_lettered"] == 2
    return config | {"value.converter": "StringConverter"}


@pytest.fixture
def replay(worker_file: Path, tmp_path: Path) -> Callable[[dict[str, str]], Result]:
    """The command with a connector's file."""

    def go(config: dict[str, str]) -> Result:
        file = tmp_path / "connector.json"
        file.write_text(json.dumps(config))
        options = ["--worker", str(worker_file), "--master", "local[2]", "--json"]
        return CliRunner().invoke(app, ["dlq", "replay", str(file), *options])

    return go


# What the command tells a job: `cli/connectors/test_names.py`; what that does: `test_tolerance.py`.
@pytest.mark.exhaustive
@pytest.mark.timeout(240)
def test_what_is_fixed_arrives_once(
    config: dict[str, str], replay: Callable[..., Result], bootstrap: str, run_here: Run
) -> None:
    result = replay(config)
    assert result.exit_code == EXIT_OK, result.output
    assert json.loads(result.stdout)["records"] == {"read": 2, "written": 2, "filtered": 0, "dead_lettered": 0}
    assert sorted(map(str, lines(config))) == sorted(["no json", "neither", "{'n': 0}", "{'n': 2}"])
    assert run_here(config, replay=True).records["read"] == 0
    assert len(read_all(bootstrap, config["errors.deadletterqueue.topic.name"])) == 2


def test_a_sink_without_dead_letters_is_told_so(replay: Callable[..., Result], tmp_path: Path) -> None:
    config = {"name": unique("sink"), "connector.class": "DirectorySink", "directory": str(tmp_path), "topics": "t"}
    result = replay(config)
    error = json.loads(result.stdout)["error"]
    assert (result.exit_code, list(error["errors"])) == (1, ["errors.deadletterqueue.topic.name"])


def test_a_source_is_refused(replay: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "in.txt").touch()
    config = {"name": unique("source"), "connector.class": "FileStreamSource", "file": str(tmp_path / "in.txt")}
    result = replay(config | {"topic": "t"})
    error = json.loads(result.stdout)["error"]
    assert (result.exit_code, error["errors"].keys()) == (1, {"connector.class"})
    assert "only sinks can replay" in error["message"]
