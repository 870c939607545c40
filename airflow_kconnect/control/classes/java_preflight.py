"""Asks the Java class of a hosted connector about its keys before a job is submitted to a cluster."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from airflow_kconnect.connect.config import texts_of
from airflow_kconnect.connect.errors import ConfigError, RetriableError, SetupError
from airflow_kconnect.control.classes.java_catalogue import java_key_errors
from airflow_kconnect.hosted.asking.warm import WARM
from airflow_kconnect.hosting.inspection import looks_hosted
from airflow_kconnect.hosting.installed import java_plugins
from airflow_kconnect.machine.cache import cache_folder
from airflow_kconnect.validation.before_variables import inspect_without_references
from airflow_kconnect.validation.inspection import Inspection
from airflow_kconnect.variables.secret_keys import is_secret
from airflow_kconnect.worker_config.plugin_keys import coordinates_of

log = logging.getLogger("kconnect.hosted")

_KEPT_S = 30 * 86_400.0


def check_java_keys(config: Mapping[str, Any], worker: Mapping[str, Any], kind: str | None) -> None:
    """Check the keys of a hosted connector with its class, if that and Java are on this machine.

    Each key is checked by itself: what the class would connect to may be reached only from where the job runs. The job
    has the class validate everything. A configuration without errors is remembered in the cache, so that scheduled runs
    do not start a JVM each time.

    :param config: of the connector. :param worker: keys of the worker. Variables of both need not be resolved.
    :param kind: `source` or `sink` if only such connectors are allowed.
    :raises ConfigError: with all errors that do not depend on variables.
    """
    if not looks_hosted(texts_of(config)[0]):
        return
    inspection = inspect_without_references(config, worker, kind)
    if inspection.hosted is None:
        return
    marker = _marker(inspection)
    if marker is not None and marker.exists():
        return
    try:
        errors = java_key_errors(inspection, config)
    except (SetupError, RetriableError) as error:
        log.info("The keys of %s are checked by the job, not here: %s", inspection.connector_class, error)
        return
    finally:
        WARM.close()  # the task waits for its job now, for hours perhaps
    if errors:
        raise ConfigError(errors, inspection.props.get("name"))
    if marker is not None:
        _remember(marker)


def _marker(inspection: Inspection) -> Path | None:
    """The file that says that these keys were found right; None if there is no place for it. Secrets have no part in
    its name.
    """
    assert inspection.hosted is not None
    plugins = java_plugins(inspection.worker, coordinates_of(inspection.props))
    facts = [
        inspection.hosted.name,
        inspection.hosted.version,
        repr(plugins.fingerprint()),
        {key: text for key, text in inspection.props.items() if not is_secret(key, text)},
        {key: text for key, text in inspection.worker.props.items() if "converter" in key and not is_secret(key, text)},
    ]
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
    try:
        return cache_folder() / "checked" / digest
    except SetupError:
        return None


def _remember(marker: Path) -> None:
    with contextlib.suppress(OSError):
        marker.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for old in _old(marker.parent):
            old.unlink(missing_ok=True)
        marker.touch()


def _old(folder: Path) -> Iterator[Path]:
    limit = time.time() - _KEPT_S
    return (each for each in folder.iterdir() if each.stat().st_mtime < limit)
