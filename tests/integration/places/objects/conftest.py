"""Google's and Azure's stores, in turn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.stores import Store, azure_store, google_store


@pytest.fixture(scope="module", params=["azure", "gs"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with google_store() if request.param == "gs" else azure_store(tmp_path_factory.mktemp("azure")) as made:
        yield made
