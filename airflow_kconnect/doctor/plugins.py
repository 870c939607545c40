"""Checks of Java plug-ins: the folders of `plugin.path`, what coordinates name, and Connect's runtime."""

from __future__ import annotations

from collections.abc import Iterator

from airflow_kconnect.doctor.findings import Checks, Finding, ok, warning
from airflow_kconnect.doctor.subject import Subject
from airflow_kconnect.hosted.jvm.libraries import CONNECT
from airflow_kconnect.hosting.installed import java_plugins
from airflow_kconnect.machine import ivy
from airflow_kconnect.plugins.java.places import coordinates_folder, default_folder
from airflow_kconnect.plugins.java.problems import problems
from airflow_kconnect.worker_config.keys import WorkerConfig
from airflow_kconnect.worker_config.plugin_keys import COORDINATES, coordinates_of

_SHOWN = 6


def register(checks: Checks) -> None:
    """Add the checks of this module."""
    checks.add("Java plug-ins")(_plugins)


def _plugins(subject: Subject) -> Iterator[Finding]:
    worker = subject.worker if subject.worker_props else WorkerConfig.defaults()
    coordinates = coordinates_of(subject.props)
    java = java_plugins(worker, coordinates)
    named = [folder for folder in java.plugin_path if folder != default_folder() or folder.is_dir()]
    wanted = [*coordinates, *coordinates_of(worker.props)]
    missing = [each for each in wanted if not coordinates_folder(each).is_dir()]
    folders = [folder for folder in named if folder not in {coordinates_folder(each) for each in missing}]
    for found in problems(folders):
        yield warning(found.text, found.cure)
    if missing:
        yield warning(
            f"not downloaded yet: {', '.join(missing)} (`{COORDINATES}`)", "The first run downloads them if it can."
        )
    connectors = list(dict.fromkeys(each.name for each in java.connectors()))
    if not connectors:
        yield ok("no Java connectors are installed (kconnect plugins install adds one)")
        return
    more = f" and {len(connectors) - _SHOWN} more" if len(connectors) > _SHOWN else ""
    yield ok(f"{', '.join(connectors[:_SHOWN])}{more}")
    if not ivy.is_cached(CONNECT):
        yield warning(
            "Kafka Connect's own jars, which host them, are not in the cache",
            "The first run of a Java connector downloads them; or fill KCONNECT_CACHE on another machine.",
        )
