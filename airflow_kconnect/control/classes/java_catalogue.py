"""Java plug-ins as Connect's REST API describes them: the list is read from jars, the rest is asked of Java."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import Any

from airflow_kconnect.connect.config import describe, describe_key
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hosted.asking.warm import WARM
from airflow_kconnect.hosted.known.schema_history import history_defaults
from airflow_kconnect.hosting.installed import java_plugins
from airflow_kconnect.hosting.keys import java_props
from airflow_kconnect.hosting.password_keys import note
from airflow_kconnect.machine.errors import SetupError
from airflow_kconnect.plugins import registry as plugins
from airflow_kconnect.plugins.java import JavaPlugins
from airflow_kconnect.plugins.java.kinds import CONNECTORS, KINDS, Kind
from airflow_kconnect.validation.before_variables import worker_without_references
from airflow_kconnect.validation.connector_keys import sink_config, source_config
from airflow_kconnect.validation.inspection import CONNECTOR_CLASS, Inspection
from airflow_kconnect.variables.syntax import has_reference
from airflow_kconnect.worker_config.plugin_keys import coordinates_of

log = logging.getLogger("kconnect.hosted")

# Kinds that Connect's list has.
_LISTED: tuple[Kind, ...] = ("sink", "source", "transformation", "predicate", "converter", "header_converter")
_GROUPS: dict[Kind, str] = {
    "source": plugins.CONNECTORS,
    "sink": plugins.CONNECTORS,
    "transformation": plugins.TRANSFORMS,
    "predicate": plugins.PREDICATES,
    "converter": plugins.CONVERTERS,
    "header_converter": plugins.CONVERTERS,
}


def java_list(worker: Mapping[str, Any], *, connectors_only: bool) -> Iterator[dict[str, Any]]:
    """Class, type and version of the Java plug-ins, all versions. Classes that exist here too are left out: those run.

    :param worker: variables not resolved.
    """
    registry = plugins.registry()
    found = java_plugins(worker_without_references(worker)).all()
    for kind in CONNECTORS if connectors_only else _LISTED:
        for plugin in found:
            if plugin.kind == kind and not registry.knows(_GROUPS[kind], plugin.name):
                yield {"class": plugin.name, "type": kind, "version": plugin.version or "undefined"}


def java_keys(name: str, version: str | None, worker: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """The keys of a Java plug-in, those of a connector followed by ours; None if there is no such plug-in.

    :param version: None means the newest.
    :raises SetupError: Java cannot be started here. :raises RetriableError: it did not answer.
    """
    known = worker_without_references(worker)
    java = java_plugins(known)
    plugin = java.find(name) or java.find(name, kinds=tuple(KINDS.values()))
    if plugin is None:
        return None
    keys = WARM.ask(java, known, lambda jvm: jvm.keys(plugin.name, version))
    note(plugin.name, keys)
    if plugin.kind in CONNECTORS:
        theirs = {key["name"] for key in keys}
        ours = (source_config if plugin.kind == "source" else sink_config)(known).keys
        keys += [describe_key(key) for name, key in ours.items() if name not in theirs]
    return keys


def java_infos(inspection: Inspection, config: Mapping[str, Any]) -> dict[str, Any]:
    """The `ConfigInfos` of a configuration of a hosted connector: the Java class's answer, and ours about our keys.

    :param inspection: of the configuration; its `hosted` is the class.
    :param config: variables not resolved. Where there are some, each key is checked by itself, since the class would
        try to connect with them.
    """
    assert inspection.hosted is not None
    ours = describe(inspection.definition, inspection.values.values(), name=inspection.connector_class)
    try:
        theirs = _asked(inspection, config)
    except SetupError as error:
        log.warning("The keys of %s are not checked here: %s", inspection.connector_class, error)
        return ours
    except ConfigError as error:
        for key, messages in error.errors.items():
            inspection.add(key, *messages)
        return describe(inspection.definition, inspection.values.values(), name=inspection.connector_class)
    return _joined(theirs, ours)


def java_key_errors(inspection: Inspection, config: Mapping[str, Any]) -> dict[str, list[str]]:
    """What the Java class says of its keys, each by itself: nothing is connected to, whatever the class would do.

    :param inspection: of the configuration; its `hosted` is the class.
    :param config: variables not resolved; keys that have some are left out.
    :returns: key -> messages.
    :raises SetupError: Java cannot be started here. :raises RetriableError: it did not answer.
    """
    entries = (entry["value"] for entry in _by_key(inspection, config)["configs"])
    return {value["name"]: value["errors"] for value in entries if value["errors"]}


def _asked(inspection: Inspection, config: Mapping[str, Any]) -> dict[str, Any]:
    if _unknown(inspection, config):
        return _by_key(inspection, config)
    props = _props(inspection)
    answer = WARM.ask(_plugins(inspection), inspection.worker, lambda jvm: jvm.validate(props))
    note(inspection.connector_class, (entry["definition"] for entry in answer["configs"]))
    return answer


def _by_key(inspection: Inspection, config: Mapping[str, Any]) -> dict[str, Any]:
    unknown, props = _unknown(inspection, config), _props(inspection)
    answer = WARM.ask(_plugins(inspection), inspection.worker, lambda jvm: jvm.check_keys(props))
    note(inspection.connector_class, (entry["definition"] for entry in answer["configs"]))
    for entry in answer["configs"]:
        if entry["value"]["name"] in unknown:
            entry["value"]["errors"] = []
    return answer


def _unknown(inspection: Inspection, config: Mapping[str, Any]) -> set[str]:
    """Keys whose values have variables."""
    return {key for key, value in config.items() if has_reference(value) and key in inspection.props}


def _plugins(inspection: Inspection) -> JavaPlugins:
    return java_plugins(inspection.worker, coordinates_of(inspection.props))


def _props(inspection: Inspection) -> dict[str, str]:
    """The configuration as the class gets it in a run."""
    props = java_props(inspection.props) | {CONNECTOR_CLASS: inspection.connector_class}
    servers = {"bootstrap.servers": inspection.worker.props["bootstrap.servers"]}
    return props | history_defaults(inspection.connector_class, props, servers)


def _joined(theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any]:
    """Their answer counts where both have a key; errors that only we have are added."""
    entries = {entry["value"]["name"]: entry for entry in theirs["configs"]}
    for entry in ours["configs"]:
        known = entries.setdefault(_name(entry), entry)
        if known is not entry and not known["value"]["errors"]:
            known["value"]["errors"] = entry["value"]["errors"]
    configs = list(entries.values())
    groups = list(dict.fromkeys([*theirs["groups"], *ours["groups"]]))
    count = sum(len(entry["value"]["errors"]) for entry in configs)
    return {"name": ours["name"], "error_count": count, "groups": groups, "configs": configs}


def _name(entry: Mapping[str, Any]) -> str:
    return str(entry["value"]["name"])
