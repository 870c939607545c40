"""The plug-ins below `plugin.path`: each folder or jar directly in it, as Kafka Connect sees them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_ARCHIVES = (".jar", ".zip")


@dataclass(frozen=True)
class Location:
    """One plug-in with a class loader of its own.

    :param path: a folder, or a jar directly below `plugin.path`.
    :param jars: all its jars, at any depth.
    :param loose: whether it is a jar directly below `plugin.path`.
    """

    path: Path
    jars: tuple[Path, ...]
    loose: bool


def locations(plugin_path: Sequence[Path]) -> list[Location]:
    """The plug-ins below the given folders, in their order; a folder that does not exist has none.

    :param plugin_path: folders of plug-ins, or single jars.
    """
    return [location for element in plugin_path for location in _below(element)]


def _below(element: Path) -> Iterator[Location]:
    if element.is_file():
        if _is_archive(element):
            yield Location(element, (element,), loose=False)
        return
    try:
        children = sorted(element.iterdir())
    except OSError:
        return
    for child in children:
        if child.is_dir():
            yield Location(child, tuple(_jars(child)), loose=False)
        elif _is_archive(child):
            yield Location(child, (child,), loose=True)


def _jars(folder: Path) -> list[Path]:
    """Jars at any depth; symbolic links are followed, each folder once."""
    jars: list[Path] = []
    seen: set[str] = set()
    for current, folders, files in os.walk(folder, followlinks=True):
        real = os.path.realpath(current)
        if real in seen:
            folders.clear()
            continue
        seen.add(real)
        folders.sort()
        jars += [Path(current, name) for name in sorted(files) if _is_archive(Path(name))]
    return jars


def _is_archive(path: Path) -> bool:
    return path.name.lower().endswith(_ARCHIVES)
