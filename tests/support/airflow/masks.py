"""A fixture after which Airflow no longer masks the secrets of a test; conftest files import it by name.

The masker has one pattern for all of them, and compiles it again with each new one: after some hundred tests that takes
longer than most of them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def masks_of_its_own() -> Iterator[None]:
    """Each test begins without secrets that others had masked."""
    yield
    masker = sys.modules.get("airflow.sdk._shared.secrets_masker.secrets_masker")
    if masker is not None:
        masker._secrets_masker().reset_masker()
