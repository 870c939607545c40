"""A store of a file's tests (its fixture `store`) with a server in front of it, and a place there with faults."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from airflow_kconnect.places.base import Place
from airflow_kconnect.places.registry import open_place
from tests.support.faults import FaultProxy
from tests.support.stores import Store


@pytest.fixture(scope="module")
def proxy(store: Store) -> Iterator[FaultProxy]:
    """In front of the store. In front of HDFS's name node: its data nodes are reached directly."""
    with FaultProxy(store.settings["store.endpoint"]) as made:
        yield made


@pytest.fixture(scope="module")
def healthy(store: Store) -> Place:
    """Without faults."""
    return open_place(f"{store.address}/faults", store.settings)


@pytest.fixture(scope="module")
def proxied(healthy: Place, store: Store, proxy: FaultProxy) -> Place:
    place = open_place(str(healthy), store.through(proxy.url).settings)
    place.check()  # finds out what the store can do, so that no test does it
    return place


@pytest.fixture
def place(proxied: Place, healthy: Place) -> Iterator[Place]:
    """Empty, with faults. Clients are dear to make."""
    yield proxied
    for file in list(healthy.files()):
        healthy.remove(file)
    for staged in list(healthy.staged()):
        healthy.discard(staged)
