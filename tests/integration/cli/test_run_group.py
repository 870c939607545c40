"""`kconnect run` of many connectors, with a real job."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest
from typer.testing import CliRunner

from airflow_kconnect.cli import app
from airflow_kconnect.stores.status_topic.store import StatusStore
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support import unique
from tests.support.kafka import eventually, read_values

STRING = "org.apache.kafka.connect.storage.StringConverter"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "connectors").mkdir()
    return tmp_path / "connectors"


@pytest.fixture
def source(folder: Path) -> Callable[..., str]:
    """Write the file of a file source with this number of lines; returns its name, and that of its topic."""

    def write(lines: int, **more: str) -> str:
        name = unique("lines")
        (folder.parent / f"{name}.txt").write_text("".join(f"{name}-{n}\n" for n in range(lines)))
        config = {
            "name": name,
            "connector.class": "FileStreamSource",
            "file": str(folder.parent / f"{name}.txt"),
            "topic": name,
            "value.converter": STRING,
        }
        (folder / f"{name}.json").write_text(json.dumps(config | more))
        return name

    return write


Source = Callable[..., str]


def run(folder: Path, worker_file: Path) -> tuple[int, dict[str, Any]]:
    result = CliRunner().invoke(app, ["run", "--folder", str(folder), "--worker", str(worker_file), "--json"])
    return result.exit_code, json.loads(result.stdout)


def state(worker: dict[str, str], name: str) -> str:
    store = StatusStore(WorkerConfig.from_props(worker))
    store.refresh()
    status = store.connector(name).status
    return "" if status is None else status.state.value


def test_a_folder_is_run_in_one_job_and_a_wrong_one_fails_alone(
    folder: Path, source: Source, worker_file: Path, worker_props: dict[str, str], bootstrap: str
) -> None:
    first, second, wrong, missing = source(10), source(20), source(1, topic=""), source(1, file="/does/not/exist")

    exit_code, answer = run(folder, worker_file)

    ended = answer["connectors"]
    assert (exit_code, answer["exit_code"]) == (1, 1)
    assert [ended[name]["report"]["records"]["written"] for name in (first, second)] == [10, 20]
    assert [len(read_values(bootstrap, name)) for name in (first, second)] == [10, 20]
    assert list(ended[wrong]["error"]["errors"]) == ["topic"]
    assert "/does/not/exist" in ended[missing]["error"]["message"]
    assert [state(worker_props, name) for name in (first, wrong)] == ["RUNNING", "FAILED"]


def test_a_group_is_its_registered_connectors_and_paused_ones_are_left_out(
    folder: Path, source: Source, worker_file: Path
) -> None:
    group, names = unique("group"), [source(1, **{"kconnect.group": "other"}), *(source(1) for _ in range(2))]
    worker = ["--worker", str(worker_file)]
    for name in names[1:]:
        config = json.loads((folder / f"{name}.json").read_text()) | {"kconnect.group": group}
        (folder / f"{name}.json").write_text(json.dumps(config))
    assert CliRunner().invoke(app, ["apply", "-f", str(folder), *worker]).exit_code == 0
    for name in names[1:]:
        assert CliRunner().invoke(app, ["pause", name, *worker]).exit_code == 0

    result = CliRunner().invoke(app, ["run", "--group", group, *worker, "--json"])

    assert json.loads(result.stdout)["connectors"] == {name: {"state": "PAUSED"} for name in sorted(names[1:])}
    assert result.exit_code == 0
    unknown = CliRunner().invoke(app, ["run", "--group", "none-such", *worker])
    assert (unknown.exit_code, group in unknown.stdout) == (1, True)


def test_after_a_kill_of_the_job_the_next_run_completes_what_is_left_exactly_once(
    folder: Path, source: Source, worker_file: Path, bootstrap: str, tmp_path: Path
) -> None:
    names = {source(30), source(30)}
    reached, log = tmp_path / "reached", tmp_path / "log"
    environment = os.environ | {"KCONNECT_TESTING": "1", "KCONNECT_FAILPOINT": f"before-final-commit:block:{reached}"}
    command = [sys.executable, "-m", "airflow_kconnect.cli", "run", "--folder", str(folder)]
    with log.open("w") as out:
        process = subprocess.Popen(
            [*command, "--worker", str(worker_file), "--json"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=out,
            text=True,
        )
    # One of them waits before its commit, and the other has ended.
    assert eventually(lambda: reached.exists() and "[1/2]" in log.read_text(), True), log.read_text()
    (job,) = psutil.Process(process.pid).children()

    os.kill(job.pid, signal.SIGKILL)

    answer = json.loads(process.communicate(timeout=60)[0])
    ended = {name for name, end in answer["connectors"].items() if "report" in end}
    (lost,) = names - ended
    assert process.returncode == 3
    assert "before this connector's run had ended" in answer["connectors"][lost]["error"]["message"]
    assert run(folder, worker_file)[0] == 0
    assert all(
        sorted(filter(None, read_values(bootstrap, name))) == sorted(f"{name}-{n}".encode() for n in range(30))
        for name in names
    )
