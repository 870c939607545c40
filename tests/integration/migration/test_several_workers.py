"""A Connect cluster of two workers: the one that is asked is not always the one that runs the connector."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.migration.conftest import Side, wait_until
from tests.integration.runtime.conftest import NumberedFile
from tests.support import unique
from tests.support.connect.worker import ConnectWorker
from tests.support.kafka import read_values

pytestmark = [pytest.mark.connect, pytest.mark.exhaustive, pytest.mark.timeout(300)]


def _worker(folder: Path, bootstrap: str, group: str) -> ConnectWorker:
    return ConnectWorker.of_group(folder, bootstrap, group, heap_mb=192)


@pytest.fixture(scope="module")
def workers(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[ConnectWorker]]:
    """Two workers of one group."""
    group = unique("cluster")
    with (
        _worker(tmp_path_factory.mktemp("connect"), bootstrap, group) as first,
        _worker(tmp_path_factory.mktemp("connect"), bootstrap, group) as second,
    ):
        yield [first, second]


@pytest.fixture(params=[0, 1])
def connect(request: pytest.FixtureRequest, workers: list[ConnectWorker]) -> ConnectWorker:
    """Each of them in turn is the one that is asked."""
    asked: int = request.param
    return workers[asked]


def test_each_worker_can_be_asked(
    side: Callable[..., Side],
    source: dict[str, str],
    numbered: NumberedFile,
    bootstrap: str,
    start_in_connect: Callable[[dict[str, str]], None],
) -> None:
    name, topic = source["name"], source["topic"]
    numbered.append(100)
    start_in_connect(source)
    wait_until(lambda: len(read_values(bootstrap, topic)) >= 100, "Connect writing")
    ours = side(**{"offset.storage.topic": unique("offsets")})
    ours.move(name)
    numbered.append(50)
    ours.run(name)
    ours.back(name)
    numbered.append(20)
    wait_until(lambda: len(read_values(bootstrap, topic)) >= 170, "Connect continuing")
    assert read_values(bootstrap, topic) == numbered.expected()
