"""Which Java class a configuration names, if that is what runs: known from the jars, without Java."""

from __future__ import annotations

from collections.abc import Mapping

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hosting.choice import CONNECTOR_CLASS, chosen
from airflow_kconnect.hosting.keys import HOSTED
from airflow_kconnect.plugins import registry as plugins
from airflow_kconnect.plugins.java import JavaPlugin
from airflow_kconnect.worker_config.keys import WorkerConfig


def hosted_class(props: Mapping[str, str], worker: WorkerConfig) -> JavaPlugin | None:
    """The Java class that a configuration names, if that is what runs; None: a connector of this package runs, or
    there is none.

    :param props: of the connector.
    :raises ConfigError: several Java classes have this simple name, the class is not a connector, its version is not
        installed, or Java was asked for and there is no such class.
    """
    if not looks_hosted(props):
        return None
    found = chosen(props, worker)
    if found is None and props.get(HOSTED, "").lower() == "true":
        text = f"`{HOSTED}` is true, but no plug-in below `plugin.path` has a Java connector {props[CONNECTOR_CLASS]}"
        raise ConfigError({CONNECTOR_CLASS: [text]})
    return found


def class_version(props: Mapping[str, str], worker: WorkerConfig) -> str | None:
    """The version of the class that a configuration runs, in Java or of this package; None if it is not known."""
    try:
        if (java := hosted_class(props, worker)) is not None:
            return java.version
        return plugins.registry().version(plugins.CONNECTORS, props.get(CONNECTOR_CLASS, ""))
    except ConfigError:
        return None


def looks_hosted(props: Mapping[str, str]) -> bool:
    """Whether a Java class would run, if there is one: the configuration asks for it, or there is no connector of that
    name in this package.
    """
    name, wish = props.get(CONNECTOR_CLASS, ""), props.get(HOSTED, "").lower()
    if not name or wish == "false":
        return False
    return wish == "true" or not plugins.registry().knows(plugins.CONNECTORS, name)


def hosted_kind(config: Mapping[str, object], worker: Mapping[str, object]) -> str | None:
    """`source` or `sink` of the Java class that a configuration runs; None if it runs none, or is wrong.

    :param config: of the connector. :param worker: keys of the worker; variables need not be resolved.
    """
    props = {key: str(value) for key, value in config.items()}
    keys = {key: value for key, value in worker.items() if key in ("plugin.path", "kconnect.plugin.coordinates")}
    try:
        found = hosted_class(props, WorkerConfig.from_props({"bootstrap.servers": "localhost:9092", **keys}))
    except ConfigError:
        return None
    return None if found is None else found.kind
