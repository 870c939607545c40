"""A Connect cluster as most are: exactly-once off, and variables in configurations."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.migration.conftest import Side, wait_until
from tests.integration.runtime.conftest import NumberedFile
from tests.support import unique
from tests.support.connect.worker import ConnectWorker
from tests.support.kafka import read_values

pytestmark = [pytest.mark.connect, pytest.mark.exhaustive, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def connect(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectWorker]:
    """Instead of the cluster of the other tests."""
    group = unique("cluster")
    with ConnectWorker.of_group(
        tmp_path_factory.mktemp("connect"),
        bootstrap,
        group,
        exactly_once=False,
        heap_mb=256,
        settings={
            "config.providers": "file",
            "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
        },
    ) as worker:
        yield worker


@pytest.mark.parametrize("own_topic", [False, True])
def test_a_source_with_variables_moves_here_and_back(
    own_topic: bool,
    side: Callable[..., Side],
    connect: ConnectWorker,
    source: dict[str, str],
    numbered: NumberedFile,
    bootstrap: str,
    start_in_connect: Callable[[dict[str, str]], None],
    tmp_path: Path,
) -> None:
    name, topic = source["name"], source["topic"]
    (tmp_path / "values.properties").write_text(f"topic={topic}\n")
    variable = f"${{file:{tmp_path}/values.properties:topic}}"
    numbered.append(100)
    start_in_connect({**source, "topic": variable})
    wait_until(lambda: len(read_values(bootstrap, topic)) >= 100, "Connect writing")

    ours = side(**({"offset.storage.topic": unique("offsets")} if own_topic else {}))
    ours.move(name)
    assert json.loads((ours.folder / f"{name}.json").read_text())["topic"] == variable
    numbered.append(50)
    ours.run(name)
    assert read_values(bootstrap, topic) == numbered.expected()

    ours.back(name)
    numbered.append(20)
    wait_until(lambda: len(read_values(bootstrap, topic)) >= 170, "Connect continuing")
    connect.stop_connector(name)
    assert read_values(bootstrap, topic) == numbered.expected()
