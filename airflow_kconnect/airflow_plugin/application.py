"""The app that Airflow's API server serves: the REST API on the worker that a connection of Airflow describes."""

from __future__ import annotations

import threading
from contextlib import suppress

from airflow.configuration import conf
from fastapi import Depends, FastAPI

from airflow_kconnect.airflow_plugin import reports
from airflow_kconnect.airflow_plugin.runs import AirflowRuns
from airflow_kconnect.airflow_plugin.security import SECTION, AirflowPolicy, authenticated
from airflow_kconnect.connect.errors import DataError
from airflow_kconnect.control.plane import ControlPlane
from airflow_kconnect.control.stores import ControlStores
from airflow_kconnect.hooks.connections import connection_worker_keys
from airflow_kconnect.hooks.variables import look_up, with_login
from airflow_kconnect.rest.app import create_app
from airflow_kconnect.submit.worker_defaults import with_defaults
from airflow_kconnect.validation.dag_keys import group_of


def application() -> FastAPI:
    """The app; the connection is looked up, and the topics are read, with the first request that needs them."""
    app = create_app(_LazyPlane().get, AirflowPolicy(), [Depends(authenticated)])
    app.include_router(reports.router)
    return app


class _LazyPlane:
    """The control plane, made once it can be: until then each request says what is missing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._plane: ControlPlane | None = None

    def get(self) -> ControlPlane:
        """The control plane. :raises ConfigError: the connection is missing or wrong."""
        with self._lock:
            if self._plane is None:
                conn_id = conf.get(SECTION, "kafka_conn_id", fallback="kafka_default")
                worker = with_defaults(connection_worker_keys(conn_id))
                stores = ControlStores(worker, look_up({}, worker))
                runs = AirflowRuns(lambda name: _group_of(stores, name))
                self._plane = ControlPlane(worker, stores, runs, _variables)
            return self._plane


def _group_of(stores: ControlStores, connector: str) -> str | None:
    """The group of a registered connector; one whose configuration cannot be read has none."""
    with suppress(DataError):
        state = stores.config(connector)
        return None if state is None else group_of(state.texts)
    return None


def _variables(config: dict[str, str], worker: dict[str, str]) -> dict[str, str]:
    """See `Variables`; user and password come along with the connection that the URL names, as in runs."""
    found = with_login(config, worker)
    config.clear()
    config.update(found)
    return look_up(config, worker)
