"""A real Connect cluster and a worker file of ours, between which connectors move."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from airflow_kconnect.cli import app
from airflow_kconnect.local.broker_files import worker_config
from tests.integration.runtime.conftest import (  # noqa: F401
    NumberedFile,
    Run,
    file_source,
    numbered,
    run_here,
)
from tests.support import unique
from tests.support.connect.worker import ConnectWorker
from tests.support.kafka import create_topic


@pytest.fixture(scope="module")
def connect(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectWorker]:
    """A distributed worker, exactly-once on, with topics that nothing else uses."""
    group = unique("cluster")
    with ConnectWorker.of_group(tmp_path_factory.mktemp("connect"), bootstrap, group, heap_mb=256) as worker:
        yield worker


@dataclass
class Side:
    """Our side: a worker file, and what is typed and run with it."""

    keys: dict[str, str]
    worker_file: Path
    folder: Path
    connect: ConnectWorker
    run_here: Run

    def type(self, *words: str) -> Result:
        """Type `kconnect migrate --from ... --worker ... --to ...`."""
        options = ["--from", self.connect.url, "--worker", str(self.worker_file), "--to", str(self.folder), "--json"]
        return CliRunner().invoke(app, ["migrate", *options, *words])

    def survey(self, name: str) -> dict[str, Any]:
        """What a dry run says about a connector."""
        (found,) = self._answer(self.type("--connector", name))["connectors"]
        return dict(found)

    def move(self, name: str, *words: str) -> list[str]:
        """Move a connector, and return the steps."""
        (outcome,) = self._answer(self.type("--connector", name, "--apply", *words))["moves"]
        return list(outcome["steps"])

    def back(self, name: str) -> list[str]:
        """Give a connector back."""
        return self.move(name, "--back")

    def run(self, name: str, **changes: str) -> Any:
        """Run the file of a connector, as its task would."""
        config = json.loads((self.folder / f"{name}.json").read_text())
        return self.run_here({**config, **changes}, **self.keys)

    @staticmethod
    def _answer(result: Result) -> dict[str, Any]:
        assert result.exit_code == 0, f"{result.stdout}{result.stderr}"
        return dict(json.loads(result.stdout))


@pytest.fixture
def side(connect: ConnectWorker, bootstrap: str, tmp_path: Path, run_here: Run) -> Callable[..., Side]:  # noqa: F811
    """`side(**worker_keys)`: default is Connect's group and offset topic, and a config topic of its own."""

    def make(**keys: str) -> Side:
        there = connect.properties
        worker = {
            **worker_config(bootstrap),
            "key.converter": there["key.converter"],
            "value.converter": there["value.converter"],
            "group.id": there["group.id"],
            "offset.storage.topic": there["offset.storage.topic"],
            "config.storage.topic": unique("kconnect-configs"),
            **keys,
        }
        file = tmp_path / f"{unique('worker')}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in worker.items()))
        return Side(worker, file, tmp_path / "connectors", connect, run_here)

    return make


@pytest.fixture
def source(file_source: Callable[..., dict[str, str]], bootstrap: str) -> dict[str, str]:  # noqa: F811
    """A file source that both can run."""
    config = file_source(**{"connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector"})
    create_topic(bootstrap, config["topic"])
    return config


@pytest.fixture
def start_in_connect(connect: ConnectWorker) -> Callable[[dict[str, str]], None]:
    """Creates a connector in Connect and waits until it runs."""

    def start(config: dict[str, str]) -> None:
        connect.create(config["name"], {key: value for key, value in config.items() if key != "name"})
        connect.wait_running(config["name"])

    return start


def wait_until(condition: Callable[[], bool], what: str, timeout_s: float = 60.0) -> None:
    """:raises AssertionError: it does not happen in time."""
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s, f"{what} did not happen within {timeout_s:.0f} s"
        time.sleep(0.2)
