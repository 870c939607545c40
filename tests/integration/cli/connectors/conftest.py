"""The commands on a worker's topics of their own, straight and over `kconnect rest`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from airflow_kconnect.cli import app
from tests.support import unique
from tests.support.control import control_worker
from tests.support.pages.rest_server import rest_server

Kconnect = Callable[..., Result]
CONFIG = {"connector.class": "FileStreamSource", "file": "/data/in.txt", "topic": "t", "tasks.max": "1"}


@pytest.fixture(scope="module")
def control_file(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A worker file whose topics belong to this module."""
    path = tmp_path_factory.mktemp("worker") / "worker.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in control_worker(bootstrap).items()))
    return path


@pytest.fixture(scope="module")
def url(control_file: Path) -> Iterator[str]:
    """The URL of a server for these topics."""
    with rest_server(control_file) as served:
        yield served


@pytest.fixture(scope="module", params=["topics", "rest"])
def place(request: pytest.FixtureRequest, control_file: Path) -> list[str]:
    """The options that name the place."""
    if request.param == "topics":
        return ["--worker", str(control_file)]
    return ["--server", request.getfixturevalue("url")]


@pytest.fixture
def kconnect(place: list[str], monkeypatch: pytest.MonkeyPatch) -> Kconnect:
    """The command: `kconnect("describe", name)`."""
    monkeypatch.setenv("COLUMNS", "300")

    def go(*arguments: object, stdin: str | None = None) -> Result:
        return CliRunner().invoke(app, [*map(str, arguments), *place], input=stdin)

    return go


@pytest.fixture
def name(kconnect: Kconnect) -> str:
    """A registered connector. It stays: the topics are this module's alone."""
    chosen = unique("lines")
    created = kconnect("create", "-", stdin=json.dumps({"name": chosen, "config": CONFIG}))
    assert created.exit_code == 0, created.output
    return chosen


@pytest.fixture
def answer(kconnect: Kconnect) -> Callable[..., Any]:
    """What a command prints in JSON."""

    def go(*arguments: object) -> Any:
        result = kconnect(*arguments, "--json")
        assert result.exit_code == 0, result.output
        (line,) = result.stdout.splitlines()
        return json.loads(line)

    return go
