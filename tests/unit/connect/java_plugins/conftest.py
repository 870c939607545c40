"""Plug-in folders: real jars from Maven Central, and small ones made by hand."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from airflow_kconnect.local.broker import KAFKA_VERSION
from airflow_kconnect.machine import ivy
from airflow_kconnect.machine.java import find_java

MakeJar = Callable[..., Path]


@pytest.fixture(scope="session")
def connect_file() -> Path:
    """A folder with Kafka's file connectors, and with the libraries that they need."""
    return ivy.resolve([f"org.apache.kafka:connect-file:{KAFKA_VERSION}"], java=find_java())


@pytest.fixture
def make_jar(tmp_path: Path) -> MakeJar:
    """Writes a jar: `make_jar("folder/x-1.0.jar", {"META-INF/services/...": "a.B"})`."""

    def make(name: str, files: dict[str, str | bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(path, "w", compression) as jar:
            for file, content in files.items():
                jar.writestr(file, content)
        return path

    return make
