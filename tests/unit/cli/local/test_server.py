"""What `kconnect broker` and `kconnect registry` print about a server, and their exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from airflow_kconnect.cli import app
from airflow_kconnect.cli.local.server import ServerCommands
from airflow_kconnect.local.broker import BrokerStatus
from airflow_kconnect.local.registry import RegistryStatus

_BROKER = ServerCommands("broker", product="Kafka", owner="Kafka's")
_REGISTRY = ServerCommands("registry", product="Apicurio Registry", owner="The registry's")
_DATA = Path("/data")


class TestStarted:
    def test_a_broker_is_reported_with_its_address(self, capsys: pytest.CaptureFixture[str]) -> None:
        _BROKER.show_started(BrokerStatus("running", _DATA, "127.0.0.1:1", pid=7, version="4"))
        assert capsys.readouterr().out == "Kafka 4 runs at 127.0.0.1:1 (pid 7, data in /data).\n"

    def test_a_registry_is_reported_with_its_url(self, capsys: pytest.CaptureFixture[str]) -> None:
        _REGISTRY.show_started(RegistryStatus("running", _DATA, "http://a", 7, "3"))
        assert capsys.readouterr().out == "Apicurio Registry 3 runs at http://a (pid 7, data in /data).\n"

    def test_a_note_goes_to_standard_error(self, capsys: pytest.CaptureFixture[str]) -> None:
        _BROKER.show_started(BrokerStatus("running", _DATA, note="The broker is already running."))
        assert capsys.readouterr().err == "The broker is already running.\n"


class TestStatus:
    @pytest.mark.parametrize(
        ("commands", "status", "sentence"),
        [
            (
                _BROKER,
                BrokerStatus("starting", _DATA, "127.0.0.1:1", pid=7),
                "Kafka's process 7 is running, but does not answer at 127.0.0.1:1.",
            ),
            (
                _REGISTRY,
                RegistryStatus("starting", _DATA, "http://a", 7),
                "The registry's process 7 is running, but does not answer at http://a.",
            ),
            (_REGISTRY, RegistryStatus("stopped", _DATA), "No registry is running in /data."),
        ],
    )
    def test_of_a_server_that_does_not_answer_ends_with_3(
        self,
        capsys: pytest.CaptureFixture[str],
        commands: ServerCommands,
        status: BrokerStatus | RegistryStatus,
        sentence: str,
    ) -> None:
        with pytest.raises(typer.Exit) as ended:
            commands.show_status(status, as_json=False)
        assert (ended.value.exit_code, capsys.readouterr().out) == (3, f"{sentence}\n")

    def test_json_has_the_fields_of_the_status(self, capsys: pytest.CaptureFixture[str]) -> None:
        _REGISTRY.show_status(RegistryStatus("running", _DATA, "http://a", 7, "3"), as_json=True)
        assert json.loads(capsys.readouterr().out) == {
            "state": "running",
            "data": "/data",
            "url": "http://a",
            "pid": 7,
            "version": "3",
            "note": "",
        }


@pytest.mark.parametrize("name", ["broker", "registry"])
def test_stopping_what_does_not_run_is_not_an_error(name: str, tmp_path: Path) -> None:
    ended = CliRunner().invoke(app, [name, "stop", "--data", str(tmp_path)])
    assert (ended.exit_code, ended.stdout) == (0, f"No {name} is running in {tmp_path}.\n")
