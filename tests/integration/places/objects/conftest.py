"""Google's and Azure's stores, in turn."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.support.stores import Store


@pytest.fixture(scope="module", params=["azure", "gs"])
def store(request: pytest.FixtureRequest, store_of: Callable[[str], Store]) -> Store:
    return store_of(request.param)
