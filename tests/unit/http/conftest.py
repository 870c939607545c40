"""Servers for the tests of HTTP connectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from tests.support.http_server import HttpServer, http_server


@pytest.fixture
def serve() -> Iterator[Callable[..., HttpServer]]:
    """`serve(answer, ...)`: a server with these answers."""
    with ExitStack() as servers:
        yield lambda *answers, **more: servers.enter_context(http_server(*answers, **more))
