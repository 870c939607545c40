"""Tells the Connect worker of a run where its plug-ins are: the chosen version, and all others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from airflow_kconnect.connect.hosting.installed import java_plugins
from airflow_kconnect.connect.java_plugins import JavaPlugin, JavaPlugins
from airflow_kconnect.connect.validation.plugin_keys import coordinates_of
from airflow_kconnect.connect.validation.worker_keys import WorkerConfig
from airflow_kconnect.hosted.plugins.contents import write_services


def plugin_properties(
    plugin: JavaPlugin, props: Mapping[str, str], worker: WorkerConfig, folder: Path
) -> dict[str, str]:
    """`plugin.path` and `plugin.discovery` of the worker that hosts a connector.

    Folders that do not exist are left out, and so are plug-ins with another version of the class: Connect would take
    the newest, also where the connector's own coordinates have an older one. A class that no manifest names gets one.

    :param plugin: the connector's class.
    :param folder: private to this run; gets a folder of links if some plug-ins are left out.
    """
    everything = java_plugins(worker, coordinates_of(props))
    elements = [element for element in everything.plugin_path if element.exists()]
    left_out = {other.folder for other in everything.versions(plugin.name)} - {plugin.folder}
    if not plugin.has_manifest:
        left_out.add(plugin.folder)
    if left_out:
        links = folder / "plugins"
        _link([each for each in JavaPlugins(elements).folders() if each not in left_out], links)
        if not plugin.has_manifest:
            _with_services(plugin, links / "unnamed")
        elements = [links]
    # Service files are read in no time, while all other ways look at the classes of all jars.
    return {"plugin.path": ",".join(map(str, elements)), "plugin.discovery": "service_load"}


def _link(plugins: Iterable[Path], links: Path) -> None:
    links.mkdir()
    for number, plugin in enumerate(plugins):
        # Names may be the same in two folders of plug-ins.
        (links / f"{number}-{plugin.name}").symlink_to(plugin)


def _with_services(plugin: JavaPlugin, folder: Path) -> None:
    """The plug-in together with a jar that names its classes."""
    folder.mkdir()
    (folder / plugin.folder.name).symlink_to(plugin.folder)
    others = [found for found in JavaPlugins([folder]).guessed() if found.name != plugin.name]
    write_services(folder, [plugin, *others])
