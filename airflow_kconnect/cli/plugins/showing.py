"""`kconnect plugins show`: what a Java plug-in is, and its keys as the class itself describes them."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from airflow_kconnect.cli.connectors.arguments import AsJson, plain_table, print_json
from airflow_kconnect.cli.console import Console
from airflow_kconnect.cli.errors import errors_in_one_line
from airflow_kconnect.cli.plugins.places import WorkerFile, worker_keys
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hosted.asking.definitions import PluginJvm
from airflow_kconnect.hosted.installing.install import record_of
from airflow_kconnect.hosting.installed import java_plugins
from airflow_kconnect.plugins import registry as known
from airflow_kconnect.plugins.advice import advice
from airflow_kconnect.plugins.java import JavaPlugin, JavaPlugins
from airflow_kconnect.plugins.java.kinds import KINDS
from airflow_kconnect.plugins.java.versions import matches
from airflow_kconnect.validation.connector_keys import sink_config, source_config
from airflow_kconnect.worker_config.keys import WorkerConfig

_LONGEST = 100


def show(
    name: Annotated[
        str, typer.Argument(metavar="CLASS", help="Class of a Java plug-in, full or simple name.", show_default=False)
    ],
    version: Annotated[
        str | None,
        typer.Option("--version", help="Which of several installed versions. Default: the newest.", show_default=False),
    ] = None,
    worker: WorkerFile = None,
    as_json: AsJson = False,
) -> None:
    """Show a Java plug-in: its folder, its versions, and its configuration keys.

    Example: `kconnect plugins show PostgresConnector`

    The keys come from the class itself: this starts Java, which takes a few seconds. Keys that every connector of
    Kafka Connect has are left out; `kconnect reference source` and `sink` print them.

    Exit codes: 0 shown; 1 there is no such plug-in, or no Java; 3 Kafka Connect could not be downloaded.
    """
    # What Connect logs about other plug-ins is not about this one.
    logging.getLogger("kconnect.hosted").setLevel(logging.CRITICAL)
    with errors_in_one_line():
        config = WorkerConfig.from_props(worker_keys(worker))
        java = java_plugins(config)
        plugin, versions = _found(java, name, version)
        with (
            tempfile.TemporaryDirectory(prefix="kconnect-plugins-") as folder,
            PluginJvm(java, config, Path(folder)) as jvm,
        ):
            keys = _own(jvm.keys(plugin.name, version), plugin, config)
    about = {
        "class": plugin.name,
        "kind": plugin.kind,
        "version": plugin.version,
        "versions": [each.version for each in versions],
        "folder": str(plugin.folder),
        "from": record_of(plugin.folder).get("from"),
    }
    if as_json:
        print_json({**about, "keys": keys})
    else:
        _show(about, keys)


def _found(java: JavaPlugins, name: str, version: str | None) -> tuple[JavaPlugin, list[JavaPlugin]]:
    """The plug-in, and all its versions. :raises ConfigError: there is none."""
    versions = java.versions(name) or java.versions(name, kinds=tuple(KINDS.values()))
    for each in versions:
        if version is None or matches(each.version, version):
            return each, versions
    if versions:
        names = ", ".join(str(each.version) for each in versions)
        raise ConfigError({"--version": [f"{versions[0].name} is not installed in version {version}, but in: {names}"]})
    if known.registry().knows(known.CONNECTORS, name):
        raise ConfigError({"CLASS": [f"{name} is not a Java plug-in: kconnect reference {name} prints its keys"]})
    names = ", ".join(dict.fromkeys(each.name for each in java.connectors())) or "none"
    text = f"there is no Java plug-in {name}; Java connectors are: {names}."
    raise ConfigError({"CLASS": [text + advice(name, [each.name for each in java.all()])]})


def _own(keys: list[dict[str, Any]], plugin: JavaPlugin, worker: WorkerConfig) -> list[dict[str, Any]]:
    bases = {"source": source_config, "sink": sink_config}
    common = bases[plugin.kind](worker).keys if plugin.kind in bases else {}
    return [key for key in keys if key["name"] not in common]


def _show(about: dict[str, Any], keys: list[dict[str, Any]]) -> None:
    console = Console()
    kind = str(about["kind"]).replace("_", " ")
    console.print(Text(f"{about['class']} {about['version'] or ''}".rstrip(), style="bold"))
    origin = f", from {about['from']}" if about["from"] else ""
    console.print(Text(f"{kind} in {about['folder']}{origin}"), soft_wrap=True)
    if len(about["versions"]) > 1:
        console.print(Text(f"versions: {', '.join(map(str, about['versions']))} (`connector.plugin.version`)"))
    table = plain_table("Key", "Type", "Default", "What it does")
    for key in keys:
        default = "required" if key["required"] else str(key["default_value"] or "")
        table.add_row(Text(key["name"]), key["type"].lower(), Text(default), Text(_first(key["documentation"])))
    console.print(table)


def _first(text: str) -> str:
    """The first sentence, or as much as fits."""
    sentence = " ".join(text.split()).partition(". ")[0].removesuffix(".")
    return sentence if len(sentence) <= _LONGEST else f"{sentence[: _LONGEST - 3]}..."
