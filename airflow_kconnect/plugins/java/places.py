"""Where Java plug-ins are: the folders of `plugin.path`, and those of Maven coordinates in the cache."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from airflow_kconnect.machine.cache import cache_folder

_COORDINATES = re.compile(r"[\w.-]+:[\w.-]+(?::(?:jar|zip|tar\.gz):[\w.-]+)?:[\w.+-]*\d[\w.+-]*")


def coordinates_problem(coordinates: str) -> str | None:
    """What is wrong with the form of Maven coordinates; None if nothing is."""
    if _COORDINATES.fullmatch(coordinates) and not coordinates.endswith("+"):
        return None
    return f"expected group:artifact:version, with a version such as 1.2.3; not {coordinates}"


def default_folder() -> Path:
    """The folder of plug-ins that is used where a worker names no `plugin.path`: `plugins` in the cache."""
    return cache_folder() / "plugins"


def coordinates_folder(coordinates: str) -> Path:
    """The folder in the cache whose only plug-in is that of Maven coordinates; it exists once they were resolved.

    :param coordinates: `group:artifact:version`, or `group:artifact:packaging:classifier:version`.
    """
    digest = hashlib.sha256(coordinates.encode()).hexdigest()[:8]
    _, artifact, *_, version = coordinates.split(":")
    return cache_folder() / "plugins-of-coordinates" / f"{artifact}-{version}-{digest}"


def folders(plugin_path: Sequence[str], coordinates: Sequence[str] = ()) -> tuple[Path, ...]:
    """All folders of plug-ins, those of coordinates first.

    :param plugin_path: the worker's; empty means the default folder.
    :param coordinates: of connector and worker.
    """
    elements = [Path(element).expanduser().absolute() for element in plugin_path if element]
    return (*map(coordinates_folder, coordinates), *(elements or [default_folder()]))
