"""A few schedules; `make torture` plays as many as one likes.

Exhaustive: what they draw from has tests of its own in CI (docs/reliability-cases.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.torture.cluster import Cluster
from tests.torture.kinds import ALL
from tests.torture.player import Player

pytestmark = [pytest.mark.exhaustive, pytest.mark.spark_submit, pytest.mark.timeout(900)]


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
        ("file source", 1),
        ("Python source", 1),
        ("JDBC sink, SQLite", 1),
        ("folder source", 1),
        ("file sink", 1),
    ],
)
def test_everything_arrives_as_promised(kind: str, seed: int, cluster: Cluster, tmp_path: Path) -> None:
    outcome = Player(ALL[kind], seed, cluster, tmp_path / kind.replace(" ", "-"), exactly_once=True, say=print).play()
    assert outcome.problems == []
    assert outcome.struck
