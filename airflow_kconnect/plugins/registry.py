"""The registry of installed plugins: connectors, converters, transformations and predicates.

A plugin is an entry point whose name is the class name that configurations use: the Java name, for classes that exist
in Kafka Connect. A configuration can only name registered classes: its text is never imported.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from airflow_kconnect.connect.config.validators import invalid
from airflow_kconnect.connect.errors import ConfigError, in_one_line
from airflow_kconnect.plugins.advice import advice
from airflow_kconnect.plugins.files import ENVIRONMENT, FileEntryPoint, PluginFile, of_environment

if TYPE_CHECKING:
    from airflow_kconnect.connect.connector.base import Connector

CONNECTORS = "airflow_kconnect.connectors"
CONVERTERS = "airflow_kconnect.converters"
TRANSFORMS = "airflow_kconnect.transforms"
PREDICATES = "airflow_kconnect.predicates"

CONNECT_VERSION = "4.3.0"
"""The version of Kafka Connect that the API names, and that its classes have: see docs/compatibility.md."""

_OWN = "airflow_kconnect."
_CONNECT = "org.apache.kafka.connect."
_CONFLUENT = "io.confluent."

# The suffixes that a simple name may leave out (PluginUtils.prunedName).
_SUFFIXES = {
    CONNECTORS: "Connector",
    CONVERTERS: "Converter",
    TRANSFORMS: "Transformation",
    PREDICATES: "Predicate",
}


class PluginEntryPoint(Protocol):
    """The part of importlib.metadata.EntryPoint that is needed here."""

    @property
    def name(self) -> str: ...

    @property
    def value(self) -> str: ...

    def load(self) -> Any: ...


class PluginBringer(Protocol):
    """What plug-ins come with, such as a `PluginFile`."""

    def entry_points(self) -> Iterable[tuple[str, PluginEntryPoint]]: ...


@dataclass(frozen=True)
class PluginInfo:
    """One entry in a list of plugins; `error` says why a plugin cannot be imported, and is None if it can."""

    name: str
    kind: str | None = None
    version: str | None = None
    error: str | None = None


class PluginRegistry:
    """Finds plugin classes by the names that users write.

    :param entry_points: entry points per group; nothing is imported until it is requested.
    """

    def __init__(self, entry_points: Mapping[str, Iterable[PluginEntryPoint]]) -> None:
        self._groups: dict[str, dict[str, dict[str, PluginEntryPoint]]] = {}
        self._others_loaded = False
        self._broken: list[str] = []
        for group, entry_points_of_group in entry_points.items():
            names = self._groups.setdefault(group, {})
            for entry_point in entry_points_of_group:
                # Keyed by target: a package that is on sys.path twice is still one plugin.
                names.setdefault(entry_point.name, {})[entry_point.value] = entry_point

    def connector(self, name: str, *, key: str = "connector.class", hosted: Collection[str] = ()) -> type[Connector]:
        """Class of a connector, by full name, simple name, or simple name without `Connector`.

        :param hosted: Java connectors that could be named instead.

        :raises ConfigError: keyed by `key`: unknown (the text lists the known ones), ambiguous or broken.
        """
        if not self._candidates(CONNECTORS, name):
            text = "Failed to find any class that implements Connector and which name matches"
            names = sorted({*self.names(CONNECTORS), *hosted})
            known = ", ".join(names)
            more = self._advice(CONNECTORS, name, names)
            separator = "." if more else ""
            raise ConfigError({key: [f"{text} {name}, available connectors are: {known}{separator}{more}"]})
        return cast("type[Connector]", self._find(CONNECTORS, name, key))

    def converter(self, name: str, *, key: str = "converter") -> type[Any]:
        """Class of a converter or header converter, by full or simple name, with or without `Converter`.

        :raises ConfigError: keyed by `key`: unknown, ambiguous or not importable.
        """
        return self._find(CONVERTERS, name, key)

    def transform(self, name: str, *, key: str = "type") -> type[Any]:
        """Class of a transformation (`...transforms.Cast$Value` or `Cast$Value`).

        :raises ConfigError: keyed by `key`: unknown, ambiguous or not importable.
        """
        return self._find(TRANSFORMS, name, key)

    def predicate(self, name: str, *, key: str = "type") -> type[Any]:
        """Class of a predicate.

        :raises ConfigError: keyed by `key`: unknown, ambiguous or not importable.
        """
        return self._find(PREDICATES, name, key)

    def resolve(self, group: str, name: str, *, key: str) -> str:
        """Full name of the plugin that a name or alias refers to.

        :raises ConfigError: keyed by `key`: no plugin has this name, or several do.
        """
        candidates = self._candidates(group, name)
        if not candidates:
            raise invalid(key, name, f"Class {name} could not be found.{self._advice(group, name)}")
        if len(candidates) > 1:
            names = ", ".join(sorted(candidates))
            raise invalid(key, name, f"More than one class matches; write the full name, one of: {names}")
        return candidates[0]

    def name_of(self, group: str, plugin: type[Any]) -> str:
        """Full name of an installed class; for any other class its Python name."""
        target = f"{plugin.__module__}:{plugin.__qualname__}"
        names = (name for name, targets in self._groups.get(group, {}).items() if target in targets)
        return next(names, f"{plugin.__module__}.{plugin.__qualname__}")

    def installed_as(self, group: str, target: str) -> str | None:
        """The name of what an entry point names as `target`, ``module:attribute``; None: there is no such one."""
        return next((name for name, targets in self._groups.get(group, {}).items() if target in targets), None)

    def version(self, group: str, name: str) -> str | None:
        """The version of a plugin: Connect's for a class of Connect, since that is what it behaves as, else its own.

        :raises ConfigError: unknown, ambiguous or broken.
        """
        full_name = self.resolve(group, name, key=name)
        if full_name.startswith(_CONNECT):
            return CONNECT_VERSION
        plugin = self._find(group, full_name, full_name)
        if hasattr(plugin, "version"):
            return str(plugin.version())
        return installed_version("airflow-kconnect") if plugin.__module__.startswith(_OWN) else None

    def knows(self, group: str, name: str) -> bool:
        """Whether a plugin of this group has this name or alias, or several have."""
        return bool(self._candidates(group, name))

    @property
    def only_own_loaded(self) -> bool:
        """Whether all classes that have been requested so far are part of this package."""
        return not self._others_loaded

    def names(self, group: str) -> list[str]:
        """Full names of all plugins of a group, sorted."""
        return sorted(self._groups.get(group, {}))

    def connectors(self) -> list[PluginInfo]:
        """All connectors with kind and version; one that cannot be imported is listed with its error."""
        return self.listing(CONNECTORS)

    def listing(self, group: str) -> list[PluginInfo]:
        """All plugins of a group, sorted by name. This imports them; see `PluginInfo.error`."""
        return [self._info(group, name) for name in self.names(group)]

    def _info(self, group: str, name: str) -> PluginInfo:
        try:
            plugin = self._find(group, name, name)
            version = self.version(group, name)
        except Exception as error:
            text = error.errors[name][0] if isinstance(error, ConfigError) else in_one_line(error)
            return PluginInfo(name, error=text)
        return PluginInfo(name, kind=getattr(plugin, "kind", None), version=version)

    def _candidates(self, group: str, name: str) -> list[str]:
        known = self._groups.get(group, {})
        if name in known:
            return [name]
        matches = [full for full in known if name in _aliases(group, full)]
        # The simple name JdbcSource is ambiguous: it refers to the one that we list under a name of our own. So is
        # JsonSchemaConverter: it is Confluent's, as it was before there was Amazon's.
        for preferred in (_OWN, _CONFLUENT):
            if len(own := [full for full in matches if full.startswith(preferred)]) == 1:
                return own
        return matches

    def _advice(self, group: str, name: str, known: Sequence[str] | None = None) -> str:
        others = (other for other in self._groups if other != group and self._candidates(other, name))
        elsewhere = next((f"a {_SUFFIXES[other].lower()}" for other in others if other in _SUFFIXES), None)
        broken = f" Files of `{ENVIRONMENT}` cannot be used: {'; '.join(self._broken)}" if self._broken else ""
        return advice(name, known or self.names(group), elsewhere) + broken

    def add_if_whole(self, path: Path) -> None:
        """As `add`. A broken file does not keep others from being used: errors of missing plug-ins name it."""
        try:
            self.add(PluginFile.read(path))
        except ConfigError as error:
            self._broken += error.errors["plugin"]

    def add(self, bringer: PluginBringer, *, instead: bool = False) -> None:
        """Have the plug-ins of a file, too.

        :param instead: of any others with their names. :raises ConfigError: it is not Python.
        """
        for group, entry_point in bringer.entry_points():
            if instead:
                self._groups.get(group, {}).pop(entry_point.name, None)
            self._groups.setdefault(group, {}).setdefault(entry_point.name, {})[entry_point.value] = entry_point

    @contextmanager
    def having(self, bringers: Iterable[PluginBringer]) -> Iterator[None]:
        """A block in which it has more plug-ins, in place of any with their names: the process may serve others later.

        :raises ConfigError: a file is not Python.
        """
        before = self._groups
        self._groups = {group: dict(names) for group, names in before.items()}
        try:
            for bringer in bringers:
                self.add(bringer, instead=True)
            yield
        finally:
            self._groups = before

    @property
    def files(self) -> list[PluginFile]:
        """All files that have plug-ins."""
        points = (point for names in self._groups.values() for each in names.values() for point in each.values())
        return list(dict.fromkeys(point.file for point in points if isinstance(point, FileEntryPoint)))

    def files_of(self, names: Iterable[str]) -> list[PluginFile]:
        """The files that have plug-ins with one of these names, which another process needs to find them."""
        found = {(group, full) for name in names for group in self._groups for full in self._candidates(group, name)}
        points = [point for group, full in sorted(found) for point in self._groups[group][full].values()]
        return list(dict.fromkeys(point.file for point in points if isinstance(point, FileEntryPoint)))

    def _find(self, group: str, name: str, key: str) -> type[Any]:
        full_name = self.resolve(group, name, key=key)
        targets = self._groups[group][full_name]
        if len(targets) > 1:
            modules = ", ".join(sorted(targets))
            text = f"{full_name} is installed more than once: {modules}; uninstall all but one."
            raise ConfigError({key: [text]})
        entry_point = next(iter(targets.values()))
        self._others_loaded |= not entry_point.value.startswith(_OWN)
        try:
            loaded = entry_point.load()
        except Exception as error:
            text = f"{full_name} is installed, but {entry_point.value} cannot be imported: {in_one_line(error)}"
            raise ConfigError({key: [text]}) from error
        loaded = getattr(loaded, "plugin_class", loaded)  # of a decorated function
        if not isinstance(loaded, type):
            raise ConfigError({key: [f"{full_name} is installed, but {entry_point.value} is not a class."]})
        return loaded


def _aliases(group: str, full_name: str) -> set[str]:
    simple = full_name.rpartition(".")[2]
    return {simple, simple.removesuffix(_SUFFIXES.get(group, ""))} - {""}


@cache
def registry() -> PluginRegistry:
    """The plugins installed in this environment, and those of files that it names; read once per process."""
    groups = (CONNECTORS, CONVERTERS, TRANSFORMS, PREDICATES)
    found = PluginRegistry({group: entry_points(group=group) for group in groups})
    for path in of_environment():
        found.add_if_whole(path)
    return found
