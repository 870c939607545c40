"""Airflow's variables in configurations, such as `${airflow:warehouse:password}`, for commands where Airflow is."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from importlib.util import find_spec
from typing import Any

from airflow_kconnect.connectors.table.catalogs import keys as catalog_keys
from airflow_kconnect.places import keys as store_keys
from airflow_kconnect.variables.resolver import task_variables

_CONNECTIONS = (catalog_keys.CONNECTIONS, store_keys.CONNECTION)
_CONTEXT = "_AIRFLOW_PROCESS_CONTEXT"


def airflow_variables(config: Mapping[str, Any], worker: Mapping[str, Any]) -> dict[str, str] | None:
    """The values of Airflow's variables in both configurations, as in `RunSpec`.

    Airflow, which takes seconds to import, is looked at only if there are such variables.

    :param config, worker: variables not resolved.
    :returns: None if there are none, or if Airflow is not installed here: they have no values then.
    :raises ConfigError: with all variables that have no value in Airflow.
    """
    if not _has_any(config, worker) or find_spec("airflow") is None:
        return None
    with _with_database():
        from airflow_kconnect.hooks.variables import look_up

        return look_up(config, worker)


def with_airflow_login(config: Mapping[str, Any], worker: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with what the Airflow connections have that it names; see `with_login`."""
    names_any = any(key in config for key in _CONNECTIONS) or _has_any(config, worker)
    if not names_any or find_spec("airflow") is None:
        return dict(config)
    with _with_database():
        from airflow_kconnect.hooks.variables import with_login

        return with_login(config, worker)


def _has_any(config: Mapping[str, Any], worker: Mapping[str, Any]) -> bool:
    return any(True for each in (config, worker) for _ in task_variables(each, worker))


@contextmanager
def _with_database() -> Iterator[None]:
    """Outside a task Airflow's SDK reads connections from the database only in its servers. It logs to standard output,
    which is for what a command answers.
    """
    before = os.environ.get(_CONTEXT)
    os.environ[_CONTEXT] = "server"
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        if before is None:
            del os.environ[_CONTEXT]
        else:
            os.environ[_CONTEXT] = before
