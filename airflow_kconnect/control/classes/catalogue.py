"""The installed plugins as Connect's REST API describes them: list, keys, validation of a configuration."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from airflow_kconnect.connect.config import ConfigDef, describe, describe_key
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.control.classes.java_catalogue import java_infos, java_keys, java_list
from airflow_kconnect.control.errors import NotFoundError
from airflow_kconnect.plugins import registry as plugins
from airflow_kconnect.validation.before_variables import inspect_without_references
from airflow_kconnect.validation.connector_keys import KCONNECT, sink_config, source_config
from airflow_kconnect.validation.inspection import CONNECTOR_CLASS, Inspection
from airflow_kconnect.validation.plugin_classes import (
    is_requirement,
    version_of,
    version_problem,
    with_versions,
)

_CONNECTOR_TYPES = ("sink", "source")
_OTHER_GROUPS = (
    (plugins.TRANSFORMS, "transformation"),
    (plugins.PREDICATES, "predicate"),
    (plugins.CONVERTERS, "converter"),
    (plugins.CONVERTERS, "header_converter"),
)
_GROUPS = (plugins.CONNECTORS, plugins.TRANSFORMS, plugins.PREDICATES, plugins.CONVERTERS)
_CONVERTER_TYPES = ("converter", "header_converter")


def plugin_list(worker: Mapping[str, Any], *, connectors_only: bool = True) -> list[dict[str, Any]]:
    """Class, type and version of each plugin that can be used: sinks, then sources, then the other kinds; Java's last.

    :param worker: variables not resolved; its `plugin.path` has the Java plug-ins.
    """
    entries = list(_connectors())
    if not connectors_only:
        entries += list(_others())
    return entries + list(java_list(worker, connectors_only=connectors_only))


def _connectors() -> Iterator[dict[str, Any]]:
    known = [info for info in plugins.registry().connectors() if info.error is None]
    for kind in _CONNECTOR_TYPES:
        yield from (_entry(info.name, kind, info.version) for info in known if info.kind == kind)


def _others() -> Iterator[dict[str, Any]]:
    registry = plugins.registry()
    for group, kind in _OTHER_GROUPS:
        for info in registry.listing(group):
            if info.error is None and (kind not in _CONVERTER_TYPES or _converts(info.name, kind)):
                yield _entry(info.name, kind, info.version)


def _converts(name: str, kind: str) -> bool:
    converter = plugins.registry().converter(name)
    return converter.converts_headers if kind == "header_converter" else not converter.for_headers_only


def _entry(name: str, kind: str, version: str | None) -> dict[str, Any]:
    return {"class": name, "type": kind, "version": version or "undefined"}


def plugin_keys(name: str, worker: Mapping[str, Any], version: str | None = None) -> list[dict[str, Any]]:
    """The keys of a plugin; those of a connector are followed by Connect's own.

    :param name: full name, simple name or alias.
    :param worker: variables not resolved; its `plugin.path` has the Java plug-ins.
    :param version: of a Java plug-in; None means the newest.
    :raises NotFoundError: no plugin has this name. :raises ConfigError: it does not exist in this version.
    """
    if not any(plugins.registry().knows(group, name) for group in _GROUPS):
        described = java_keys(name, version, worker)
        if described is not None:
            return described
    own, framework = _definitions(name, version)
    keys = {**own.keys, **{key: framework.keys[key] for key in framework.keys if key not in own.keys}}
    return [describe_key(key) for key in keys.values()]


def _definitions(name: str, version: str | None) -> tuple[ConfigDef, ConfigDef]:
    registry = plugins.registry()
    loaders: dict[str, Callable[[str], type[Any]]] = {
        plugins.TRANSFORMS: registry.transform,
        plugins.PREDICATES: registry.predicate,
        plugins.CONVERTERS: registry.converter,
    }
    if registry.knows(plugins.CONNECTORS, name):
        _check_version(plugins.CONNECTORS, name, version)
        connector = registry.connector(name)
        framework = source_config() if connector.kind == "source" else sink_config()
        return connector.config(), with_versions(framework, {CONNECTOR_CLASS: name})
    for group, load in loaders.items():
        if registry.knows(group, name):
            _check_version(group, name, version)
            return load(name).config(), ConfigDef()
    raise NotFoundError(f"Unknown plugin {name}.")


def _check_version(group: str, name: str, wanted: str | None) -> None:
    if wanted is None:
        return
    if not is_requirement(wanted):
        raise ConfigError({name: [f"Invalid version specification: {wanted}"]})
    full_name = plugins.registry().resolve(group, name, key=name)
    if (problem := version_problem(full_name, version_of(group, name), wanted)) is not None:
        raise ConfigError({name: [problem]})


def validation(
    plugin: str, config: Mapping[str, Any], worker: Mapping[str, Any], *, asks_java: bool = True
) -> dict[str, Any]:
    """Connect's `ConfigInfos` of a configuration: every key with its definition, value and errors.

    :param asks_java: whether a Java class validates, too; else only Connect's keys and ours are checked.
    Other parameters, and exceptions: as `inspected`.
    """
    return described(inspected(plugin, config, worker), config, asks_java=asks_java)


def inspected(plugin: str, config: Mapping[str, Any], worker: Mapping[str, Any]) -> Inspection:
    """The findings about a configuration of a connector.

    :param plugin: the class that the request names. :param config: variables not resolved.
    :raises ConfigError: the configuration names no connector class, or another one.
    """
    named = config.get(CONNECTOR_CLASS)
    if named is None:
        raise ConfigError({CONNECTOR_CLASS: ["Connector config contains no connector type"]})
    if not _pruned(str(named)).endswith(_pruned(plugin)):
        text = f"Included connector type {named} does not match request type {plugin}"
        raise ConfigError({CONNECTOR_CLASS: [text]})
    inspection = inspect_without_references(config, worker)
    if inspection.kind is None:
        raise ConfigError({CONNECTOR_CLASS: inspection.errors[CONNECTOR_CLASS]})
    return inspection


def described(inspection: Inspection, config: Mapping[str, Any], *, asks_java: bool = True) -> dict[str, Any]:
    """The `ConfigInfos` of an inspection; of a hosted connector also what its Java class says.

    :param config: that was inspected, variables not resolved.
    :raises RetriableError: Java did not answer.
    """
    if inspection.hosted is not None and asks_java:
        return java_infos(inspection, config)
    name = str(config.get(CONNECTOR_CLASS) or "")
    _recommend_choices(inspection)
    return describe(inspection.definition, inspection.values.values(), name=name)


def _recommend_choices(inspection: Inspection) -> None:
    """Connect recommends no values of its own keys and of those of its transformations, such as `errors.tolerance`: a
    tool that compares answers would find a difference.
    """
    own = {*inspection.own.keys, *(name for name, key in inspection.framework.keys.items() if key.group == KCONNECT)}
    for name in own & inspection.values.keys():
        value = inspection.values[name]
        value.recommended_values = value.recommended_values or list(inspection.definition.keys[name].choices)


def _pruned(name: str) -> str:
    """What Connect compares of a name."""
    return name.removesuffix("Connector")
