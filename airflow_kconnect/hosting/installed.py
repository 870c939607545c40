"""The Java plug-ins that a worker has."""

from __future__ import annotations

from collections.abc import Sequence

from airflow_kconnect.plugins.java import JavaPlugins
from airflow_kconnect.plugins.java.places import coordinates_problem, folders
from airflow_kconnect.worker_config.keys import WorkerConfig
from airflow_kconnect.worker_config.plugin_keys import COORDINATES, PLUGIN_PATH


def java_plugins(worker: WorkerConfig, coordinates: Sequence[str] = ()) -> JavaPlugins:
    """The Java plug-ins of a worker: those of Maven coordinates, as far as they were resolved, and those below
    `plugin.path`.

    :param coordinates: of the connector; they come before the worker's own.
    """
    # What is not in the form of coordinates is an error of its key, and has no folder.
    known = [each for each in coordinates if not coordinates_problem(each)]
    return JavaPlugins(folders(worker.parsed[PLUGIN_PATH], [*known, *worker.parsed[COORDINATES]]))
