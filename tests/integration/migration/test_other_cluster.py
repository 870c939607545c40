"""`kconnect migrate` to another Kafka cluster than the one that Connect uses."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

import pytest

from airflow_kconnect.local.broker import EmbeddedBroker
from tests.integration.migration.conftest import Side, wait_until
from tests.integration.runtime.conftest import NumberedFile
from tests.support.connect.worker import ConnectWorker
from tests.support.kafka import read_values

pytestmark = [pytest.mark.connect, pytest.mark.exhaustive, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`host:port` of the broker of another cluster."""
    broker = EmbeddedBroker(tmp_path_factory.mktemp("other"))
    broker.start()
    yield broker.bootstrap
    broker.stop()


@pytest.fixture
def ours(
    side: Callable[..., Side],
    other: str,
    source: dict[str, str],
    numbered: NumberedFile,
    bootstrap: str,
    start_in_connect: Callable[[dict[str, str]], None],
) -> Side:
    """Our side, and a connector that has written ten records in Connect's cluster."""
    numbered.append(10)
    start_in_connect(source)
    wait_until(lambda: len(read_values(bootstrap, source["topic"])) >= 10, "Connect writing")
    return side(**{"bootstrap.servers": other})


def test_it_must_be_meant(ours: Side, source: dict[str, str], connect: ConnectWorker) -> None:
    done = ours.type("--connector", source["name"], "--apply")
    (problem,) = json.loads(done.stdout)["problems"]
    assert problem.endswith("with --other-cluster connectors move to another cluster")
    assert connect.status(source["name"])["connector"]["state"] == "RUNNING"


def test_a_source_continues_there_and_back(
    ours: Side, source: dict[str, str], numbered: NumberedFile, bootstrap: str, other: str
) -> None:
    name, topic = source["name"], source["topic"]
    ours.move(name, "--other-cluster")
    numbered.append(5)
    ours.run(name)
    assert read_values(other, topic) == numbered.expected()[10:]
    ours.move(name, "--other-cluster", "--back")
    numbered.append(3)
    wait_until(lambda: len(read_values(bootstrap, topic)) >= 13, "Connect continuing")
    assert read_values(bootstrap, topic) == numbered.expected()[:10] + numbered.expected()[15:]
