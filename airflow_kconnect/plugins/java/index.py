"""The index of Java plug-ins: which classes the folders of `plugin.path` have, of what kind and version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.plugins.java.class_files import ClassFile, NotAClass, parse
from airflow_kconnect.plugins.java.jars import BrokenJar, Jar, open_jar
from airflow_kconnect.plugins.java.kinds import CONNECTORS, KINDS, Kind, is_name
from airflow_kconnect.plugins.java.locations import Location, locations
from airflow_kconnect.plugins.java.versions import order, version_of

_SERVICES = "META-INF/services/org.apache.kafka.co"
_USUAL_ENDS = ("Connector", "Converter", "Transform", "Transformation", "$Key", "$Value", "Predicate")
# Packages that Java and Connect provide.
_PROVIDED = ("java.", "javax.", "jakarta.", "org.apache.kafka.", "org.slf4j.")
# A class hierarchy is seldom deeper than five; a broken jar must not keep us in a loop.
_DEEPEST = 32


@dataclass(frozen=True)
class JavaPlugin:
    """One class of a plug-in.

    :param name: full name of the class.
    :param kind: what it is.
    :param version: as its jar tells it, without loading the class; None if it does not.
    :param folder: the plug-in that has it: a folder below `plugin.path`, or a single jar.
    :param has_manifest: whether `META-INF/services` names it; else `plugin.discovery=service_load` does not find it.
    :param jar: the file that names or holds it.
    """

    name: str
    kind: Kind
    version: str | None
    folder: Path
    has_manifest: bool
    jar: Path


class JavaPlugins:
    """The classes below `plugin.path`; jars are read at the first request, and again only when they change.

    :param plugin_path: folders of plug-ins, or single jars. Folders that do not exist have none.
    """

    def __init__(self, plugin_path: Sequence[Path]) -> None:
        self.plugin_path = tuple(plugin_path)

    def find(self, class_name: str, *, kinds: Sequence[Kind] = CONNECTORS) -> JavaPlugin | None:
        """The newest plug-in of this name; None if there is none.

        :param class_name: full name, simple name, or that without `Connector`.
        :param kinds: the kinds that are looked for.
        :raises ConfigError: several classes have this simple name; keyed by `connector.class`.
        """
        versions = self.versions(class_name, kinds=kinds)
        return versions[0] if versions else None

    def versions(self, class_name: str, *, kinds: Sequence[Kind] = CONNECTORS) -> list[JavaPlugin]:
        """All installed versions of a class, the newest first.

        :raises ConfigError: as for `find`.
        """
        named = [
            plugin for plugin in self.all() if plugin.kind in kinds and is_name(class_name, plugin.kind, plugin.name)
        ]
        exact = [plugin for plugin in named if plugin.name == class_name]
        if not exact and len(names := sorted({plugin.name for plugin in named})) > 1:
            text = (
                f"More than one connector matches alias {class_name}. Write the full name, one of: {', '.join(names)}"
            )
            raise ConfigError({"connector.class": [text]})
        matching = exact or named or [found for found in self._without_manifest(class_name) if found.kind in kinds]
        return sorted(matching, key=lambda plugin: order(plugin.version), reverse=True)

    def connectors(self) -> list[JavaPlugin]:
        """All connectors that a manifest names, by name, the newest version first."""
        return [plugin for plugin in self.all() if plugin.kind in CONNECTORS]

    def all(self) -> list[JavaPlugin]:
        """All plug-ins of all kinds that a manifest names, by name, the newest version first."""
        newest_first = sorted(self._named, key=lambda plugin: order(plugin.version), reverse=True)
        return sorted(newest_first, key=lambda plugin: plugin.name)

    def folders(self) -> list[Path]:
        """The plug-ins themselves: folders, or jars directly below `plugin.path`."""
        return [location.path for location in self._locations]

    def fingerprint(self) -> tuple[tuple[str, int, int], ...]:
        """Path, time of change in nanoseconds and size of each jar: another one means other plug-ins."""
        found = []
        for jar in (jar for location in self._locations for jar in location.jars):
            with suppress(OSError):
                status = jar.stat()
                found.append((str(jar), status.st_mtime_ns, status.st_size))
        return tuple(found)

    def guessed(self) -> list[JavaPlugin]:
        """Plug-ins that no manifest names, recognised by the ends of their names and by their superclasses.

        This reads many classes, and is for rare occasions.
        """
        named = {plugin.name for plugin in self.all()}
        names = {
            entry.removesuffix(".class").replace("/", ".")
            for _, jar in self._jars
            for suffix in _USUAL_ENDS
            for entry in jar.ending(f"{suffix}.class")
        }
        return [plugin for name in sorted(names - named) for plugin in self._without_manifest(name)]

    def class_exists(self, class_name: str) -> Path | None:
        """The jar that holds a class, of whatever kind; None if no plug-in has it."""
        return next((jar.path for _, jar in self._holders(class_name)), None)

    def missing_ancestor(self, class_name: str) -> str | None:
        """The superclass of a class, or of one above it, that its plug-in and Connect do not have; None if all are
        there.
        """
        for location, _ in self._holders(class_name):
            jars = [jar for place, jar in self._jars if place == location]
            name = class_name
            for _ in range(_DEEPEST):
                head = _head(name, jars)
                if head is None:
                    return None if name == class_name or name.startswith(_PROVIDED) else name
                name = head.superclass
        return None

    @cached_property
    def _locations(self) -> list[Location]:
        return locations(self.plugin_path)

    @cached_property
    def _jars(self) -> list[tuple[Location, Jar]]:
        return [(location, jar) for location in self._locations for jar in _readable(location)]

    @cached_property
    def _named(self) -> list[JavaPlugin]:
        found: dict[tuple[str, Kind, Path], JavaPlugin] = {}
        for location in self._locations:
            for plugin in _named_by(_readable(location), location):
                found.setdefault((plugin.name, plugin.kind, plugin.folder), plugin)
        return list(found.values())

    def _holders(self, class_name: str) -> Iterator[tuple[Location, Jar]]:
        name = class_file_name(class_name)
        return ((location, jar) for location, jar in self._jars if jar.contains(name))

    def _without_manifest(self, class_name: str) -> Iterator[JavaPlugin]:
        for location, holder in self._holders(class_name):
            jars = [jar for place, jar in self._jars if place == location]
            if kind := kind_of(class_name, jars):
                yield JavaPlugin(class_name, kind, version_of(holder), location.path, False, holder.path)


def kind_of(class_name: str, jars: Sequence[Jar]) -> Kind | None:
    """What a class is, by its superclasses and interfaces as far as these jars hold them.

    :param class_name: full name.
    :param jars: jars of one plug-in.
    :returns: None for an abstract class, and for a class of no kind.
    """
    pending, first = [class_name], True
    for _ in range(_DEEPEST):
        if not pending:
            break
        name = pending.pop(0)
        if kind := KINDS.get(name):
            return None if first else kind
        head = _head(name, jars)
        if head is None:
            continue
        if first and head.abstract:
            return None
        pending += [head.superclass, *head.interfaces]
        first = False
    return None


def _head(class_name: str, jars: Sequence[Jar]) -> ClassFile | None:
    name = class_file_name(class_name)
    jar = next((jar for jar in jars if jar.contains(name)), None)
    try:
        return parse(jar.read(name)) if jar else None
    except (BrokenJar, NotAClass):
        return None


def class_file_name(class_name: str) -> str:
    """Where a jar keeps a class."""
    return f"{class_name.replace('.', '/')}.class"


def _readable(location: Location) -> list[Jar]:
    jars = []
    for path in location.jars:
        # The others may be whole; `problems` names this one.
        with suppress(BrokenJar):
            jars.append(open_jar(path))
    return jars


def _named_by(jars: Sequence[Jar], location: Location) -> Iterator[JavaPlugin]:
    for jar in jars:
        for file in jar.names(_SERVICES):
            if kind := KINDS.get(file.removeprefix("META-INF/services/")):
                for name in _class_names(jar, file):
                    holder = next((other for other in jars if other.contains(class_file_name(name))), jar)
                    yield JavaPlugin(name, kind, version_of(holder), location.path, True, holder.path)


def _class_names(jar: Jar, file: str) -> list[str]:
    try:
        lines = jar.read(file).decode(errors="replace").splitlines()
    except BrokenJar:
        return []
    return [name for line in lines if (name := line.partition("#")[0].strip())]
