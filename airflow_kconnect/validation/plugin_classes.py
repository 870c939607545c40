"""The classes that a configuration names: their full names, and the versions that are asked for (KIP-891)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from airflow_kconnect.connect.config import ConfigDef
from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.plugins import registry as plugins
from airflow_kconnect.plugins.java.versions import matches
from airflow_kconnect.variables.syntax import has_reference

LATEST = "latest"
_VERSION = ".plugin.version"
_GROUPS = (plugins.CONNECTORS, plugins.CONVERTERS, plugins.TRANSFORMS, plugins.PREDICATES)


@dataclass(frozen=True)
class _Versions:
    """Recommends the version of a class; a converter that does not exist has none, and its key is not visible."""

    version: str | None
    exists: bool

    def valid_values(self, name: str, parsed: Mapping[str, Any]) -> Sequence[Any]:
        return [] if self.version is None else [self.version]

    def visible(self, name: str, parsed: Mapping[str, Any]) -> bool:
        return self.exists


def with_versions(definition: ConfigDef, props: Mapping[str, str]) -> ConfigDef:
    """The definition in which the default of each version is that of the class which the configuration names.

    :param definition: with the keys of converters, transformations and predicates; it is not changed.
    """
    found = ConfigDef(definition)
    for key, class_key, group in version_keys(definition):
        name = props.get(class_key, definition.keys[class_key].default)
        version = version_of(group, name)
        exists = group != plugins.CONVERTERS or (isinstance(name, str) and full_name(name) is not None)
        found.keys[key] = replace(definition.keys[key], default=version, recommender=_Versions(version, exists))
    return found


def version_of(group: str, name: object) -> str | None:
    """The version of a class by its name or alias; None if there is no such class, or its version is not known."""
    try:
        return plugins.registry().version(group, name) if isinstance(name, str) else None
    except ConfigError:
        return None


def is_requirement(wanted: str) -> bool:
    """Whether a text is a version or a range, and not half of a range."""
    return wanted[:1] not in ("[", "(") or wanted[-1:] in ("]", ")")


def connector_version_problem(props: Mapping[str, str]) -> str | None:
    """Connect's text if the connector of this package that a configuration names does not exist in that version."""
    name, wanted = props.get("connector.class", ""), props.get(f"connector{_VERSION}")
    if wanted is None or has_reference(wanted) or (version := version_of(plugins.CONNECTORS, name)) is None:
        return None
    resolved = plugins.registry().resolve(plugins.CONNECTORS, name, key=name)
    return version_problem(resolved, version, wanted)


def version_problem(name: str, version: str | None, wanted: str) -> str | None:
    """Connect's text for a version that does not exist; None if it does, or the class has no version.

    :param name: the class. :param wanted: a version, a range as Maven has them, or `latest`.
    """
    if version is None or wanted == LATEST or matches(version, wanted):
        return None
    shown = wanted if wanted[:1] in ("[", "(") else f"[{wanted},{wanted}]"
    return f"Plugin {name} not found that matches the version range {shown}, available versions: [{version}]"


def full_name(name: str) -> str | None:
    """The full name of a class by its name or alias; None if there is no such class."""
    registry = plugins.registry()
    for group in _GROUPS:
        try:
            return registry.resolve(group, name, key=name)
        except ConfigError:
            pass
    return None


def version_keys(definition: ConfigDef) -> Iterator[tuple[str, str, str]]:
    """Key of a version, key of its class, and the group that the class is in."""
    for key in definition.keys:
        of = key.removesuffix(_VERSION)
        if of == key:
            continue
        if of == "connector":
            yield key, "connector.class", plugins.CONNECTORS
        elif of.endswith(".converter"):
            yield key, of, plugins.CONVERTERS
        else:
            group = plugins.TRANSFORMS if of.startswith("transforms.") else plugins.PREDICATES
            yield key, f"{of}.type", group
