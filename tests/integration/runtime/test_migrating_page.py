"""docs/guides/migrating.md, typed: a connector moves from a real Kafka Connect to here, and back."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from airflow_kconnect.connect.config import properties
from tests.integration.runtime.conftest import NumberedFile
from tests.support import unique
from tests.support.connect.worker import ConnectWorker
from tests.support.kafka import create_topic, read_values
from tests.support.pages.markdown import REPOSITORY, Block, blocks

pytestmark = [pytest.mark.connect, pytest.mark.spark_submit, pytest.mark.timeout(900)]

PAGE = blocks(REPOSITORY / "docs" / "guides" / "migrating.md")
(WORKER,) = [block for block in PAGE if block.info == "properties"]
# The first block has names of hosts and connectors, which are others here.
NAMES, LOOK, MOVE, RUN, GIVE_BACK, FETCH, CHECK, STOP, COMPARE, RUN_BY_HAND, RESUME = [
    block for block in PAGE if block.info == "bash"
]


@pytest.fixture(scope="module")
def connect(bootstrap: str, worker_topics: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectWorker]:
    """The Connect cluster that is left."""
    group = unique("cluster")
    with ConnectWorker.of_group(
        tmp_path_factory.mktemp("connect"),
        bootstrap,
        group,
        offset_topic=worker_topics,
        heap_mb=256,
    ) as worker:
        yield worker


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


def _until(topic: str, bootstrap: str, records: int, connect: ConnectWorker, name: str) -> None:
    connect.wait_running(name)
    while len(read_values(bootstrap, topic)) < records:
        connect.wait_running(name)


@pytest.fixture
def source(
    connect: ConnectWorker, file_source: Callable[..., dict[str, str]], numbered: NumberedFile, bootstrap: str
) -> Iterator[dict[str, str]]:
    """A file source that has written a hundred records in Connect; it is the only connector there."""
    config = file_source(**{"connector.class": "org.apache.kafka.connect.file.FileStreamSourceConnector"})
    create_topic(bootstrap, config["topic"])
    numbered.append(100)
    connect.create(config["name"], {key: value for key, value in config.items() if key != "name"})
    _until(config["topic"], bootstrap, 100, connect, config["name"])
    yield config
    connect.delete(config["name"])


def test_a_connector_moves_here_and_back_by_the_command_of_the_page(
    connect: ConnectWorker,
    source: dict[str, str],
    numbered: NumberedFile,
    bootstrap: str,
    typed: Callable[[Block, str], str],
) -> None:
    name, topic = source["name"], source["topic"]
    assert "1 of 1 connectors can move" in typed(LOOK, name)
    assert "the next run resumes where Connect stopped" in typed(MOVE, name)
    numbered.append(50)
    assert "50 read, 50 written" in typed(RUN, name)
    assert read_values(bootstrap, topic) == numbered.expected()

    numbered.append(20)
    assert "resumed in Connect: RUNNING" in typed(GIVE_BACK, name)
    _until(topic, bootstrap, 170, connect, name)
    assert read_values(bootstrap, topic) == numbered.expected()


@pytest.mark.exhaustive
def test_a_connector_moves_here_and_back_by_hand(
    connect: ConnectWorker,
    source: dict[str, str],
    numbered: NumberedFile,
    bootstrap: str,
    typed: Callable[[Block, str], str],
) -> None:
    name, topic = source["name"], source["topic"]
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
    _until(topic, bootstrap, 200, connect, name)
    assert read_values(bootstrap, topic) == numbered.expected()
