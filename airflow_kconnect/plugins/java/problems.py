"""What is wrong with the folders of `plugin.path`, and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from airflow_kconnect.plugins.java.index import JavaPlugin, JavaPlugins, class_file_name
from airflow_kconnect.plugins.java.jars import BrokenJar, open_jar
from airflow_kconnect.plugins.java.kinds import CONNECTORS
from airflow_kconnect.plugins.java.locations import Location, locations

_MOST = 3


@dataclass(frozen=True)
class Problem:
    """One finding about plug-ins: the text, and what to do."""

    text: str
    cure: str

    def __str__(self) -> str:
        return f"{self.text}. {self.cure}"


def problems(plugin_path: Sequence[Path]) -> list[Problem]:
    """What does not work, or not as it looks; reads the directories of all jars.

    :param plugin_path: folders of plug-ins, or single jars.
    """
    found = [problem for element in plugin_path if (problem := _of_element(element))]
    everything = locations(plugin_path)
    found += _loose([location for location in everything if location.loose])
    for location in everything:
        found += _of_location(location)
    found += _versions(JavaPlugins(plugin_path).connectors())
    return found


def _of_element(element: Path) -> Problem | None:
    if not element.exists():
        return Problem(
            f"`plugin.path` names {element}, which does not exist", "Create it, correct the path, or remove it."
        )
    try:
        empty = element.is_dir() and not any(element.iterdir())
    except OSError as error:
        return Problem(f"`plugin.path`: {element} cannot be read: {error.strerror}", "Let this user read it.")
    if empty:
        return Problem(f"`plugin.path`: {element} is empty", "Put plug-ins there: kconnect plugins install PLUGIN.")
    return None


def _loose(jars: Sequence[Location]) -> Iterator[Problem]:
    """One jar with everything in it works so; several are parts of one plug-in."""
    for folder, group in groupby(jars, key=lambda location: location.path.parent):
        names = [location.path.name for location in group]
        if len(names) > 1:
            yield Problem(
                f"`plugin.path`: {len(names)} jars are directly in {folder} ({_some(names)}): each is a plug-in of its "
                "own, which does not see the others, and makes the start slower",
                f"Put the jars of one plug-in into one folder in {folder}; or, if {folder} is the folder of one "
                f"plug-in, name {folder.parent} as `plugin.path`.",
            )


def _of_location(location: Location) -> Iterator[Problem]:
    if not location.jars:
        yield Problem(
            f"Plug-in folder {location.path} has no jars",
            "Put the jars of the plug-in there, or remove the folder.",
        )
    whole = []
    for path in location.jars:
        try:
            whole.append(open_jar(path))
        except BrokenJar as error:
            yield Problem(str(error), "Install the plug-in again.")
    for plugin in JavaPlugins([location.path.parent]).all() if whole else ():
        if plugin.folder == location.path and not any(jar.contains(class_file_name(plugin.name)) for jar in whole):
            yield Problem(
                f"{plugin.jar} announces {plugin.name}, and no jar in {location.path} has this class",
                "Install the plug-in again, with all its jars.",
            )


def _versions(connectors: Sequence[JavaPlugin]) -> Iterator[Problem]:
    for name, group in groupby(connectors, key=lambda plugin: plugin.name):
        same = list(group)
        if len(same) > 1:
            where = ", ".join(f"{plugin.version or 'no version'} in {plugin.folder}" for plugin in same)
            yield Problem(
                f"{name} is installed {len(same)} times: {where}; the newest runs",
                "Remove the others, or choose by `connector.plugin.version`.",
            )


def missing_choice(plugins: Sequence[JavaPlugin]) -> str | None:
    """What to tell about a class of several versions if a connector does not say which one it wants.

    :param plugins: of one class, the newest first.
    """
    if len(plugins) < 2 or plugins[0].kind not in CONNECTORS:
        return None
    others = ", ".join(str(plugin.version) for plugin in plugins[1:])
    return f"version {plugins[0].version} runs, the newest; also installed: {others} (`connector.plugin.version`)"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST]) + (", ..." if len(names) > _MOST else "")
