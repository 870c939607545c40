"""On which databases a test runs that asks for `each_database`."""

from __future__ import annotations

import zlib
from typing import Any

import pytest

from tests.support.databases import mariadb

_FOR_SINKS = ("duckdb", "h2")


def kinds_of_databases(test: pytest.Function) -> list[Any]:
    """PostgreSQL or one other, which depends on the test's name: so each kind has many tests, PostgreSQL half of them.

    Those marked `every_database` run on every kind that this machine can have; `make test-all` runs all tests so.
    """
    others = [*(["mariadb"] if mariadb.available() else []), "sqlite"]
    if ".sink." in test.module.__name__:
        others += _FOR_SINKS
    drawn = zlib.crc32(test.name.encode())
    chosen = "postgres" if drawn % 2 else others[drawn // 2 % len(others)]
    every = test.get_closest_marker("every_database") is not None
    further = [] if ".sink." in test.module.__name__ else _FOR_SINKS
    return [
        *(
            kind if every or kind == chosen else pytest.param(kind, marks=pytest.mark.exhaustive)
            for kind in ("postgres", *others)
        ),
        # These are read in jdbc/source/test_databases.py.
        *(pytest.param(kind, marks=pytest.mark.exhaustive) for kind in further),
    ]
