"""A few schedules; `make torture` plays as many as one likes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.torture.cluster import Cluster
from tests.torture.kinds import ALL
from tests.torture.player import Player

pytestmark = [pytest.mark.spark_submit, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A broker that may be killed."""
    found = Cluster(tmp_path_factory.mktemp("cluster"), 1)
    found.start()
    yield found
    found.stop()


@pytest.mark.parametrize(
    ("kind", "seed"),
    [
        ("directory sink", 5),  # a kill, a zombie and expired offsets, at named points
        pytest.param("file source", 1, marks=pytest.mark.exhaustive),
        pytest.param("Python source", 1, marks=pytest.mark.exhaustive),
        pytest.param("JDBC sink, SQLite", 1, marks=pytest.mark.exhaustive),
        pytest.param("folder source", 1, marks=pytest.mark.exhaustive),
        pytest.param("file sink", 1, marks=pytest.mark.exhaustive),
    ],
)
def test_everything_arrives_as_promised(kind: str, seed: int, cluster: Cluster, tmp_path: Path) -> None:
    outcome = Player(ALL[kind], seed, cluster, tmp_path / kind.replace(" ", "-"), exactly_once=True, say=print).play()
    assert outcome.problems == []
    assert outcome.struck
