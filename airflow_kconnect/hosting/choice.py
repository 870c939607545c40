"""Which plug-in a configuration means: of Maven coordinates, or of `plugin.path`, and in which version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hosting.installed import java_plugins
from airflow_kconnect.plugins.java import JavaPlugin, JavaPlugins
from airflow_kconnect.plugins.java.kinds import Kind
from airflow_kconnect.plugins.java.places import coordinates_folder, coordinates_problem
from airflow_kconnect.plugins.java.problems import missing_choice
from airflow_kconnect.plugins.java.versions import matches
from airflow_kconnect.plugins.java.well_known import well_known
from airflow_kconnect.worker_config.keys import WorkerConfig
from airflow_kconnect.worker_config.plugin_keys import coordinates_of

CONNECTOR_CLASS = "connector.class"
VERSION = "connector.plugin.version"
_NEWEST = "latest"


def installed_versions(props: Mapping[str, object], worker: WorkerConfig) -> list[JavaPlugin]:
    """The versions of the connector's class, the newest first; those of its own coordinates exclude others.

    :raises ConfigError: several classes have this simple name.
    """
    name = str(props.get(CONNECTOR_CLASS) or "")
    own = [coordinates_folder(each) for each in coordinates_of(props) if not coordinates_problem(each)]
    return JavaPlugins(own).versions(name) or java_plugins(worker, coordinates_of(props)).versions(name)


def chosen(props: Mapping[str, object], worker: WorkerConfig) -> JavaPlugin | None:
    """The plug-in that runs; None if no plug-in has the class.

    Where coordinates were not downloaded yet, it is what the configuration says about it.

    :raises ConfigError: the version that is asked for is not installed, the class is not a connector, or several
        classes have this simple name.
    """
    versions = installed_versions(props, worker)
    if not versions:
        _check_is_no_other(props, worker)
        return _not_downloaded(props, worker)
    wish = str(props.get(VERSION) or _NEWEST).strip()
    matching = [plugin for plugin in versions if wish == _NEWEST or matches(plugin.version, wish)]
    if not matching:
        known = ", ".join(plugin.version or "one without version" for plugin in versions)
        raise ConfigError({VERSION: [f"{versions[0].name} is not installed in version {wish}, but in: {known}"]})
    return matching[0]


def notes(props: Mapping[str, object], worker: WorkerConfig) -> list[str]:
    """What a user should know about the choice: warnings."""
    if props.get(VERSION):
        return []
    note = missing_choice(installed_versions(props, worker))
    return [f"`{CONNECTOR_CLASS}`: {note}"] if note else []


def _check_is_no_other(props: Mapping[str, object], worker: WorkerConfig) -> None:
    name = str(props.get(CONNECTOR_CLASS) or "")
    plugins = java_plugins(worker, coordinates_of(props))
    jar = plugins.class_exists(name)
    if jar is None:
        return
    if missing := plugins.missing_ancestor(name):
        text = f"{name} is in {jar}, but {missing}, which it extends, is in no jar of that plug-in: install it again "
        raise ConfigError({CONNECTOR_CLASS: [text + "with everything that it needs"]})
    others: Sequence[JavaPlugin] = [plugin for plugin in plugins.all() if plugin.name == name]
    what = f"a {others[0].kind.replace('_', ' ')}" if others else "neither a source nor a sink connector, or abstract"
    raise ConfigError({CONNECTOR_CLASS: [f"{name} is in {jar}, but it is not a connector: it is {what}"]})


def _not_downloaded(props: Mapping[str, object], worker: WorkerConfig) -> JavaPlugin | None:
    """A class of coordinates whose jars are not here yet: the run downloads them, and looks again."""
    coordinates = [*coordinates_of(props), *coordinates_of(worker.props)]
    missing = [each for each in coordinates if not coordinates_problem(each) and not coordinates_folder(each).is_dir()]
    if not missing:
        return None
    written = str(props.get(CONNECTOR_CLASS) or "")
    known = well_known(written)
    # All sinks and no sources read topics by these keys.
    by_keys: Kind = "sink" if {"topics", "topics.regex"} & props.keys() else "source"
    kind, name = (known.kind, known.name) if known else (by_keys, written)
    folder = coordinates_folder(missing[0])
    return JavaPlugin(name, kind, missing[0].rpartition(":")[2], folder, True, folder)
