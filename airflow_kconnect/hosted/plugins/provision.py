"""The plug-ins of a run: those of Maven coordinates are downloaded, and Connect is told where all of them are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.connect.hosting.inspection import looks_hosted
from airflow_kconnect.connect.java_plugins import JavaPlugin, JavaPlugins
from airflow_kconnect.connect.java_plugins.places import coordinates_folder
from airflow_kconnect.connect.validation.plugin_keys import INSTALL, coordinates_errors, coordinates_of
from airflow_kconnect.connect.validation.worker_keys import WorkerConfig
from airflow_kconnect.hosted.plugins.coordinates import provide
from airflow_kconnect.machine.java import find_java


def download_plugins(
    props: Mapping[str, str], worker: WorkerConfig, progress: Callable[[str], None] | None = None
) -> None:
    """Download the plug-ins that coordinates of connector and worker name, if the connector may need them.

    Call it before the configuration is validated: only then is the class known.

    :param props: of the connector, variables resolved.
    :raises ConfigError: the worker does not allow the connector's coordinates.
    :raises SetupError: there is no such artifact, or no Java. :raises RetriableError: the download failed.
    """
    coordinates = [*coordinates_of(props), *coordinates_of(worker.props)]
    if not coordinates or not looks_hosted(props):
        return
    if errors := coordinates_errors({key: str(text) for key, text in props.items()}, worker.get(INSTALL)):
        raise ConfigError(errors, str(props.get("name", "")) or None)
    if not all(coordinates_folder(each).is_dir() for each in coordinates):
        provide(coordinates, java=find_java(), progress=progress)


def plugin_properties(
    plugin: JavaPlugin, props: Mapping[str, str], worker: WorkerConfig, folder: Path
) -> dict[str, str]:
    """`plugin.path` and `plugin.discovery` of the worker that hosts a connector.

    Folders that do not exist are left out, and so are plug-ins with another version of the class: Connect would take
    the newest, also where the connector's own coordinates have an older one.

    :param plugin: the connector's class.
    :param folder: private to this run; gets a folder of links if some plug-ins are left out.
    """
    everything = worker.java_plugins(coordinates_of(props))
    elements = [element for element in everything.plugin_path if element.exists()]
    if others := {other.folder for other in everything.versions(plugin.name)} - {plugin.folder}:
        elements = [_without(others, JavaPlugins(elements).folders(), folder / "plugins")]
    return {
        "plugin.path": ",".join(map(str, elements)),
        # Service files are read in no time; a plug-in without them is found only by looking at all classes.
        "plugin.discovery": "service_load" if plugin.has_manifest else "hybrid_warn",
    }


def _without(others: set[Path], plugins: list[Path], links: Path) -> Path:
    links.mkdir()
    for number, plugin in enumerate(each for each in plugins if each not in others):
        # Names may be the same in two folders of plug-ins.
        (links / f"{number}-{plugin.name}").symlink_to(plugin)
    return links
