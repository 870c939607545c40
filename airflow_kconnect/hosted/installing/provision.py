"""Tells the Connect worker of a run where its plug-ins are: the chosen version, and all others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from airflow_kconnect.hosted.installing.contents import write_services
from airflow_kconnect.hosting.installed import java_plugins
from airflow_kconnect.plugins.java import JavaPlugin, JavaPlugins
from airflow_kconnect.worker_config.keys import WorkerConfig
from airflow_kconnect.worker_config.plugin_keys import coordinates_of


@dataclass(frozen=True)
class PluginPath:
    """What a Connect worker finds its plug-ins in; for two that are equal it finds the same classes.

    :param elements: of `plugin.path`.
    :param left_out: plug-ins below them that it must not see.
    :param unnamed: a class that no manifest names, and which gets one.
    """

    elements: tuple[Path, ...]
    left_out: frozenset[Path] = frozenset()
    unnamed: JavaPlugin | None = None

    def properties(self, folder: Path) -> dict[str, str]:
        """`plugin.path` and `plugin.discovery` of the worker.

        :param folder: private to its JVM; gets a folder of links if some plug-ins are left out.
        """
        elements = self.elements
        if self.left_out:
            links = folder / "plugins"
            _link([each for each in JavaPlugins(elements).folders() if each not in self.left_out], links)
            if self.unnamed is not None:
                _with_services(self.unnamed, links / "unnamed")
            elements = (links,)
        # Service files are read in no time, while all other ways look at the classes of all jars.
        return {"plugin.path": ",".join(map(str, elements)), "plugin.discovery": "service_load"}


def plugin_path(plugin: JavaPlugin, props: Mapping[str, str], worker: WorkerConfig) -> PluginPath:
    """Where the worker that hosts a connector finds plug-ins.

    Folders that do not exist are left out, and so are plug-ins with another version of the class: Connect would take
    the newest, also where the connector's own coordinates have an older one. A class that no manifest names gets one.

    :param plugin: the connector's class.
    """
    everything = java_plugins(worker, coordinates_of(props))
    elements = tuple(element for element in everything.plugin_path if element.exists())
    left_out = {other.folder for other in everything.versions(plugin.name)} - {plugin.folder}
    if plugin.has_manifest:
        return PluginPath(elements, frozenset(left_out))
    return PluginPath(elements, frozenset({*left_out, plugin.folder}), plugin)


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
