"""The Java plug-ins that a run needs and that are named by Maven coordinates: downloaded before it is validated."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from airflow_kconnect.hosted.installing.coordinates import provide
from airflow_kconnect.machine.java import find_java
from airflow_kconnect.plugins.java.places import coordinates_folder
from airflow_kconnect.worker_config.keys import WorkerConfig
from airflow_kconnect.worker_config.plugin_keys import COORDINATES, INSTALL, coordinates_errors, coordinates_of

log = logging.getLogger("kconnect.hosted")


def provide_plugins(props: Mapping[str, str], worker: WorkerConfig) -> None:
    """Download the plug-ins of a hosted connector, unless they were before. Those that the worker does not allow are
    left alone: validation then says so.

    :param props: the connector's, variables resolved.
    :raises RetriableError: a download failed. :raises SetupError: there is no such artifact, or no Java.
    """
    if coordinates_errors(props, worker.get(INSTALL)):
        return
    wanted = [*coordinates_of(props), *worker.get(COORDINATES)]
    if not all(coordinates_folder(each).is_dir() for each in wanted):
        provide(wanted, java=find_java(), progress=log.info)
