"""Looks up Airflow's config variables in a task: `${airflow:conn_id:field}` and `${airflow-var:key}`.

`${airflow:conn_id:jdbc_url}` is the JDBC URL of a database connection; used as `connection.url`, it also supplies the
connection's user and password.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any

from airflow.providers.common.compat.sdk import AirflowNotFoundException
from airflow.sdk import BaseHook, Connection
from airflow.sdk import Variable as AirflowVariable

from airflow_kconnect.connect.errors import ConfigError
from airflow_kconnect.hooks.catalogs import with_catalogs
from airflow_kconnect.hooks.database import jdbc_url
from airflow_kconnect.hooks.masking import register_secret
from airflow_kconnect.hooks.stores import with_store
from airflow_kconnect.variables.providers import (
    AIRFLOW_CONNECTION,
    AIRFLOW_VARIABLE,
    ProviderProblem,
    TaskConfigProvider,
    printable,
)
from airflow_kconnect.variables.resolver import ConfigResolver, task_providers, task_variables
from airflow_kconnect.variables.syntax import Variable

_PLAIN_FIELDS = ("host", "port", "login", "schema")
_FIELDS = (*_PLAIN_FIELDS, "password")
JDBC_URL = "jdbc_url"
_URL_KEY, _USER_KEY, _PASSWORD_KEY = "connection.url", "connection.user", "connection.password"


def with_login(config: Mapping[str, Any], worker: Mapping[str, Any], lookup: Lookup | None = None) -> dict[str, Any]:
    """A connector's configuration with references to the user and password of the connection in `connection.url`, and
    with what connections say about a catalog (`with_catalogs`) or a store (`with_store`).

    Settings of the configuration itself are kept, and a user of its own is not combined with another user's password.

    :param config: the configuration, variables not resolved.
    :param worker: the worker's keys, variables not resolved.
    :param lookup: one that knows what was looked up before.
    :raises ConfigError: a connection of a catalog or a store does not exist, or cannot be translated.
    """
    lookup = lookup or Lookup(worker)
    for added in (with_catalogs, with_store):
        config = added(config, lookup.connection, enabled=lookup.has_connections)
    url_config = {_URL_KEY: config.get(_URL_KEY)}
    url_variables = [variable for _, variable in task_variables(url_config, worker) if variable.key == JDBC_URL]
    if len(url_variables) != 1 or url_variables[0].provider != AIRFLOW_CONNECTION or _USER_KEY in config:
        return dict(config)
    conn_id = url_variables[0].path
    connection = lookup.connection(conn_id)
    if connection is None:  # reported when the URL is looked up
        return dict(config)
    login = {
        key: f"${{{AIRFLOW_CONNECTION}:{conn_id}:{field}}}"
        for key, field in ((_USER_KEY, "login"), (_PASSWORD_KEY, "password"))
        if getattr(connection, field)
    }
    return {**login, **config}


def with_database_url(config: Mapping[str, Any], worker: Mapping[str, Any]) -> dict[str, Any]:
    """A connector's configuration with the URL replacing `${airflow:conn_id:jdbc_url}`, if it can be determined."""
    url_config = {_URL_KEY: config.get(_URL_KEY)}
    if not any(variable.key == JDBC_URL for _, variable in task_variables(url_config, worker)):
        return dict(config)
    try:
        return {**config, **ConfigResolver.from_worker(worker, look_up(url_config, worker)).resolve(url_config)}
    except ConfigError:
        return dict(config)


def look_up(config: Mapping[str, Any], worker: Mapping[str, Any], lookup: Lookup | None = None) -> dict[str, str]:
    """The values of Airflow's variables in the configurations of connector and worker, by `Variable.address`.

    Called in a task, never when a DAG is parsed. All values are registered with Airflow's masker, except host, port,
    login and schema of connections, which Airflow does not hide either.

    :param config: the connector's configuration, variables not resolved; empty if there is none.
    :param worker: the worker's keys, variables not resolved.
    :param lookup: one that knows what was looked up before.
    :raises ConfigError: with all variables that have no value or that the worker forbids.
    """
    lookup = lookup or Lookup(worker)
    values: dict[str, str] = {}
    errors: dict[str, list[str]] = {}
    for key, variable in chain(task_variables(config, worker), task_variables(worker, worker)):
        try:
            values[variable.address] = lookup.value(variable)
        except ProviderProblem as problem:
            errors.setdefault(key, []).append(f"variable {printable(variable.text)} {problem}")
    if errors:
        name = config.get("name")
        raise ConfigError(errors, connector=name if isinstance(name, str) else None)
    return values


class Lookup:
    """Queries Airflow once for each connection and each variable.

    :param worker: the worker's keys, variables not resolved.
    """

    def __init__(self, worker: Mapping[str, Any]) -> None:
        self._providers: Mapping[str, TaskConfigProvider] = task_providers(worker)
        self._connections: dict[str, Connection | None] = {}
        self._values: dict[str, str] = {}

    @property
    def has_connections(self) -> bool:
        """Whether the worker has the variables of connections."""
        return AIRFLOW_CONNECTION in self._providers

    def value(self, variable: Variable) -> str:
        """:raises ProviderProblem: there is none, or the worker forbids it."""
        if variable.address not in self._values:
            self._values[variable.address] = self._look(variable)
        return self._values[variable.address]

    def connection(self, conn_id: str) -> Connection | None:
        """None if it does not exist."""
        if conn_id not in self._connections:
            try:
                self._connections[conn_id] = BaseHook.get_connection(conn_id)
            except AirflowNotFoundException:
                self._connections[conn_id] = None
        return self._connections[conn_id]

    def _look(self, variable: Variable) -> str:
        self._providers[variable.provider].check(variable.path or variable.key)
        providers: dict[str, Callable[[str, str], str]] = {
            AIRFLOW_CONNECTION: self._of_connection,
            AIRFLOW_VARIABLE: _of_variable,
        }
        return providers[variable.provider](variable.path, variable.key)

    def _of_connection(self, conn_id: str, field: str) -> str:
        if not conn_id:
            raise ProviderProblem("names no field: write ${airflow:conn_id:field}")
        connection = self.connection(conn_id)
        if connection is None:
            raise ProviderProblem(f"names the Airflow connection `{printable(conn_id)}`, which does not exist")
        if field == JDBC_URL:
            return _jdbc_url(connection)
        fields = _fields(connection)
        if field not in fields:
            raise ProviderProblem(f"names a field that the connection does not have; it has: {', '.join(fields)}")
        if field not in _PLAIN_FIELDS:
            register_secret(fields[field])
        return fields[field]


def _jdbc_url(connection: Connection) -> str:
    try:
        url = jdbc_url(connection)
        if url == connection.host:  # written by hand: it may contain credentials, which the connectors reject
            register_secret(url)
        return url
    except ProviderProblem as problem:
        raise ProviderProblem(f"names the Airflow connection `{connection.conn_id}`, which {problem}") from None


def _fields(connection: Connection) -> dict[str, str]:
    """The fields that the connection has."""
    fields: dict[str, Any] = {name: getattr(connection, name) for name in _FIELDS}
    fields |= {f"extra.{name}": value for name, value in connection.extra_dejson.items()}
    texts = {name: _text(value) for name, value in fields.items() if value not in (None, "")}
    return texts | {"uri": connection.get_uri()}


def _of_variable(path: str, key: str) -> str:
    if path or not key:
        raise ProviderProblem("must name a variable and nothing else: write ${airflow-var:key}")
    value = AirflowVariable.get(key, default=None)
    if value is None:
        raise ProviderProblem(f"names the Airflow variable `{printable(key)}`, which does not exist")
    register_secret(str(value))
    return str(value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
