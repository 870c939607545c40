"""Debezium's connector for PostgreSQL, as people install it: a folder with its jars."""

from __future__ import annotations

from pathlib import Path

from airflow_kconnect.hosted import libraries
from airflow_kconnect.machine import ivy
from airflow_kconnect.machine.java import find_java

POSTGRES = "io.debezium:debezium-connector-postgres:3.5.0.Final"


def debezium_folder(folder: Path) -> Path:
    """A folder for `plugin.path`: without the libraries that Connect has itself, like Debezium's own archives."""
    java = find_java()
    provided = {_artifact(jar) for jar in ivy.resolve(libraries.CONNECT, java=java).glob("*.jar")}
    plugin = folder / "debezium-connector-postgres"
    plugin.mkdir(parents=True, exist_ok=True)
    for jar in ivy.resolve([POSTGRES], java=java).glob("*.jar"):
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
