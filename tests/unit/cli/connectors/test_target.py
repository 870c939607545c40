"""Which target options, a profile and the environment mean."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.cli.connectors.target import Target, chosen
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.remote.access import Credentials

SERVER = "http://connect:8083"


@pytest.fixture(autouse=True)
def profiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Profiles `rest` and `topics`."""
    file = tmp_path / "config.toml"
    file.write_text('[profiles.rest]\nserver = "http://other"\n[profiles.topics]\nbootstrap_servers = "k:9092"\n')
    monkeypatch.setenv("KCONNECT_CONFIG", str(file))


def _chosen(environment: Mapping[str, str] | None = None, **options: Any) -> Target:
    server, profile = options.get("server"), options.get("profile")
    return chosen(server, profile, options.get("worker"), options.get("bootstrap_servers"), environment or {})


@pytest.mark.parametrize(
    ("options", "environment", "expected"),
    [
        ({}, {}, Target()),
        ({}, {"KCONNECT_SERVER": SERVER}, Target(SERVER)),
        ({}, {"KCONNECT_SERVER": SERVER, "KCONNECT_WORKER": "w"}, Target(SERVER)),
        ({"worker": Path("w")}, {"KCONNECT_SERVER": SERVER}, Target(worker=Path("w"))),
        ({"bootstrap_servers": "b"}, {"KCONNECT_WORKER": "w"}, Target(worker=Path("w"), bootstrap_servers="b")),
        ({"profile": "topics"}, {"KCONNECT_SERVER": SERVER}, Target(bootstrap_servers="k:9092")),
        ({"profile": "rest"}, {"KCONNECT_WORKER": "w"}, Target("http://other")),
        ({"profile": "rest", "bootstrap_servers": "b"}, {}, Target(bootstrap_servers="b")),
        ({"server": SERVER}, {"KCONNECT_PROFILE": "topics"}, Target(SERVER)),
        ({}, {"KCONNECT_PROFILE": "topics"}, Target(bootstrap_servers="k:9092")),
        ({}, {"KCONNECT_PROFILE": "rest", "KCONNECT_WORKER": "w"}, Target(worker=Path("w"))),
    ],
)
def test_what_is_closer_wins(options: dict[str, Any], environment: dict[str, str], expected: Target) -> None:
    assert _chosen(environment, **options) == expected


def test_two_places_on_the_command_line_are_an_error() -> None:
    with pytest.raises(ConfigError, match="names another target"):
        _chosen(server=SERVER, worker=Path("w"))


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"KCONNECT_TOKEN": "t"}, Credentials("t")),
        ({"KCONNECT_USER": "u", "KCONNECT_PASSWORD": "p"}, Credentials(None, "u", "p")),
    ],
)
def test_credentials_are_in_the_environment(environment: dict[str, str], expected: Credentials) -> None:
    assert _chosen(environment, server=SERVER).credentials == expected


@pytest.mark.parametrize("environment", [{"KCONNECT_TOKEN": "t", "KCONNECT_USER": "u"}, {"KCONNECT_USER": "u"}])
def test_half_a_login_and_two_are_errors(environment: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        _chosen(environment, server=SERVER)
