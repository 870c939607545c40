"""A server that answers as Connect does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.connect.api import ConnectApi, connect_api


@pytest.fixture
def api() -> Iterator[ConnectApi]:
    """A Connect worker without connectors."""
    with connect_api() as running:
        yield running
