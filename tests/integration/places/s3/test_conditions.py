"""A store of S3 that knows conditions of removals, as Amazon's does: moto."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from airflow_kconnect.places.base import Place
from tests.support.faults import FaultProxy, delayed
from tests.support.places import TEXT, write
from tests.support.stores import Store


@pytest.fixture(scope="module")
def store(store_of: Callable[[str], Store]) -> Store:
    return store_of("moto")


@pytest.mark.parametrize("text", [b"newer", TEXT])
def test_a_removal_that_comes_late_leaves_what_has_got_the_name_unless_its_bytes_are_the_same(
    place: Place, healthy: Place, proxy: FaultProxy, text: bytes
) -> None:
    write(place)
    (file,) = place.files()
    with proxy.fault("DeleteObject", delayed(lambda: write(healthy, text=text))):
        is_removed = place.remove(file)
    assert is_removed == (text == TEXT)
    assert len(list(healthy.files())) == (not is_removed)
