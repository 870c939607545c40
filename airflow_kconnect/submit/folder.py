"""Reads a folder of connector files: each `.json`, `.properties`, `.yaml` and `.yml` is one connector."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.submit.preflight import connector_config
from airflow_kconnect.submit.yaml_file import YAML_SUFFIXES

SUFFIXES = (".json", ".properties", *YAML_SUFFIXES)


@dataclass(frozen=True)
class ConnectorFile:
    """A connector and the file that it is in. Its repr shows no values: they may be secrets."""

    name: str
    file: Path
    config: dict[str, Any] = field(repr=False)


def connector_files(folder: Path) -> list[Path]:
    """The files of connectors in a folder, sorted by name; hidden files and subfolders are left out.

    :raises ConfigError: there is no such folder.
    """
    if not folder.is_dir():
        raise ConfigError({"folder": [f"{folder} is not a folder"]})
    return sorted(
        file
        for file in folder.iterdir()
        if file.suffix in SUFFIXES and not file.name.startswith(".") and file.is_file()
    )


def read_files(files: Iterable[Path]) -> tuple[dict[str, ConnectorFile], dict[str, list[str]]]:
    """The connectors in some files by name, and what is wrong with the others, by path."""
    connectors: dict[str, ConnectorFile] = {}
    errors: dict[str, list[str]] = {}
    for file in files:
        try:
            connector = _read(file)
            if connector.name in connectors:
                other = connectors[connector.name].file.name
                raise ConfigError({"name": [f"`{connector.name}` is the connector of {other} too"]})
            connectors[connector.name] = connector
        except ConfigError as error:
            errors[str(file)] = in_file(file, error)
    return connectors, errors


def in_file(file: Path, error: ConfigError) -> list[str]:
    """The texts of an error in a file; those of the file itself are keyed by its path already."""
    return [text if key == str(file) else f"`{key}`: {text}" for key, texts in error.errors.items() for text in texts]


def _read(file: Path) -> ConnectorFile:
    config = connector_config(file)
    name = str(config.get("name") or "").strip()
    if not name:
        raise ConfigError({"name": ["is missing"]})
    return ConnectorFile(name, file, config)
