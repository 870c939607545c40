"""Debezium's connector for PostgreSQL and others' plug-ins, as people install them: a folder with the jars of each."""

from __future__ import annotations

from pathlib import Path

from airflow_kconnect.hosted import libraries
from airflow_kconnect.machine import ivy
from airflow_kconnect.machine.java import find_java

APICURIO = "io.apicurio:apicurio-registry-utils-converter:2.6.13.Final"
POSTGRES = "io.debezium:debezium-connector-postgres:3.5.0.Final"


def debezium_folder(folder: Path, *others: str) -> Path:
    """A folder for `plugin.path`: without the libraries that Connect has itself, like Debezium's own archives.

    :param others: Maven coordinates of further plug-ins.
    """
    java = find_java()
    provided = {_artifact(jar) for jar in ivy.resolve(libraries.CONNECT, java=java).glob("*.jar")}
    for coordinates in (POSTGRES, *others):
        plugin = folder / coordinates.split(":")[1]
        plugin.mkdir(parents=True, exist_ok=True)
        for jar in ivy.resolve([coordinates], java=java).glob("*.jar"):
            if _artifact(jar) not in provided and not (plugin / jar.name).exists():
                (plugin / jar.name).symlink_to(jar)
    return folder


def _artifact(jar: Path) -> str:
    """The name of a jar without its version."""
    stem, number = jar.stem, 0
    while (number := stem.find("-", number + 1)) > 0:
        if stem[number + 1 : number + 2].isdigit():
            return stem[:number]
    return stem
