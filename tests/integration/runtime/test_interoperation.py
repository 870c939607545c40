"""Moving a connector between Kafka Connect itself and airflow_kconnect: it resumes at the record where it stopped.

By what docs/guides/migrating.md tells its reader to type, too. Sinks: `integration/migration/test_round_trips.py`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from airflow_kconnect.connect.config import properties
from airflow_kconnect.stores.target_states import TargetState, TargetStates
from airflow_kconnect.submit.operations import alter_offsets, reset_offsets
from airflow_kconnect.worker_config.keys import WorkerConfig
from tests.integration.runtime.conftest import NumberedFile, Run, Source
from tests.support import unique
from tests.support.connect.worker import ConnectWorker
from tests.support.kafka import create_topic, read_values
from tests.support.pages.markdown import REPOSITORY, Block, blocks

pytestmark = [pytest.mark.connect, pytest.mark.timeout(900)]

PAGE = blocks(REPOSITORY / "docs" / "guides" / "migrating.md")
(WORKER,) = [block for block in PAGE if block.info == "properties"]
# The first block has names of hosts and connectors, which are others here.
NAMES, LOOK, MOVE, RUN, GIVE_BACK, FETCH, CHECK, STOP, COMPARE, RUN_BY_HAND, RESUME = [
    block for block in PAGE if block.info == "bash"
]


@pytest.fixture(scope="module")
def connect(bootstrap: str, worker_topics: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectWorker]:
    """A distributed worker, exactly-once on, over the offset topic that our runs use."""
    group = unique("connect")
    with ConnectWorker.of_group(
        tmp_path_factory.mktemp("connect"),
        bootstrap,
        group,
        offset_topic=worker_topics,
        heap_mb=256,
    ) as worker:
        yield worker


@pytest.fixture(autouse=True)
def _no_connectors_of_others(connect: ConnectWorker) -> Iterator[None]:
    """Each test begins without connectors: the page counts them."""
    yield
    for name in connect.connectors():
        connect.delete(name)


@pytest.fixture
def run_as(connect: ConnectWorker, run_here: Run) -> Run:
    """Runs of ours in the worker group of the Connect cluster."""
    return lambda config, **worker: run_here(config, **{"group.id": connect.properties["group.id"], **worker})


@pytest.fixture
def source(file_source: Source, bootstrap: str) -> dict[str, str]:
    """A file source that both can run."""
    config = file_source()
    create_topic(bootstrap, config["topic"])
    return {**config, "connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector"}


def _wait(condition: Callable[[], bool], what: str, timeout_s: float = 60.0) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen within {timeout_s:.0f} s"
        time.sleep(0.2)


def _let_connect_read(connect: ConnectWorker, config: dict[str, str], bootstrap: str, records: int) -> None:
    """Have Connect run the connector until the topic has so many records, then stop it there."""
    connect.create(config["name"], {key: value for key, value in config.items() if key != "name"})
    _wait(lambda: len(read_values(bootstrap, config["topic"])) >= records, f"Connect writing {records} records")
    connect.stop_connector(config["name"])
    _wait(lambda: connect.status(config["name"])["connector"]["state"] == "STOPPED", "stopping the connector")


def test_live_connect_task_is_fenced_and_nothing_is_doubled(
    connect: ConnectWorker, source: dict[str, str], numbered: NumberedFile, bootstrap: str, run_as: Run
) -> None:
    numbered.append(200)
    connect.create(source["name"], {key: value for key, value in source.items() if key != "name"})
    _wait(lambda: len(read_values(bootstrap, source["topic"])) >= 200, "Connect writing")
    run_as(source)
    numbered.append(100)
    _wait(lambda: connect.status(source["name"])["tasks"][0]["state"] == "FAILED", "the fencing of Connect's task")
    run_as(source)
    assert read_values(bootstrap, source["topic"]) == numbered.expected()


def test_target_states_are_one(connect: ConnectWorker, source: dict[str, str], numbered: NumberedFile) -> None:
    states, name = TargetStates(WorkerConfig.from_props(connect.properties)), source["name"]
    connect.create(name, {key: value for key, value in source.items() if key != "name"})
    connect.wait_running(name)
    states.write(name, TargetState.PAUSED)
    connect.wait_for(name, "PAUSED")
    states.write(name, TargetState.STARTED)
    connect.wait_running(name)
    connect.stop_connector(name)
    assert states.read(name) is TargetState.STOPPED


def test_offsets_that_we_alter_and_reset_are_those_of_connect(
    connect: ConnectWorker, source: dict[str, str], numbered: NumberedFile, bootstrap: str
) -> None:
    numbered.append(10)
    _let_connect_read(connect, source, bootstrap, 10)
    (entry,) = connect.offsets(source["name"])
    altered = {"partition": entry["partition"], "offset": {"position": 7}}
    alter_offsets(source, connect.properties, [altered])
    assert connect.offsets(source["name"]) == [altered]
    reset_offsets(source, connect.properties)
    assert connect.offsets(source["name"]) == []


@pytest.fixture
def typed(connect: ConnectWorker, bootstrap: str, tmp_path: Path) -> Callable[[Block, str], str]:
    """Types a block of the page for a connector, and returns what it prints."""
    folder = tmp_path / "reader"
    folder.mkdir()
    worker = properties.parse(WORKER.text) | {
        "bootstrap.servers": bootstrap,
        "group.id": connect.properties["group.id"],
        "offset.storage.topic": connect.properties["offset.storage.topic"],
        "config.storage.topic": unique("kconnect-configs"),
    }
    (folder / "worker.properties").write_text("".join(f"{key}={value}\n" for key, value in worker.items()))
    environment = {
        **os.environ,
        "AIRFLOW_HOME": str(tmp_path / "airflow"),
        "CONNECT": connect.url,
        "KCONNECT_WORKER": str(folder / "worker.properties"),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        "PYTHONPATH": str(REPOSITORY),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }

    def type_(block: Block, name: str) -> str:
        done = subprocess.run(
            ["bash", "-ec", block.text],
            cwd=folder,
            env={**environment, "NAME": name},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{block}: {done.stdout}{done.stderr}"
        return done.stdout

    return type_


@pytest.fixture
def running(connect: ConnectWorker, source: dict[str, str], numbered: NumberedFile, bootstrap: str) -> dict[str, str]:
    """A file source that has written a hundred records in Connect; it is the only connector there."""
    numbered.append(100)
    connect.create(source["name"], {key: value for key, value in source.items() if key != "name"})
    _wait(lambda: len(read_values(bootstrap, source["topic"])) >= 100, "Connect writing")
    return source


@pytest.mark.spark_submit
def test_a_connector_moves_here_and_back_by_the_command_of_the_page(
    connect: ConnectWorker,
    running: dict[str, str],
    numbered: NumberedFile,
    bootstrap: str,
    typed: Callable[[Block, str], str],
) -> None:
    name, topic = running["name"], running["topic"]
    assert "1 of 1 connectors can move" in typed(LOOK, name)
    assert "the next run resumes where Connect stopped" in typed(MOVE, name)
    numbered.append(50)
    assert "50 read, 50 written" in typed(RUN, name)
    assert read_values(bootstrap, topic) == numbered.expected()

    numbered.append(20)
    assert "resumed in Connect: RUNNING" in typed(GIVE_BACK, name)
    _wait(lambda: len(read_values(bootstrap, topic)) >= 170, "Connect continuing")
    assert read_values(bootstrap, topic) == numbered.expected()


@pytest.mark.spark_submit
@pytest.mark.exhaustive
def test_a_connector_moves_here_and_back_by_hand(
    connect: ConnectWorker,
    running: dict[str, str],
    numbered: NumberedFile,
    bootstrap: str,
    typed: Callable[[Block, str], str],
) -> None:
    name, topic = running["name"], running["topic"]
    typed(FETCH, name)
    assert "is valid" in typed(CHECK, name)
    typed(STOP, name)
    connect.wait_for(name, "STOPPED")
    numbered.append(50)
    offsets = f'{{"filename": "{numbered.path}"}} -> {{"position": {sum(map(len, numbered.expected()[:100])) + 100}}}'
    assert offsets in typed(COMPARE, name)
    assert "50 read, 50 written" in typed(RUN_BY_HAND, name)
    assert read_values(bootstrap, topic) == numbered.expected()

    numbered.append(30)
    typed(RESUME, name)
    numbered.append(20)
    _wait(lambda: len(read_values(bootstrap, topic)) >= 200, "Connect continuing")
    assert read_values(bootstrap, topic) == numbered.expected()
