"""`kconnect pause`, `resume`, `stop` and `offsets` as a user meets them, with a real broker."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from airflow_kconnect.cli import app
from airflow_kconnect.connect.record import TopicPartition
from airflow_kconnect.kafka.positions_text import resume_command
from airflow_kconnect.stores.status_topic.records import Status
from airflow_kconnect.stores.status_topic.store import StatusStore
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.support import unique
from tests.support.kafka import produce

Kconnect = Callable[..., Result]

REPOSITORY = Path(__file__).parents[4]
OFFSETS = {"offsets": [{"partition": {"filename": "/data/in"}, "offset": {"position": 7}}]}


@pytest.fixture
def kconnect(worker_file: Path, monkeypatch: pytest.MonkeyPatch) -> Kconnect:
    """The command: `kconnect("pause", name)`; its tables are wide enough for whole texts."""
    monkeypatch.setenv("COLUMNS", "500")

    def go(*arguments: object, stdin: str | None = None) -> Result:
        return CliRunner().invoke(app, [*map(str, arguments), "--worker", str(worker_file)], input=stdin)

    return go


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A connector's file."""
    config = {"name": unique("lines"), "connector.class": "FileStreamSource", "file": "/data/in", "topic": "t"}
    path = tmp_path / "lines.json"
    path.write_text(json.dumps(config))
    return path


def _name(file: Path) -> str:
    return str(json.loads(file.read_text())["name"])


def _status(worker: dict[str, str], name: str) -> Status:
    store = StatusStore(WorkerConfig.from_props(worker))
    store.refresh()
    status = store.connector(name).status
    assert status is not None
    return status


def _shown(kconnect: Kconnect, connector: object) -> Any:
    return json.loads(kconnect("offsets", "show", connector, "--json").stdout)


class TestStates:
    def test_a_paused_connector_is_not_run_and_that_is_not_a_failure(self, kconnect: Kconnect, file: Path) -> None:
        assert kconnect("pause", _name(file), "--force").stdout == f"Connector {_name(file)} is paused.\n"
        result = kconnect("run", file)
        assert result.exit_code == 0
        assert f"is paused: nothing was moved. Resume it with `kconnect resume {_name(file)}`" in result.stdout

    def test_the_status_follows(self, kconnect: Kconnect, file: Path, worker_props: dict[str, str]) -> None:
        for command, state in (("pause", "PAUSED"), ("stop", "STOPPED"), ("resume", "RUNNING")):
            kconnect(command, _name(file), "--force")
            assert _status(worker_props, _name(file)).state.value == state

    def test_a_wrong_configuration_is_shown_in_the_status(
        self, kconnect: Kconnect, file: Path, worker_props: dict[str, str]
    ) -> None:
        file.write_text(json.dumps(json.loads(file.read_text()) | {"tasks.max": "many"}))
        assert kconnect("run", file).exit_code == 1
        assert "tasks.max" in (_status(worker_props, _name(file)).trace or "")

    def test_a_typing_error_in_a_name_is_an_error_with_the_right_one(self, kconnect: Kconnect, file: Path) -> None:
        kconnect("pause", file)
        mistyped = _name(file).replace("lines", "liens")
        for command in ("pause", "stop", "resume", "status", "offsets show", "lag"):
            result = kconnect(*command.split(), mistyped)
            assert result.exit_code == 1, command
            told = " ".join(result.output.split())
            assert f"no connector `{mistyped}` is registered or has run: did you mean `{_name(file)}`?" in told

    def test_json_says_it_too(self, kconnect: Kconnect, file: Path) -> None:
        kconnect("stop", file)
        found = json.loads(kconnect("run", file, "--json").stdout)
        assert (found["connector"], found["state"]) == (_name(file), "STOPPED")


class TestRunbook:
    def test_the_commands_against_a_bad_record_put_the_sink_after_it(
        self,
        kconnect: Kconnect,
        topic: Callable[..., str],
        bootstrap: str,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        page = (REPOSITORY / "docs" / "runbooks" / "bad-record.md").read_text(encoding="utf-8")
        request, commands = re.findall(r"^```(?:jsonc|bash)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
        name = topic()
        produce(bootstrap, name, [str(n) for n in range(8)])
        sink = {"name": unique("sink"), "connector.class": "DirectorySink", "topics": name, "directory": str(tmp_path)}
        monkeypatch.chdir(tmp_path)
        Path("orders-sink.json").write_text(json.dumps(sink))
        Path("offsets.json").write_text(request.replace('"orders"', json.dumps(name)))
        for command in commands.splitlines():
            program, *arguments = shlex.split(command)
            assert program == "kconnect"
            assert kconnect(*arguments).exit_code == 0, command
        (found,) = _shown(kconnect, "orders-sink.json")["offsets"]
        assert found["offset"] == {"kafka_offset": 6}

    def test_the_command_of_an_error_sets_the_offsets_that_it_names(
        self, kconnect: Kconnect, topic: Callable[..., str], bootstrap: str, tmp_path: Path
    ) -> None:
        name = topic(2)
        produce(bootstrap, name, [str(n) for n in range(8)], partition=1)
        sink = {"name": unique("sink"), "connector.class": "DirectorySink", "topics": name, "directory": str(tmp_path)}
        file = tmp_path / "my orders.json"
        file.write_text(json.dumps(sink))
        positions = {TopicPartition(name, 1): 6, TopicPartition(name, 0): 0}
        for command in resume_command(str(file), positions).split(" && "):
            result = kconnect(*shlex.split(command)[1:])
            assert result.exit_code == 0, (command, result.output)
        assert [each["offset"] for each in _shown(kconnect, file)["offsets"]] == [
            {"kafka_offset": 0},
            {"kafka_offset": 6},
        ]

    def test_offsets_are_given_once(self, kconnect: Kconnect, file: Path) -> None:
        for given in ([], ["-", "--at", "t:0=1"]):
            result = kconnect("offsets", "alter", file, *given)
            assert (result.exit_code, "give either OFFSETS_FILE or --at" in result.output) == (2, True)


class TestOffsets:
    def test_from_stop_to_resume(self, kconnect: Kconnect, file: Path) -> None:
        kconnect("stop", file)
        altered = kconnect("offsets", "alter", file, "-", stdin=json.dumps(OFFSETS))
        assert altered.stdout == "The offsets for this connector have been altered successfully\n"
        assert _shown(kconnect, file) == OFFSETS
        assert kconnect("offsets", "show", _name(file)).stdout == '{"filename": "/data/in"} -> {"position": 7}\n'
        assert kconnect("offsets", "reset", file, "--json").exit_code == 0
        assert _shown(kconnect, file) == {"offsets": []}
        assert kconnect("resume", file).exit_code == 0

    def test_a_started_connector_keeps_its_offsets(self, kconnect: Kconnect, file: Path) -> None:
        assert kconnect("offsets", "show", file).stdout == "No offsets are committed.\n"
        result = kconnect("offsets", "alter", file, "-", stdin=json.dumps(OFFSETS))
        assert result.exit_code == 1
        assert "must be in the STOPPED state" in result.stderr

    def test_a_request_that_is_none_is_one_line(self, kconnect: Kconnect, file: Path) -> None:
        kconnect("stop", file)
        for text, problem in (("{", "is not JSON"), ("{}", "need to be provided")):
            result = kconnect("offsets", "alter", file, "-", stdin=text)
            assert result.exit_code == 1
            assert problem in result.stderr
            assert "Traceback" not in result.output
