"""Checks of a hosted connector's configuration that need no Java: its own keys are Java's business."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from airflow_kconnect.connect import plugins
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.hosting.keys import HOSTED, PLUGIN_PATH
from airflow_kconnect.connect.java_plugins import JavaPlugin, JavaPlugins

CONNECTOR_CLASS = "connector.class"


def java_plugins(worker: Mapping[str, str]) -> JavaPlugins:
    """What is installed below the worker's `plugin.path`.

    :param worker: keys of the worker.
    """
    folders = (folder.strip() for folder in worker.get(PLUGIN_PATH, "").split(","))
    return JavaPlugins([Path(folder).expanduser() for folder in folders if folder])


def hosted_class(props: Mapping[str, str], worker: Mapping[str, str]) -> JavaPlugin | None:
    """The Java class that a configuration names, if that is what runs; None: a connector of this package runs, or
    there is none.

    :param props: of the connector.
    :param worker: keys of the worker.
    :raises ConfigError: several Java classes have this simple name.
    """
    name = props.get(CONNECTOR_CLASS, "")
    wish = props.get(HOSTED, "").lower()
    if not name or wish == "false":
        return None
    if wish != "true" and plugins.registry().knows(plugins.CONNECTORS, name):
        return None
    return java_plugins(worker).find(name)


def hosted_kind(props: Mapping[str, str], worker: Mapping[str, str]) -> str | None:
    """`source` or `sink` of a hosted connector; None if the configuration names none."""
    try:
        found = hosted_class(props, worker)
    except ConfigError:
        return None
    return None if found is None else found.kind
