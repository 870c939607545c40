"""Debezium's connector for PostgreSQL and plug-ins of others, installed as `kconnect plugins install` does it."""

from __future__ import annotations

from pathlib import Path

from airflow_kconnect.hosted.installing.install import install

APICURIO = "io.apicurio:apicurio-registry-utils-converter:2.6.13.Final"
POSTGRES = "io.debezium:debezium-connector-postgres:3.5.0.Final"


def debezium_folder(folder: Path, *others: str) -> Path:
    """A folder for `plugin.path` with Debezium's connector.

    :param others: Maven coordinates of further plug-ins.
    """
    for coordinates in (POSTGRES, *others):
        install(coordinates, folder)
    return folder
