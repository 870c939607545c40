"""Plug-in folders: real jars from Maven Central, and small ones made by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.support.connect.java_plugins import connect_file_jars, write_jar

MakeJar = Callable[..., Path]


@pytest.fixture(scope="session")
def connect_file() -> Path:
    """A folder with Kafka's file connectors, and with the libraries that they need."""
    return connect_file_jars()


@pytest.fixture
def make_jar(tmp_path: Path) -> MakeJar:
    """Writes a jar: `make_jar("folder/x-1.0.jar", {"META-INF/services/...": "a.B"})`."""

    def make(name: str, files: Mapping[str, str | bytes], **options: int) -> Path:
        return write_jar(tmp_path / name, files, **options)

    return make
