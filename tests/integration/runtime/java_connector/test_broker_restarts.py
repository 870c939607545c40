"""The broker is killed while a hosted connector runs, and comes back.

Dear, so exhaustive: a broker of its own is started twice.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from airflow_kconnect.connect.errors import ConnectError, FencedError, RetriableError
from airflow_kconnect.kafka.admin import KafkaAdmin
from airflow_kconnect.local.broker import EmbeddedBroker
from airflow_kconnect.local.broker_files import worker_config
from tests.integration.runtime.conftest import missing_and_doubled
from tests.support import unique
from tests.support.kafka import create_topic, produce, read_values

Config = Callable[..., dict[str, str]]
Run = Callable[..., Any]

COUNT = 40_000
SINK_COUNT = 100_000
_START_S = 240

pytestmark = [pytest.mark.exhaustive, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def own_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedBroker]:
    """A broker that may be stopped."""
    broker = EmbeddedBroker(tmp_path_factory.mktemp("own-broker"), heap_mb=256)
    broker.start(timeout_s=_START_S)
    yield broker
    broker.stop()


@pytest.fixture
def run_there(run_hosted: Run, own_broker: EmbeddedBroker) -> Run:
    """Run a hosted connector against that broker."""
    return lambda config: run_hosted(config, **worker_config(own_broker.bootstrap))


def test_a_source_whose_broker_restarts_misses_and_doubles_nothing(
    own_broker: EmbeddedBroker, numbered: Any, java_source: Config, run_there: Run
) -> None:
    numbered.append(COUNT)
    # A transaction for each fifty lines: the kill strikes among them.
    config = java_source(batch_size="50")
    create_topic(own_broker.bootstrap, config["topic"])
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run_there, config)
        await_count(running, lambda: end_of(own_broker, config["topic"]))
        restart(own_broker)
        complete = outcome(running)
    if complete:
        assert len(read_values(own_broker.bootstrap, config["topic"])) == COUNT
    numbered.append(100)
    assert run_there(config).complete
    found = read_values(own_broker.bootstrap, config["topic"])
    assert missing_and_doubled(numbered.expected(), found) == (set(), [])


def test_a_sink_whose_broker_restarts_misses_nothing(
    own_broker: EmbeddedBroker, java_sink: Callable[..., dict[str, str]], run_there: Run
) -> None:
    topic = create_topic(own_broker.bootstrap, unique("restart"))
    produce(own_broker.bootstrap, topic, [str(n) for n in range(SINK_COUNT)])
    # A few records at a time: the kill strikes among them.
    config = java_sink(topic, **{"consumer.override.max.poll.records": "20"})
    out = Path(config["file"])
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(run_there, config)
        await_count(running, lambda: out.stat().st_size if out.exists() else 0)
        restart(own_broker)
        outcome(running)
    produce(own_broker.bootstrap, topic, ["last"])
    assert run_there(config).complete
    found = out.read_text().splitlines()
    assert {*map(str, range(SINK_COUNT)), "last"} - set(found) == set()


def await_count(running: Future[Any], count: Callable[[], int]) -> None:
    """Return when records flow."""
    deadline = time.monotonic() + 200
    while not count():
        assert time.monotonic() < deadline and not running.done(), running
        time.sleep(0.05)
    assert not running.done()


def end_of(broker: EmbeddedBroker, topic: str) -> int:
    """The end of a topic's only partition."""
    return KafkaAdmin({"bootstrap.servers": broker.bootstrap}).end_offsets(topic, [0], committed=False)[0]


def restart(broker: EmbeddedBroker) -> None:
    broker.kill()
    time.sleep(3)
    broker.start(timeout_s=_START_S)


def outcome(running: Future[Any]) -> bool:
    """Whether a run has survived and says that it is complete; else it is to be tried again."""
    try:
        return bool(running.result(300).complete)
    except ConnectError as error:
        assert isinstance(error, RetriableError | FencedError), error
        return False
