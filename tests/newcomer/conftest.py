"""A newcomer's machine: packages as they would be published, a fresh virtual environment, empty caches."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.pages.newcomer import repository_in, wheel_in


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Each step of a page is one of the tests of this folder, and some need minutes."""
    folder = f"{Path(__file__).parent}{os.sep}"
    for item in items:
        if str(item.path).startswith(folder):
            item.add_marker(pytest.mark.newcomer)
            item.add_marker(pytest.mark.timeout(900))


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as it would be published."""
    folder = tmp_path_factory.mktemp("published")
    return wheel_in(folder, repository_in(folder / "sources"))
